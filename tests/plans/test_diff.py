"""The difference of two plans: golden texts, and what must hold of any two."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import weft
from tests.plans import goldens
from tests.plans.workloads import PLANS
from weft.plans.diff import Difference, Move, Pair, diff


def _plan(sql: str, planner: str = "weave_share", rate: float = 1.2, keys: int = 1) -> weft.Plan:
    return weft.optimize(weft.Workload.from_sql(sql), weft.Stats(rate, keys), planner=planner, technique="panes")


_MONDAY = """
    -- name: high
    SELECT max(a) FROM s [RANGE 16 SEC SLIDE 4 SEC];
    -- name: low
    SELECT min(a) FROM s [RANGE 10 SEC SLIDE 5 SEC];
    -- name: total
    SELECT sum(a) FROM s [RANGE 8 SEC SLIDE 4 SEC];
    -- name: rows
    SELECT sum(a) FROM s [ROWS 100 SLIDE 10];
"""
_TUESDAY = """
    -- name: by_key
    SELECT k, count(*) AS n FROM s [RANGE 1 MIN SLIDE 4 SEC] GROUP BY k HAVING count(*) > 3;
    -- name: total
    SELECT sum(a) AS total FROM s [RANGE 8 SEC SLIDE 4 SEC] WHERE a > 0;
    -- name: high
    SELECT max(a) FROM s [RANGE 20 SEC SLIDE 4 SEC DELAY 2 SEC];
    -- name: low
    SELECT min(a) FROM s [RANGE 10 SEC SLIDE 5 SEC];
"""


def _by_key(keys: range, minutes: int) -> str:
    """A tree for each key."""
    query = "-- name: by_{0}\nSELECT k{0}, max(a) AS m FROM s [RANGE {1} MIN SLIDE {2} SEC] GROUP BY k{0}"
    return ";\n".join(query.format(key, minutes if key % 3 else 1, key % 7 + 1) for key in keys)


DIFFS: dict[str, Difference] = {
    "diff_to_shared": diff(PLANS["example_3_weave_share"], PLANS["example_3_shared"]),
    "diff_to_no_share": diff(PLANS["example_3_shared"], PLANS["example_3_no_share"]),
    "diff_of_nothing": diff(PLANS["example_3_shared"], PLANS["example_3_shared"]),
    "diff_of_two_days": diff(_plan(_MONDAY, "shared"), _plan(_TUESDAY, "shared")),
    "diff_of_streams": diff(_plan(_MONDAY), _plan(_MONDAY, rate=100, keys=7)),
    "diff_of_thirty_trees": diff(_plan(_by_key(range(30), 1)), _plan(_by_key(range(9, 40), 2))),
}


@pytest.mark.parametrize("name", DIFFS)
def test_the_difference_is_the_golden_text(name: str) -> None:
    goldens.check(name, str(DIFFS[name]))


def test_it_is_a_value() -> None:
    again = weft.diff(PLANS["example_3_weave_share"], PLANS["example_3_shared"])
    assert again == DIFFS["diff_to_shared"]
    assert again.moved == (Move("qb", 2, 1),)
    assert again.kept_trees == (Pair(1, 1, 2),)
    assert (again.gone_trees, again.new_trees, again.incomparable, again.unchanged) == ((2,), (), None, False)
    assert DIFFS["diff_of_nothing"].unchanged


def test_trees_are_matched_by_their_queries_and_not_by_their_place() -> None:
    found = DIFFS["diff_of_two_days"]
    assert found.kept_trees == (Pair(1, 2, 3),)
    assert (found.gone_trees, found.new_trees, found.moved) == ((2,), (1,), ())
    assert (found.added, found.removed, found.altered) == (("by_key",), ("rows",), ("high", "total"))


def test_other_stats_or_prices_are_not_comparable() -> None:
    found = DIFFS["diff_of_streams"]
    assert found.incomparable == "other rate (1.2 -> 100), other keys (1 -> 7)"
    told = weft.optimize(found.new.workload, weft.Stats(100, {"k": 7}))
    assert weft.diff(found.new, told).incomparable == "other keys"
    assert "%" not in next(line for line in str(found).splitlines() if line.startswith("cost"))


def test_html_escapes_what_comes_from_a_query() -> None:
    hostile = "<script>alert(1)</script>\n\x1b[31m"
    plans = [
        weft.optimize(weft.Workload([weft.Query(hostile, "max(`<b>`)", weft.Window(f"{minutes} min"))]))
        for minutes in (1, 2)
    ]
    found = weft.diff(*plans)
    html = found._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    altered = [line for line in str(found).splitlines() if line.startswith("altered")]
    assert altered == ["altered     <script>alert(1)</script> \ufffd[31m: range 1 min -> 2 min; slide 1 min -> 2 min"]


def test_what_is_no_plan_is_refused() -> None:
    with pytest.raises(weft.BadRequest, match="is no plan"):
        weft.diff(PLANS["readme"], "plan.json")  # type: ignore[arg-type]


def test_ten_thousand_queries() -> None:
    generator = np.random.default_rng(7)
    ranges, slides = generator.integers(1, 60, 10_000) * 60, generator.integers(1, 10, 10_000) * 60

    def plan(kept: slice, longer: int) -> weft.Plan:
        workload = weft.Workload.windows(
            ranges[kept] + longer * (np.arange(10_000)[kept] % 10 == 0),
            slides[kept],
            measures="max(x)",
            ids=[f"w{number}" for number in range(10_000)[kept]],
        )
        return weft.optimize(workload, weft.Stats(1_000), planner="shared", technique="panes")

    found = weft.diff(plan(slice(0, 9_000), 0), plan(slice(1_000, 10_000), 60))
    assert (len(found.added), len(found.removed), len(found.altered), len(found.moved)) == (1_000, 1_000, 800, 0)
    assert found.altered[:2] == ("w1000", "w1010")
    assert "added       and 992 more" in str(found).splitlines()
    assert len(str(found).splitlines()) < 60


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_every_query_is_told_once(data: st.DataObject) -> None:
    names = [f"q{number}" for number in range(8)]
    sizes = st.sampled_from([(10, 2), (10, 3), (12, 4), (5, 5)])

    def plan() -> weft.Plan:
        chosen = data.draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
        windows = [weft.Window.of(*data.draw(sizes)) for _ in chosen]
        queries = [weft.Query(name, "max(a)", window) for name, window in zip(chosen, windows, strict=True)]
        planner = data.draw(st.sampled_from(["shared", "no_share"]))
        return weft.optimize(weft.Workload(queries), weft.Stats(5), planner=planner, technique="panes")

    old, new = plan(), plan()
    found = diff(old, new)
    before, after = set(old.workload.ids), set(new.workload.ids)
    assert set(found.added) == after - before
    assert set(found.removed) == before - after
    assert set(found.altered) == {name for name in before & after if old.workload[name] != new.workload[name]}
    assert sorted([*found.gone_trees, *(pair.old for pair in found.kept_trees)]) == list(range(1, len(old.trees) + 1))
    assert sorted([*found.new_trees, *(pair.new for pair in found.kept_trees)]) == list(range(1, len(new.trees) + 1))
    moved = {move.query for move in found.moved}
    for pair in found.kept_trees:
        left, right = (
            {p.workload.id(place) for place in p.trees[number - 1].queries.tolist()}
            for p, number in ((old, pair.old), (new, pair.new))
        )
        assert pair.common == len(left & right) > 0
        assert not moved & left & right
        assert (left & after) - right <= moved
    assert diff(old, old).unchanged
    assert str(found)
