"""The picture of a plan: well-formed and safe, exact where it shows slices and windows, the same every time."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import weft
from tests.plans.workloads import PLANS
from weft.plans.lanes import TREES, lanes
from weft.plans.picture import picture
from weft.plans.plain import plain
from weft.queries import durations
from weft.slicing.slicers import residues

_SVG = "{http://www.w3.org/2000/svg}"
_LEFT, _RIGHT = 268, 944


def _many(count: int, keys: int) -> weft.Workload:
    generator = random.Random(1)
    return weft.Workload(
        weft.Query(
            f"q{number}",
            generator.choice(["max(price)", "avg(price)"]),
            weft.Window(f"{generator.choice([10, 20, 45, 60])} min", f"{generator.randint(1, 10)} min"),
            group_by=f"k{number % keys}",
        )
        for number in range(count)
    )


def _plan(*windows: weft.Window, planner: str = "shared", rate: float = 100) -> weft.Plan:
    queries = [weft.Query(f"q{number}", "max(a)", window) for number, window in enumerate(windows, 1)]
    return weft.optimize(weft.Workload(queries), weft.Stats(rate), planner=planner, technique="panes")


DRAWN = {
    **PLANS,
    "ten_thousand": weft.optimize(_many(10_000, 3), weft.Stats(5_000, 100), technique="panes"),
    "three_hundred_trees": weft.optimize(_many(900, 300), weft.Stats(100, 10), technique="panes"),
    "gaps": _plan(weft.Window("2 min", "10 min"), weft.Window("3 min", "15 min", "4 min")),
    "seconds_and_days": _plan(weft.Window("5 s", "1 s"), weft.Window("7 d", "1 d"), planner="no_share"),
    "dense": _plan(weft.Window("5 s", "1 s"), weft.Window("7 d", "1 d")),
    "denser": _plan(weft.Window("5 s", "1500 ms"), weft.Window("7 d", "7 ms", "3 ms")),
    "eons": _plan(weft.Window.of(2**62 - 1, 2**62 - 3, 5, 7), weft.Window.of(1, 2**61)),
    "ticks": _plan(weft.Window.of(1, 1)),
}


def _tree(plan: weft.Plan) -> ElementTree.Element:
    return ElementTree.fromstring(picture(plan))


def _titled(root: ElementTree.Element, start: str) -> Iterator[tuple[str, ElementTree.Element]]:
    for element in root.iter():
        title = element.find(f"{_SVG}title")
        if title is not None and title.text is not None and title.text.startswith(start):
            yield title.text, element


def _ticks(text: str) -> int:
    """What a title says, in microseconds or rows."""
    return int(text.removesuffix(" rows")) if text.endswith(" rows") else durations.microseconds(text)


@pytest.mark.parametrize("name", DRAWN)
def test_it_is_well_formed_and_self_contained(name: str) -> None:
    drawn = picture(DRAWN[name])
    root = ElementTree.fromstring(drawn)
    allowed = {"svg", "g", "rect", "path", "text", "tspan", "title"}
    assert {element.tag.removeprefix(_SVG) for element in root.iter()} <= allowed
    attributes = {attribute for element in root.iter() for attribute in element.attrib}
    assert not {a for a in attributes if a.startswith("on") or a in ("id", "class", "href")}
    assert "url(" not in drawn
    assert len(drawn) < 250_000


@pytest.mark.parametrize("name", DRAWN)
def test_it_is_the_same_every_time(name: str) -> None:
    plan = DRAWN[name]
    assert picture(plan) == picture(weft.Plan.from_json(plan.to_json()))


@pytest.mark.parametrize("name", DRAWN)
def test_everything_lies_within_the_picture(name: str) -> None:
    root = _tree(DRAWN[name])
    for element in root.iter(f"{_SVG}rect"):
        x, width = float(element.get("x", 0)), element.get("width", "0")
        assert width == "100%" or 0 <= x <= x + float(width) <= 960


@pytest.mark.parametrize("name", DRAWN)
def test_it_names_the_queries_and_what_the_trees_cost(name: str) -> None:
    plan = DRAWN[name]
    text = "\n".join("".join(element.itertext()) for element in _tree(plan).iter(f"{_SVG}text"))
    for lane in lanes(plan):
        assert re.search(rf"^t{lane.number}: \d", text, re.M)
        assert all(row.query.id in text for row in lane.rows)
        more = len(lane.tree.queries) - len(lane.rows)
        assert more == 0 or f"and {more:,} more" in text
    assert f"{len(plan.trees):,} tree" in text


def test_the_dearest_trees_are_drawn_and_the_rest_is_counted() -> None:
    plan = DRAWN["three_hundred_trees"]
    drawn = lanes(plan)
    assert len(drawn) == TREES
    assert min(lane.tree.cost for lane in drawn) >= sorted(tree.cost for tree in plan.trees)[-TREES]
    assert "and 288 trees more" in picture(plan)


@pytest.mark.parametrize("name", [name for name in DRAWN if name not in ("dense", "denser", "eons")])
def test_blocks_tile_the_lane_and_lie_on_edges(name: str) -> None:
    drawn, blocks = (
        [lane for lane in lanes(DRAWN[name]) if lane.blocks],
        list(_titled(_tree(DRAWN[name]), "slice from")),
    )
    assert drawn
    for lane in drawn:
        here, blocks = blocks[: len(lane.blocks)], blocks[len(lane.blocks) :]
        reached = f"{_LEFT}"
        for (title, element), block in zip(here, lane.blocks, strict=True):
            found = re.match(r"slice from (\S+ \S+) to ([^\s,]+ [^\s,]+)", title)
            assert found is not None
            start, end = (_ticks(said.lstrip("-")) * (-1 if said[0] == "-" else 1) for said in found.groups())
            assert (start, end) == (block.start, block.end)
            for edge in (start, end):
                assert any((edge - residue) % modulus == 0 for modulus, residue in lane.tree.slices)
            assert element.get("x") == reached
            reached = f"{float(element.get('x', 0)) + float(element.get('width', 0)):.2f}".rstrip("0").rstrip(".")
            exact = _LEFT + min(end, lane.stretch) / lane.stretch * (_RIGHT - _LEFT)
            assert float(reached) == pytest.approx(exact, abs=0.0051)
        assert reached == f"{_RIGHT}"
    assert not blocks


_WINDOWS = st.builds(
    weft.Window.of, st.integers(1, 40), st.integers(1, 25), offset=st.integers(-30, 30), delay=st.integers(0, 30)
)


@settings(max_examples=150, deadline=None)
@given(st.lists(_WINDOWS, min_size=1, max_size=4))
def test_a_lane_holds_every_edge_and_every_gap(windows: list[weft.Window]) -> None:
    (lane,) = lanes(_plan(*windows))
    edges = sorted({block.start for block in lane.blocks} | {block.end for block in lane.blocks})
    assert edges == [
        tick
        for tick in range(edges[0], edges[-1] + 1)
        if any((tick - residue) % modulus == 0 for modulus, residue in lane.tree.slices)
    ]
    assert edges[0] <= 0 < edges[1]
    assert edges[-2] < lane.stretch <= edges[-1]
    for block in lane.blocks:
        in_a_window = any((block.start - residues(w)[0]) % w.slide < w.range for w in windows)
        assert block.covered == in_a_window
    for row in lane.rows:
        for start, end in row.windows:
            assert (start - row.query.window.offset + row.query.window.delay) % row.query.window.slide == 0
            assert end - start == row.query.window.range
            assert {tick for tick in (start, end) if tick <= lane.stretch} <= set(edges)


def test_a_window_stands_over_the_slices_that_it_covers() -> None:
    root = _tree(DRAWN["example_3_shared"])
    windows = dict(_titled(root, "qb: ["))
    slices = dict(_titled(root, "slice from"))
    first = windows["qb: [5 s, 15 s)"]
    assert first.get("x") == slices["slice from 5 s to 8 s"].get("x")
    last = slices["slice from 12 s to 15 s"]
    ends = [float(element.get("x", 0)) + float(element.get("width", 0)) for element in (first, last)]
    assert ends[0] == pytest.approx(ends[1], abs=1e-9)


def test_a_delayed_window_is_drawn_where_its_rows_are() -> None:
    titles = [title for title, _ in _titled(_tree(PLANS["readme"]), "odd: window")]
    assert titles[0] == "odd: window [210 s, 630 s) covers [150 s, 570 s)"


def test_rows_of_other_units_and_scales_have_axes_of_their_own() -> None:
    text = "".join(_tree(PLANS["readme"]).itertext())
    assert "Windows over rows" in text
    assert "100 rows" in text
    text = "".join(_tree(DRAWN["seconds_and_days"]).itertext())
    assert "0 to 7 s, on a scale of its own" in text
    assert "0 to 9 d, on a scale of its own" in text


def test_too_many_edges_become_a_band() -> None:
    assert "an edge every 1 s" in picture(DRAWN["dense"])
    assert re.search(r"about an edge every 6\.9\d* ms", picture(DRAWN["denser"]))
    assert not list(_titled(_tree(DRAWN["dense"]), "slice from"))


HOSTILE = {
    "script": "</text><script>alert(1)</script>",
    "attribute": "\"' onload='alert(1)'",
    "entities": "&lt;b&gt; &amp;",
    "cdata": "]]><!-- <![CDATA[",
    "control": "line\nbreak\ttab\x00\x08\x1b[31m",
    "surrogate": "half a pair \ud83d",
    "direction": "\u202eright to left",
    "wide": "漢字" * 40,
}


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_name_stays_text(name: str) -> None:
    query = weft.Query(name, "max(`<svg>`) AS m", weft.Window("1 min"), group_by="`<i>`")
    plan = weft.optimize(weft.Workload([query]), technique="panes")
    drawn = picture(plan)
    drawn.encode("utf-8")
    root = ElementTree.fromstring(drawn)
    assert not {element.tag for element in root.iter()} & {f"{_SVG}script", f"{_SVG}b", f"{_SVG}i"}
    texts = {text for element in root.iter() if (text := element.text)}
    assert any(text.startswith(f"{plain(name)}: max(") for text in texts)
    html = plan._repr_html_()
    assert "<script>" not in html
    assert "<i>" not in html
    html.encode("utf-8")
