"""Bounds: nothing costs less than they say. Branch and bound is run on workloads small enough to try everything."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import weft
from tests.planners.plain import SECOND, TYPES, alone, best, different, fewer, workload
from weft.planners import optimal as room
from weft.planners import subsets
from weft.planners.candidates import Candidate, together
from weft.planners.optimal import least_additions, optimal
from weft.planners.prices import Price

rates = st.sampled_from(("0.1", "0.7", "3", "50")).map(Fraction)
PRICES = {
    "panes": ("panes", "operations", (1, 30, 5_000)),
    "flatfit": ("flatfit", "operations", (1, 30, 5_000)),
    "deque": ("slickdeque_noninv", "operations", (1, 30, 5_000)),
    "auto": ("auto", "operations", (1,)),
    "refined deque": ("slickdeque_noninv", "refined", (1,)),
    "refined flatfit": ("flatfit", "refined", (1,)),
    "b_int": ("b_int", "refined", (1,)),
}
prices = pytest.mark.parametrize(("technique", "reading", "keys"), PRICES.values(), ids=PRICES)


def costs(queries: list[Candidate], price: Price) -> dict[frozenset[int], Fraction]:
    """What every set of queries costs, and what nothing does."""
    found = {frozenset[int](): Fraction(0)}
    for bits in range(1, 1 << len(queries)):
        members = [i for i in range(len(queries)) if bits >> i & 1]
        found[frozenset(members)] = price.cost(together([queries[i] for i in members]))
    return found


def nothing_adds_less(queries: list[Candidate], price: Price) -> None:
    found, floors = costs(queries, price), least_additions(queries, price)
    for i, floor in enumerate(floors):
        assert floor >= 0
        for members, cost in found.items():
            if i not in members:
                assert found[members | {i}] - cost >= floor, (i, members)


def family(
    data: st.DataObject, least: int, most: int, technique: str, reading: str, keys: tuple[int, ...]
) -> tuple[list[Candidate], Price]:
    asked = workload(data.draw(different(least, most)), "max(x)", group_by="k")
    stats = weft.Stats(data.draw(rates), data.draw(st.sampled_from(keys)), TYPES)
    return alone(asked, stats, technique, data.draw(st.sampled_from(("panes", "pairs", "cutty"))), reading)


@prices
@fewer(3)
@given(data=st.data())
def test_what_a_query_adds_at_least(technique: str, reading: str, keys: tuple[int, ...], data: st.DataObject) -> None:
    nothing_adds_less(*family(data, 1, 6, technique, reading, keys))


@prices
@fewer(5)
@given(data=st.data(), steps=st.sampled_from((0, 1, 7, 50, 2_000)))
def test_no_plan_costs_less_than_the_bound(
    technique: str, reading: str, keys: tuple[int, ...], data: st.DataObject, steps: int
) -> None:
    queries, price = family(data, 5, 7, technique, reading, keys)
    least = best(queries, lambda tree: price.cost(together(tree)))
    with pytest.MonkeyPatch.context() as patch:
        for place in (room, subsets):
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
        for place in (room, subsets):
            patch.setattr(place, "MOST", 4)
        bounds = [optimal(queries, price, steps).bound for steps in (0, 3, 10, 100)]
    assert bounds == sorted(bounds, key=lambda bound: bound or 0)


def test_seventeen_queries_get_a_gap() -> None:
    """One more than all partitions are compared of: a plan, and how far it may be from the best."""
    primes = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59)
    plan = weft.optimize(workload([(3 * p, p) for p in primes]), weft.Stats("3" and 3), "optimal", "panes", steps=20)
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


@pytest.mark.xfail(raises=AssertionError, strict=True, reason="a slice has fewer groups where there are more edges")
def test_many_keys() -> None:
    """A row a second, each of another key: a second query makes the slices shorter, so that fewer groups answer."""
    nothing_adds_less(*alone(sums((10, 10, 0), (5, 20, 3)), weft.Stats(1, 10**6, TYPES), "r_int"))


@pytest.mark.xfail(raises=AssertionError, strict=True, reason="more slices may mean fewer different numbers of them")
@pytest.mark.parametrize("technique", ["slickdeque_inv", "flatfat"])
def test_techniques_that_get_cheaper_with_more_edges(technique: str) -> None:
    """For which least_additions has no floor, and says zero."""
    workloads = {
        "slickdeque_inv": sums((30, 10, 0), (33, 10, 0), (5, 20, 5)),
        "flatfat": sums((31, 10, 0), (4, 40, 0)),
    }
    nothing_adds_less(*alone(workloads[technique], weft.Stats(1, 1, TYPES), technique))
