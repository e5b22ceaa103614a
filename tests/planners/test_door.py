"""The door of the planners: what is refused, in which words, and how large a workload may be."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import pytest

import weft
from weft.planners import PLANNERS

WORKLOAD = weft.Workload([weft.Query("high", "max(x) AS high", weft.Window("10 s", "5 s"))])


def refused(**given: Any) -> weft.BadRequest:
    with pytest.raises(weft.BadRequest) as caught:
        weft.optimize(given.pop("workload", WORKLOAD), **given)
    return caught.value


@pytest.mark.parametrize(
    ("given", "field", "remedy"),
    [
        ({"planner": "weave_shares"}, "planner", "Did you mean 'weave_share'"),
        ({"planner": "xyz"}, "planner", "Use one of no_share, shared, random"),
        ({"planner": "weave"}, "planner", "Did you mean 'weave_share'"),
        ({"planner": None}, "planner", "Use one of"),
        ({"technique": "xyz"}, "technique", "Use auto, r_int, disjoint_table, panes"),
        ({"slicing": "pane"}, "slicing", "Did you mean 'panes'"),
        ({"price": "operation"}, "price", "Did you mean 'operations'"),
        ({"workload": []}, "workload", "Give weft.Workload"),
        ({"workload": weft.Workload([])}, "workload", "Give at least one query"),
    ],
)
def test_unknown_names(given: dict[str, Any], field: str, remedy: str) -> None:
    error = refused(**given)
    assert error.field == field
    assert error.remedy is not None
    assert error.remedy.startswith(remedy)


def test_a_technique_that_is_nearly_known() -> None:
    error = refused(technique="rint")
    assert error.field == "technique"
    assert "r_int" in str(error.remedy)


@pytest.mark.parametrize("rate", [0, -1, -0.5, math.nan, math.inf, True, "many", None])
def test_bad_rates(rate: Any) -> None:
    with pytest.raises(weft.BadRequest) as caught:
        weft.Stats(rate=rate)
    assert caught.value.field == "stats.rate"
    assert caught.value.remedy


@pytest.mark.parametrize("keys", [0, -3, 1.5, math.nan, True, "many"])
def test_bad_keys(keys: Any) -> None:
    with pytest.raises(weft.BadRequest) as caught:
        weft.Stats(keys=keys)
    assert caught.value.field == "stats.keys"
    assert caught.value.remedy


def test_a_float_is_the_number_that_it_prints_as() -> None:
    assert str(weft.Stats(rate=0.1).rate) == "1/10"
    assert weft.Stats(rate=1e-3) == weft.Stats(rate=0.001)


def test_a_technique_that_cannot_serve_names_the_query() -> None:
    workload = weft.Workload(
        [
            weft.Query("sums", "sum(n)", weft.Window("10 s")),
            weft.Query("high", "max(n)", weft.Window("10 s")),
        ]
    )
    error = refused(workload=workload, technique="r_int", stats=weft.Stats(types={"n": "bigint"}))
    assert (error.query, error.field) == ("high", "technique")
    assert "max(n) is not invertible" in str(error)
    assert error.remedy == 'Use technique="auto"'


def test_a_type_that_is_not_known_counts_as_floating() -> None:
    workload = weft.Workload([weft.Query("sums", "sum(n)", weft.Window("10 s"))])
    error = refused(workload=workload, technique="r_int")
    assert "may be over floating-point numbers" in str(error)
    assert 'where n cannot be floating-point, Stats(types={"n": "bigint"}), --types n=bigint' in str(error.remedy)
    plan = weft.optimize(workload, weft.Stats(types={"n": "int"}), technique="r_int")
    assert plan.trees[0].technique == "r_int"


@pytest.mark.parametrize("measure", ["sum(n)", "sum(n * 2)", "stddev(n)"])
def test_a_type_is_no_remedy_where_it_does_not_help(measure: str) -> None:
    workload = weft.Workload([weft.Query("q", measure, weft.Window("10 s"))])
    for technique in ("slickdeque_noninv", "b_int_qnt", *(["r_int"] if measure != "sum(n)" else [])):
        assert refused(workload=workload, technique=technique).remedy == 'Use technique="auto"'
    told = refused(workload=workload, technique="r_int", stats=weft.Stats(types={"n": "double"}))
    assert told.remedy == 'Use technique="auto"'


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"types": ["n"]}, "stats.types: ['n'] is no mapping. Give a dict, as"),
        ({"types": "n=bigint"}, "stats.types: 'n=bigint' is no mapping. Give a dict, as"),
        ({"filters": ["x > 1"] * 50}, '\'x... is no mapping. Give a dict, as {"price > 100": 0.2}'),
    ],
)
def test_stats_that_are_no_mapping(given: dict[str, Any], said: str) -> None:
    with pytest.raises(weft.BadRequest) as caught:
        weft.Stats(**given)
    assert said in str(caught.value)


def test_all_keys_that_are_not_told_are_named() -> None:
    workload = weft.Workload([weft.Query("q", "sum(n)", weft.Window("10 s"), group_by=["a", "b"])])
    error = refused(workload=workload, stats=weft.Stats(keys={"c": 3}))
    assert "of a, b. Add 'a', 'b' to keys" in str(error)


def test_what_is_no_workload_is_not_told_at_length() -> None:
    queries = [weft.Query(f"q{number}", "sum(n)", weft.Window("10 s")) for number in range(9)]
    assert str(refused(workload=queries)).startswith("workload: [Query(id='q0', ")
    assert len(str(refused(workload=queries))) < 130


def test_the_expensive_baseline_is_priced_for_small_workloads_only() -> None:
    small = weft.Workload.windows(np.arange(1, 100), 5)
    large = weft.Workload.windows(np.arange(1, 30_002) % 50 + 1, 5)
    assert [name for name, _ in weft.optimize(small).alternatives] == ["no_share", "shared"]
    assert not weft.optimize(large).alternatives


@pytest.mark.parametrize("planner", ["shared", "weave_share"])
def test_many_windows_are_planned_without_a_query_for_each(planner: str, monkeypatch: pytest.MonkeyPatch) -> None:
    count = 200_000
    numbers = np.random.default_rng(7)
    slides = numbers.choice([1, 2, 4, 5, 8, 10, 20, 25, 40, 50, 100, 125, 200, 250, 500, 1000], count)
    workload = weft.Workload.windows(slides * numbers.integers(1, 50, count), slides, group_by="k")

    def nobody(*_: object) -> None:
        raise AssertionError("a query was put together")

    monkeypatch.setattr(weft.Workload, "__getitem__", nobody)
    begin = time.perf_counter()
    plan = weft.optimize(workload, weft.Stats(rate=5_000, keys=1_000), planner)
    assert time.perf_counter() - begin < 20
    assert sum(len(tree.queries) for tree in plan.trees) == count


def test_planners_are_named_as_documented() -> None:
    names = "no_share shared random insert_then_weave local_search exhaustive weave_share tri_weave pairing contiguous"
    assert list(PLANNERS) == [*names.split(), "optimal"]


def many(count: int) -> weft.Workload:
    return weft.Workload.windows(np.arange(count) + 10, np.arange(count) + 7, unit="seconds", measures="max(x)")


@pytest.mark.parametrize(
    ("planner", "count", "instead"),
    [("exhaustive", 13, "optimal"), ("local_search", 301, "weave_share"), ("pairing", 401, "weave_share")],
)
def test_a_planner_asked_for_more_than_it_can_do_says_what_to_use(planner: str, count: int, instead: str) -> None:
    error = refused(workload=many(count), planner=planner)
    assert error.field == "planner"
    assert f"{planner} takes at most {count - 1} queries, and here are {count}" in str(error)
    assert error.remedy is not None
    assert error.remedy.startswith(f"Use {instead}")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"planner": "random", "sead": 1}, "random has no option 'sead'. Drop it: it takes seed, patience"),
        ({"planner": "shared", "seed": 1}, "shared has no option 'seed'. Drop it: it takes none"),
        ({"planner": "random", "patience": 0}, "patience is 0. Give a whole number from 1 on"),
        ({"planner": "local_search", "start": "shared"}, "no start 'shared'. Use one of no_share, random, weave_share"),
        ({"planner": "local_search", "times": 0.5}, "times is 0.5"),
        ({"planner": "optimal", "steps": -1}, "steps is -1"),
        ({"planner": "random", "patience": True}, "patience is True. Give a whole number from 1 on"),
        ({"planner": "random", "seed": "x"}, "seed is 'x'. Give a whole number."),
        ({"planner": "local_search", "start": "random", "seed": 0.5}, "seed is 0.5. Give a whole number."),
        ({"guard": "no"}, "guard is 'no'. Give true or false"),
        ({"stats": {"rate": 5}}, "is no stats. Give weft.Stats"),
    ],
)
def test_options_of_planners(given: dict[str, Any], said: str) -> None:
    assert said in str(refused(**given))


def test_a_technique_of_one_range_is_refused_for_several() -> None:
    windows = [weft.Window("10 s", "5 s"), weft.Window("20 s", "5 s")]
    workload = weft.Workload([weft.Query(f"q{i}", "max(x)", window) for i, window in enumerate(windows)])
    error = refused(workload=workload, planner="shared", technique="two_stacks")
    assert "windows of one range" in str(error)
    assert len(weft.optimize(workload, weft.Stats(100), technique="two_stacks").trees) == 2


def test_shares_of_filters_are_checked() -> None:
    for share in (-0.1, 1.5, math.nan, "half", True):
        with pytest.raises(weft.BadRequest, match="no share of the rows") as caught:
            weft.Stats(filters={"x > 1": share})  # type: ignore[dict-item]
        assert caught.value.remedy
    with pytest.raises(weft.BadRequest) as caught:
        weft.Stats(filters={"reflect('a')": 0.5})
    assert caught.value.field == "stats.filters"
