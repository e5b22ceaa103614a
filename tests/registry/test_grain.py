"""What a running stream makes decides which queries it can take in; what it lacks is said."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import weft
from weft.algebra.partials import Partial
from weft.queries import expressions as ex
from weft.queries import parse
from weft.registry import versions
from weft.registry.grain import Grain, Strand
from weft.registry.versions import Folder
from weft.slicing.edges import covers, slice_starts

SECOND = 1_000_000
PRICE, K = ex.Column(("price",)), ex.Column(("k",))
STRAND = Strand(
    ((K, "string"),),
    ex.Column(("ts",)),
    ((10 * SECOND, 0), (15 * SECOND, 5 * SECOND)),
    None,
    {parse.expression("price > 100"): (0, 0), parse.expression("price > 200"): (0, 1)},
    1,
    False,
    ((Partial("max", PRICE), "double"), (Partial("rows", None), None), (Partial("sum", PRICE), "double")),
    {PRICE: "double"},
)
GRAIN = Grain(
    (STRAND,),
    {ex.Aggregate("max", PRICE): ("double", "double"), ex.Aggregate("sum", PRICE): ("double", "double")}
    | {ex.Aggregate("count", None): ("bigint", "bigint")},
    {"double": 1, "bigint": 1},
    {"price": "double"},
)


def query(**other: object) -> weft.Query:
    asked = {
        "measures": "max(price) AS m",
        "window": weft.Window("30 s", "10 s"),
        "where": "price > 100",
        "group_by": "k",
    }
    return weft.Query("q", **{**asked, **other})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("other", "technique", "why"),
    [
        ({}, "two_stacks", None),
        ({"window": weft.Window("40 s", "30 s", "10 s"), "measures": ["max(price)", "count(*)"]}, "panes", None),
        ({"window": weft.Window("15 s", "15 s", "5 s"), "where": "price > 200", "time": "ts"}, "panes", None),
        ({"window": weft.Window("25 s", "10 s")}, "panes", "cut every 10 seconds and every 15 seconds from 5"),
        ({"window": weft.Window("15 s", "5 s")}, "panes", "its windows begin or end in between"),
        ({"where": "price > 300"}, "panes", "does not tell rows with (price > 300) from others"),
        ({"where": None}, "panes", "does not tell unfiltered rows from others"),
        ({"group_by": "venue"}, "panes", "the stream keeps nothing by venue"),
        ({"group_by": ()}, "panes", "the stream keeps nothing over all groups"),
        ({"measures": "min(price) AS m"}, "panes", "the stream does not keep min(price)"),
        ({"measures": "avg(price) AS m"}, "panes", "the stream does not keep count(price)"),
        ({"measures": ["max(price) AS m", "sum(price) AS s"]}, "panes", "it gives 2 values of double"),
        ({"time": "other"}, "panes", "its time is other, and the stream's is ts"),
        ({"measures": "sum(price) AS s"}, "subtract_on_evict", "subtract_on_evict cannot be used"),
    ],
)  # fmt: skip
def test_what_a_query_lacks(other: dict[str, object], technique: str, why: str | None) -> None:
    said = GRAIN.why_not(query(**other), technique, ())
    assert said is None if why is None else said is not None and why in said


def test_rows_without_a_column_of_a_type_have_no_room_for_it() -> None:
    grain = replace(GRAIN, columns={"double": 1})
    told = grain.why_not(query(measures="count(*) AS n"), "two_stacks", {})
    assert told == "it gives 1 values of bigint, and the stream's rows have room for 0"


def test_a_common_filter_is_every_query_s() -> None:
    strand = replace(STRAND, common=parse.expression("price > 7"), places={}, width=0)
    grain = replace(GRAIN, strands=(strand,))
    assert grain.why_not(query(where="price > 7"), "panes", ()) is None
    assert grain.why_not(query(where=None), "panes", ())
    assert (
        replace(grain, strands=(replace(strand, common=None, every_row=True),)).why_not(query(where=None), "panes", ())
        is None
    )


def test_a_grain_reads_back(tmp_path: Path) -> None:
    assert Grain.from_json(GRAIN.to_json()) == GRAIN
    for wrong in (
        "",
        "{}",
        GRAIN.to_json().replace('"format": 1', '"format": 2'),
        GRAIN.to_json().replace("max(price)", "reflect(price)"),
    ):
        with pytest.raises(weft.BadRequest, match="what a stream makes cannot be read"):
            Grain.from_json(wrong)
    registry = weft.Registry(tmp_path)
    registry.begin(GRAIN, 0)
    lines = registry.add([query(), weft.Query("min", "min(price) AS m", weft.Window("10 s"), group_by="k")])
    assert [line.restart for line in lines] == [None, "the stream does not tell unfiltered rows from others"]
    assert [each.restart for each in registry.list()] == [line.restart for line in lines]
    assert "waits for a restart: the stream does not tell" in str(registry.history()[-1])


classes = st.integers(1, 12).flatmap(lambda m: st.tuples(st.just(m), st.integers(0, m - 1)))


@given(given=st.lists(classes, min_size=1, max_size=5), wanted=classes)
def test_covers_is_what_every_edge_says(given: list[tuple[int, int]], wanted: tuple[int, int]) -> None:
    import numpy as np

    modulus, residue = wanted
    instants = np.arange(residue, 27_720 * 2, modulus)
    assert covers(tuple(given), wanted) == bool((slice_starts(instants, tuple(given)) == instants).all())


def above(id_: str, price: int) -> weft.Query:
    return weft.Query(id_, "max(price)", weft.Window("30 s", "10 s"), f"price > {price}", "k")


def registered(path: Path) -> weft.Registry:
    """A registry on which a stream has been started."""
    registry = weft.Registry(path)
    registry.add([query(), above("other", 200)])
    registry.begin(GRAIN, 1)
    return registry


def test_other_constants_are_taken_in_and_another_condition_is_not(tmp_path: Path) -> None:
    registry = registered(tmp_path)
    for where, restart in (
        ("price > 150", None),
        ("price >= 150", "the stream does not tell rows with (price >= 150) from others"),
        ("price > 1e3", "the stream does not tell rows with (price > 1000.0D) from others"),
        ("price > 0.25", None),
    ):
        assert registry.alter(query(where=where))[0].restart == restart
    folder = Folder(tmp_path)
    assert folder.places(GRAIN, 1).of == {"(price > 150)": 0, "(price > 0.25BD)": 1}
    assert folder.places(GRAIN, 1, 1).of == {}
    lines = registry.add(weft.Query("ratio", "max(price / x)", weft.Window("30 s", "10 s"), "price > 7", "k"))
    assert lines[0].restart == "(price / x) is only computed of rows that the stream's filters pass"


def test_a_bit_stays_whoever_asks_and_a_damaged_version_changes_nothing(tmp_path: Path) -> None:
    registry = registered(tmp_path)
    for constant in (1, 2, 3):
        registry.add(above(f"q{constant}", constant))
    bits = {f"(price > {constant})": constant - 1 for constant in (1, 2, 3)}
    assert Folder(tmp_path).places(GRAIN, 1).of == bits
    registry.remove(["q1", "q2"])
    Folder(tmp_path).file(6).write_text("half a ver")
    registry.add(above("q9", 9))
    versions._places.clear()
    assert Folder(tmp_path).places(GRAIN, 1).of == {**bits, "(price > 9)": 3}
    assert Folder(tmp_path).places(GRAIN, 1, 4).of == bits
    assert [len(places.of) for places in Folder(tmp_path).all_places(GRAIN, 1)] == [1, 2, 3, 3, 4]


def test_there_is_room_for_so_many_new_filters(tmp_path: Path) -> None:
    registry = registered(tmp_path)
    waits = [line.restart for line in registry.add(above(f"q{n}", n + 1_000) for n in range(70))]
    assert waits.count(None) == 62
    assert sum("from others yet" in why for why in waits if why) == 8
