"""Bounds: nothing costs less than they say. Branch and bound is run on workloads small enough to try everything."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import weft
from tests.planners.plain import SECOND, TYPES, alone, best, different, fewer, workload
from weft.planners import lower_bounds, subsets
from weft.planners.candidates import Candidate, together
from weft.planners.ledger import Ledger
from weft.planners.lower_bounds import least_additions
from weft.planners.optimal import optimal
from weft.planners.prices import Price

rates = st.sampled_from(("0.1", "0.7", "3", "50")).map(Fraction)
KEYS = (1, 30, 5_000)
FILTERS = {"x > 1": 0.5, "x > 5": 0.125, "n < 3": 0.3}
MEASURES = {
    "auto": ("max(x)", "sum(n)", "avg(n)", "count(*)"),
    "r_int": ("sum(n)", "count(*)"),
    "slickdeque_inv": ("sum(n)", "count(*)"),
}
"""What techniques are asked for, if it is not a maximum."""
NEARLY = 1 + Fraction(1, 10**12)
"""Some formulas have logarithms and powers, which are floats."""
PRICES = {
    "panes": ("panes", "operations", KEYS),
    "flatfit": ("flatfit", "operations", KEYS),
    "deque": ("slickdeque_noninv", "operations", KEYS),
    "auto": ("auto", "operations", KEYS),
    "refined deque": ("slickdeque_noninv", "refined", KEYS),
    "refined flatfit": ("flatfit", "refined", KEYS),
    "b_int": ("b_int", "refined", KEYS),
    "flatfat": ("flatfat", "operations", KEYS),
    "quick flatfat": ("flatfat", "quick", KEYS),
    "inverse deque": ("slickdeque_inv", "operations", KEYS),
    "r_int": ("r_int", "operations", KEYS),
    "disjoint table": ("disjoint_table", "operations", KEYS),
}
prices = pytest.mark.parametrize(("technique", "reading", "keys"), PRICES.values(), ids=PRICES)


def costs(ledger: Ledger) -> dict[frozenset[int], Fraction]:
    """What every set of queries costs."""
    count = len(ledger)
    sets = [frozenset(i for i in range(count) if bits >> i & 1) for bits in range(1, 1 << count)]
    return {members: ledger.price.cost(together([ledger.candidates[i] for i in members])) for members in sets}


def nothing_costs_less(queries: list[Candidate], price: Price) -> None:
    """Whoever joins a tree, it costs what it costs at least now, and what each of them adds at least."""
    ledger = Ledger(queries, price)
    found, floors = costs(ledger), least_additions(ledger)
    assert min(floors) >= 0
    for members in found:
        least = ledger.least(members)
        assert sum(floors[i] for i in members) <= least * NEARLY
        for larger, cost in found.items():
            if members <= larger:
                assert least + sum(floors[i] for i in larger - members) <= cost * NEARLY, (members, larger)


def family(
    data: st.DataObject, least: int, most: int, technique: str, reading: str, keys: tuple[int, ...]
) -> tuple[list[Candidate], Price]:
    filters = data.draw(st.sampled_from(({}, {}, FILTERS)))
    queries = [
        weft.Query(
            f"q{i}",
            data.draw(st.sampled_from(MEASURES.get(technique, ("max(x)",)))),
            weft.Window.of(*(part * SECOND for part in size)),
            where=data.draw(st.sampled_from((None, *filters))),
            group_by="k",
        )
        for i, size in enumerate(data.draw(different(least, most)))
    ]
    stats = weft.Stats(data.draw(rates), data.draw(st.sampled_from(keys)), TYPES, filters)
    slicing = data.draw(st.sampled_from(("panes", "pairs", "cutty")))
    return alone(weft.Workload(queries), stats, technique, slicing, reading)


@prices
@fewer(5)
@given(data=st.data())
def test_what_a_tree_costs_at_least_and_what_a_query_adds(
    technique: str, reading: str, keys: tuple[int, ...], data: st.DataObject
) -> None:
    nothing_costs_less(*family(data, 1, 5, technique, reading, keys))


@prices
@fewer(5)
@given(data=st.data(), steps=st.sampled_from((0, 1, 7, 50, 2_000)))
def test_no_plan_costs_less_than_the_bound(
    technique: str, reading: str, keys: tuple[int, ...], data: st.DataObject, steps: int
) -> None:
    queries, price = family(data, 5, 7, technique, reading, keys)
    least = best(queries, lambda tree: price.cost(together(tree)))
    with pytest.MonkeyPatch.context() as patch:
        for place in (lower_bounds, subsets):
            patch.setattr(place, "MOST", 4)
        grouping = optimal(queries, price, steps)
    spent = sum(price.cost(tree) for tree in grouping.trees)
    assert grouping.bound is not None
    assert 0 < grouping.bound <= least * (1 + Fraction(1, 10**12))
    assert least <= spent
    assert sorted(i for tree in grouping.trees for i in tree.queries.tolist()) == list(range(len(queries)))
    if steps == 2_000:  # more than there are partial plans of seven queries
        assert spent == least == grouping.bound


@fewer(5)
@given(data=st.data())
def test_more_steps_never_prove_less(data: st.DataObject) -> None:
    queries, price = family(data, 6, 7, "panes", "operations", (1,))
    with pytest.MonkeyPatch.context() as patch:
        for place in (lower_bounds, subsets):
            patch.setattr(place, "MOST", 4)
        bounds = [optimal(queries, price, steps).bound for steps in (0, 3, 10, 100)]
    assert bounds == sorted(bounds, key=lambda bound: bound or 0)


def test_seventeen_queries_get_a_gap() -> None:
    """One more than all partitions are compared of: a plan, and how far it may be from the best."""
    primes = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59)
    plan = weft.optimize(workload([(3 * p, p) for p in primes]), weft.Stats(3), "optimal", "panes", steps=20)
    assert plan.bound is not None
    assert plan.bound < plan.cost <= weft.optimize(plan.workload, plan.stats, "weave_share", "panes").cost
    assert plan.gap == plan.cost / plan.bound - 1


def sums(*sizes: tuple[int, int, int]) -> weft.Workload:
    return weft.Workload(
        [
            weft.Query(f"q{i}", "sum(n)", weft.Window.of(*(part * SECOND for part in size)), group_by="k")
            for i, size in enumerate(sizes)
        ]
    )


def falls(queries: list[Candidate], price: Price) -> bool:
    """Whether the first query and the second cost less as a tree when the last one joins them."""
    return price.cost(together(queries)) < price.cost(together(queries[:-1]))


CHEAPER = {
    # a row a second, each of another key: where slices are shorter, fewer groups answer at each edge
    "r_int": ("r_int", weft.Stats(1, 10**6, TYPES), sums((10, 10, 0), (5, 20, 3))),
    # 2 and 2.2 slices in a window become 2.5 and 2.75: rounded up, 2 and 3 become 3
    "slickdeque_inv": ("slickdeque_inv", weft.Stats(1, 1, TYPES), sums((10, 10, 0), (11, 10, 0), (9, 20, 0))),
    # 7.8 slices become 8.8: the path to the root is shorter in the formula
    "flatfat": ("flatfat", weft.Stats(1, 1, TYPES), sums((39, 10, 0), (4, 40, 0))),
}


@pytest.mark.parametrize(("technique", "stats", "asked"), CHEAPER.values(), ids=CHEAPER)
def test_a_tree_may_get_cheaper_when_a_query_joins_and_the_bound_knows(
    technique: str, stats: weft.Stats, asked: weft.Workload
) -> None:
    queries, price = alone(asked, stats, technique)
    assert falls(queries, price)
    nothing_costs_less(queries, price)
