"""Contiguous sharing's own numbers and law: Chung, Guirguis and Kurdia, COCOON 2014, "Continuous query sharing"."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.planners.plain import Sizes, cost, family, plain_sizes, planned
from weft.planners.contiguous import cuts

IN_ORDER: list[Sizes] = [(16, 4), (10, 5), (8, 4), (12, 9), (10, 6)]
"""In the order in which they expire."""

CASES = {
    # the least cost of the queries from each one on, and the last query of its tree
    "1.2": (["104/15", "16/3", "691/180", "38/15", "79/45", "0"], (2, 2, 4, 4, 4)),
    "3": (["443/45", "331/45", "203/36", "13/3", "32/9", "0"], (4, 4, 4, 4, 4)),
}


@pytest.mark.parametrize("rate", CASES)
def test_costs_and_cuts(rate: str) -> None:
    found = cuts(*family(IN_ORDER, Fraction(rate)))
    least, last = CASES[rate]
    assert found.costs == tuple(map(Fraction, least))
    assert found.last == last
    assert planned(IN_ORDER, Fraction(rate), "contiguous").cost == Fraction(least[0])


@pytest.mark.parametrize("rate", CASES)
@pytest.mark.parametrize("expired", range(6))
def test_expiry_needs_no_planning(rate: str, expired: int) -> None:
    """Once the first have expired, the rest of the answer is the answer for the rest."""
    queries, price = family(IN_ORDER, Fraction(rate))
    found, rest = cuts(queries, price), cuts(queries[expired:], price)
    assert rest.costs == found.costs[expired:]
    assert found.trees(expired) == [range(tree.start + expired, tree.stop + expired) for tree in rest.trees()]


def test_the_smallest_of_equal_cuts() -> None:
    """Two windows whose merging saves nothing stay apart."""
    queries, price = family([(2, 2), (3, 3)], Fraction(1, 2))
    assert cuts(queries, price).last == (0, 1)


def compositions(count: int) -> list[list[range]]:
    """All ways to cut a row of things."""
    return [
        [range(a, b) for a, b in zip((0, *borders), (*borders, count), strict=True)]
        for size in range(count)
        for borders in combinations(range(1, count), size)
    ]


@given(
    sizes=st.lists(plain_sizes, min_size=1, max_size=7), rate=st.sampled_from(("0.2", "0.7", "1.2", "3")).map(Fraction)
)
def test_no_cuts_are_better(sizes: list[Sizes], rate: Fraction) -> None:
    price = {
        range(a, b): cost(sizes[a:b], rate) for a in range(len(sizes)) for b in range(a + 1, len(sizes) + 1)
    }  # every stretch once
    least = min(sum(price[tree] for tree in trees) for trees in compositions(len(sizes)))
    found = cuts(*family(sizes, rate))
    assert found.costs[0] == least == sum(price[tree] for tree in found.trees())
    plan = planned(sizes, rate, "contiguous")
    assert plan.cost == least
    assert [tree.queries.tolist() for tree in plan.trees] == [list(tree) for tree in found.trees()]
