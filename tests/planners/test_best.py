"""The exact planners against plain recursion over all partitions, under every kind of price.

Windows have different edges here, or techniques add up query by query, so that nothing is put together beforehand.
"""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import weft
from tests.planners.plain import SECOND, TYPES, Sizes, alone, best, different, fewer, partitions
from weft.planners.candidates import Candidate, together
from weft.planners.exhaustive import exhaustive
from weft.planners.ledger import Ledger, whole
from weft.planners.optimal import optimal
from weft.planners.prices import Price

MEASURES = ("max(x)", "sum(n)", "avg(n)", "count(*)")
FILTERS = {"x > 1": 0.5, "x > 5": 0.125, "n < 3": 0.3}
rates = st.sampled_from(("0.1", "0.7", "3", "50")).map(Fraction)


def least(queries: list[Candidate], price: Price) -> Fraction:
    return best(queries, lambda tree: price.cost(together(tree)))


def is_least(queries: list[Candidate], price: Price) -> None:
    """Both exact planners find the least cost, and say that there is none below."""
    found = least(queries, price)
    tried, searched = exhaustive(queries, price), optimal(queries, price)
    for grouping in (tried, searched):
        members = sorted(i for tree in grouping.trees for i in tree.queries.tolist())
        assert members == list(range(len(queries)))
        assert sum(price.cost(tree) for tree in grouping.trees) == pytest.approx(found, rel=1e-12)
    assert tried.bound == found
    assert searched.bound == pytest.approx(found, rel=1e-12)


@st.composite
def asked(
    draw: st.DrawFn, unit: str = "time", filters: bool = False, sizes: st.SearchStrategy[list[Sizes]] | None = None
) -> weft.Workload:
    queries = []
    for i, size in enumerate(draw(different(1, 5 if filters else 6) if sizes is None else sizes)):
        parts = [part * (1 if unit == "rows" else SECOND) for part in size]
        queries.append(
            weft.Query(
                f"q{i}",
                draw(st.sampled_from(MEASURES)),
                weft.Window.rows(*parts) if unit == "rows" else weft.Window.of(*parts),
                where=draw(st.sampled_from((None, *FILTERS))) if filters else None,
                group_by="k",
            )
        )
    return weft.Workload(queries)


readings = st.sampled_from(("operations", "quick", "refined"))
slicings = st.sampled_from(("panes", "pairs", "cutty"))


@pytest.mark.parametrize("technique", ["panes", "auto", "disjoint_table", "flatfit", "flatfat", "b_int"])
@fewer(3)
@given(workload=asked(), rate=rates, keys=st.sampled_from((1, 2, 30, 5_000)), slicing=slicings, reading=readings)
def test_no_partition_costs_less(
    technique: str, workload: weft.Workload, rate: Fraction, keys: int, slicing: str, reading: str
) -> None:
    is_least(*alone(workload, weft.Stats(rate, keys, TYPES), technique, slicing, reading))


@fewer(3)
@given(workload=asked("rows"), rate=rates, technique=st.sampled_from(("auto", "panes", "flatfit")))
def test_no_partition_of_windows_of_rows_costs_less(workload: weft.Workload, rate: Fraction, technique: str) -> None:
    is_least(*alone(workload, weft.Stats(rate, 3, TYPES), technique))


@fewer(3)
@given(workload=asked("rows", filters=False), rate=rates)
def test_windows_of_rows_cost_in_proportion_to_the_rate(workload: weft.Workload, rate: Fraction) -> None:
    """Their edges come with the rows, so twice the rows are twice the work."""
    once, twice = (alone(workload, weft.Stats(some * rate, 1, TYPES), "auto") for some in (1, 2))
    assert 2 * least(*once) == least(*twice)


@fewer(3)
@given(workload=asked(filters=True), rate=rates, technique=st.sampled_from(("auto", "panes", "disjoint_table")))
def test_no_partition_of_filtered_queries_costs_less(workload: weft.Workload, rate: Fraction, technique: str) -> None:
    is_least(*alone(workload, weft.Stats(rate, 2, TYPES, FILTERS), technique))


def test_techniques_that_do_not_serve_all_keep_queries_apart() -> None:
    """R-INT serves sums of integers and two stacks one range: what nothing serves is never the best."""
    two = [weft.Query(f"q{r}", "max(x)", weft.Window.of(r * SECOND, 5 * SECOND)) for r in (10, 20)]
    queries, price = alone(weft.Workload(two), weft.Stats(1_000), "two_stacks")
    assert [tree.queries.tolist() for tree in exhaustive(queries, price).trees] == [[0], [1]]
    assert [tree.queries.tolist() for tree in optimal(queries, price).trees] == [[0], [1]]


@given(rates=st.lists(st.fractions(0, 100, max_denominator=60), min_size=1, max_size=6))
def test_fractions_as_integers_of_one_scale(rates: list[Fraction]) -> None:
    found = whole(rates)
    assert [n * rates[0] for n in found] == [found[0] * rate for rate in rates]


@fewer(3)
@given(workload=asked(), rate=rates, technique=st.sampled_from(("auto", "panes", "flatfat")))
def test_what_is_looked_up_is_what_it_costs(workload: weft.Workload, rate: Fraction, technique: str) -> None:
    queries, price = alone(workload, weft.Stats(rate, 2, TYPES), technique)
    ledger = Ledger(queries, price)
    for trees in list(partitions(range(len(queries))))[:20]:
        members = [frozenset(tree) for tree in trees]
        expected = sum(price.cost(together([queries[i] for i in sorted(tree)])) for tree in members)
        assert ledger.total(members) == expected
        asked_for = ledger.evaluations
        assert ledger.total(members) == expected
        assert ledger.evaluations == asked_for


@fewer(2)
@given(workload=asked(), rate=rates, keys=st.sampled_from((1, 30)), seed=st.integers(0, 99), planner=st.data())
def test_planners_that_start_alone_never_lose_by_it(
    workload: weft.Workload, rate: Fraction, keys: int, seed: int, planner: st.DataObject
) -> None:
    """Insert-then-Weave, Random, Local Search, pairs and stretches: none costs more than not sharing."""
    stats = weft.Stats(rate, keys, TYPES)
    not_shared = weft.optimize(workload, stats, "no_share").cost
    options = {"random": {"seed": seed, "patience": 1 + seed % 3}, "local_search": {"times": 1 + seed % 4}}
    name = planner.draw(
        st.sampled_from(("random", "insert_then_weave", "local_search", "pairing", "contiguous", "weave_share"))
    )
    assert weft.optimize(workload, stats, name, **options.get(name, {})).cost <= not_shared


MIXED: list[tuple[str, Sizes]] = [("sum(n)", (4096, 4)), ("max(n)", (4, 4))]
"""One edge set; the sum is best served by R-INT, the maximum by panes, and both together by neither."""


@pytest.mark.parametrize("planner", ["weave_share", "insert_then_weave", "optimal"])
@pytest.mark.parametrize(("rate", "keys"), [(1, 1), (100, 10_000)])
def test_equal_edges_are_no_reason_to_share_when_techniques_differ(planner: str, rate: int, keys: int) -> None:
    queries = [
        weft.Query(f"q{i}", measure, weft.Window.of(*(part * SECOND for part in size)), group_by="k")
        for i, (measure, size) in enumerate(MIXED)
    ]
    stats = weft.Stats(rate, keys, TYPES)
    plan = weft.optimize(weft.Workload(queries), stats, planner)
    assert plan.cost <= weft.optimize(weft.Workload(queries), stats, "no_share").cost


def test_equal_edges_are_no_reason_to_share_when_filters_differ() -> None:
    """A thousand rows a slice, a tenth of which pass each filter: two shards each, and hardly fewer rows to read."""
    asked = [
        weft.Query(f"q{i}", "max(x)", weft.Window.of(4096 * SECOND, 4 * SECOND), where=where)
        for i, where in enumerate(("x > 1", "n > 1"))
    ]
    stats = weft.Stats(250, filters={"x > 1": 0.1, "n > 1": 0.1})
    plan = weft.optimize(weft.Workload(asked), stats, "weave_share")
    assert plan.cost <= weft.optimize(weft.Workload(asked), stats, "no_share").cost


many_alike = st.lists(
    st.tuples(st.sampled_from((2, 3, 9, 10, 15, 34)), st.sampled_from((4, 6, 12)), st.just(0)), min_size=2, max_size=5
)


@fewer(2)
@given(
    workload=asked(filters=True, sizes=many_alike),
    rate=st.sampled_from(("0.05", "0.7", "50")).map(Fraction),
    keys=st.sampled_from((1, 30, 5_000)),
    technique=st.sampled_from(("auto", "auto", "panes", "disjoint_table", "flatfat")),
    known=st.booleans(),
)
def test_the_best_plan_is_the_best_of_all_also_where_edges_are_equal(
    workload: weft.Workload, rate: Fraction, keys: int, technique: str, known: bool
) -> None:
    """Windows whose ranges differ by whole slides, on sparse streams too, where some had better not share."""
    stats = weft.Stats(rate, keys, TYPES, FILTERS if known else {})
    tried, best = (weft.optimize(workload, stats, planner, technique) for planner in ("exhaustive", "optimal"))
    assert best.cost == pytest.approx(tried.cost, rel=1e-12)
    assert best.bound == pytest.approx(tried.cost, rel=1e-12)
    woven = weft.optimize(workload, stats, technique=technique)
    assert tried.cost <= woven.cost * (1 + Fraction(1, 10**12))


def test_a_bound_on_plans_that_keep_equal_edges_together_says_so() -> None:
    """Eleven queries collapse: a and b have equal edges, and b is better with the others, whose table is as deep."""
    queries = [weft.Query(f"c{i}", "max(x)", weft.Window("3200 ms", "100 ms")) for i in range(9)]
    queries += [
        weft.Query("a", "max(x)", weft.Window("5 s", "1 s")),
        weft.Query("b", "max(x)", weft.Window("3 s", "1 s")),
    ]
    found = {name: weft.optimize(weft.Workload(queries), planner=name) for name in ("optimal", "exhaustive")}
    assert found["exhaustive"].cost < found["optimal"].cost
    assert found["optimal"].gap == found["exhaustive"].gap == 0
    assert "none of the plans that keep equal edges together costs less" in found["optimal"].explain()
    assert "no plan costs less" in found["exhaustive"].explain()
    ten = weft.optimize(weft.Workload(queries[1:]), planner="optimal")
    assert (ten.bound_among, ten.gap) == ("", 0)
    adding_up = weft.optimize(weft.Workload(queries), planner="optimal", technique="panes")
    assert adding_up.bound_among == ""
