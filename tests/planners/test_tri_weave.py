"""TriWeave's own numbers and law: Shein and Chrysanthis, TKDE 2020, section 3.1.1.

C(plan) = rate + trees x E_all + sum of E x Omega

a plan of TriWeave at a rate = one pass + the same plan of Weave Share at a rate of E_all
"""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import weft
from tests.planners.plain import (
    TYPES,
    Sizes,
    alone,
    cost,
    edge_rate,
    family,
    greedy,
    partition,
    plain_sizes,
    planned,
    workload,
)
from weft.planners.candidates import together
from weft.planners.tri_weave import fed

EXAMPLE: list[Sizes] = [(16, 4), (10, 5), (8, 4)]
"""Example 3 of Guirguis et al., CIKM 2011: 2/5 edges per second in all."""
A, B, C = EXAMPLE

COSTS = {
    # the trees, and what the plan costs at 1.2 and at 5 rows a second
    "no share": ([[A], [B], [C]], "43/10", "81/10"),
    "ab, c": ([[A, B], [C]], "49/10", "87/10"),
    "a, bc": ([[A], [B, C]], "23/5", "42/5"),
    "ac, b": ([[A, C], [B]], "39/10", "77/10"),
    "shared": ([[A, B, C]], "24/5", "43/5"),
}


def costs(trees: list[list[Sizes]], rate: Fraction) -> Fraction:
    """The plan's cost with the price that TriWeave plans with."""
    queries, price = family([size for tree in trees for size in tree], rate)
    price, waiting = fed(queries, price), iter(queries)
    return rate + sum(price.cost(together([next(waiting) for _ in tree])) for tree in trees)


@pytest.mark.parametrize(("trees", "slow", "fast"), COSTS.values(), ids=COSTS)
def test_example_3_every_partition(trees: list[list[Sizes]], slow: str, fast: str) -> None:
    assert (costs(trees, Fraction("1.2")), costs(trees, Fraction(5))) == (Fraction(slow), Fraction(fast))


@pytest.mark.parametrize(("rate", "least"), [("1.2", "39/10"), ("5", "77/10")])
def test_example_3_plan(rate: str, least: str) -> None:
    plan = planned(EXAMPLE, Fraction(rate), "tri_weave")
    assert (partition(plan), plan.cost) == ([[0, 2], [1]], Fraction(least))
    assert [tree.input_rate for tree in plan.trees] == [Fraction(2, 5)] * 2
    assert plan.feeding_cost == Fraction(rate)


def test_it_beats_weave_share_where_edges_are_fewer_than_rows() -> None:
    """For m trees just where E_all < rate (m - 1) / m: here below 4/5 for two trees."""
    trees, edge = [[A, C], [B]], Fraction(1, 1000)
    for rate, better in ((Fraction(4, 5) + edge, True), (Fraction(4, 5), False), (Fraction(4, 5) - edge, False)):
        assert (costs(trees, rate) < sum(cost(tree, rate) for tree in trees)) == better


@given(
    drawn=st.lists(st.tuples(plain_sizes, st.integers(0, 3)), min_size=1, max_size=6),
    rate=st.sampled_from(("0.2", "1.2", "5")).map(Fraction),
)
def test_a_plan_is_one_of_weave_share_fed_with_slices(drawn: list[tuple[Sizes, int]], rate: Fraction) -> None:
    """The identity, for trees drawn by chance."""
    trees = [[size for size, where in drawn if where == tree] for tree in range(4)]
    trees = [tree for tree in trees if tree]
    everything = [size for size, _ in drawn]
    assert costs(trees, rate) == rate + sum(cost(tree, edge_rate(everything)) for tree in trees)


@given(sizes=st.lists(plain_sizes, min_size=1, max_size=6), rate=st.sampled_from(("0.2", "1.2", "5")).map(Fraction))
def test_the_plan_is_the_greedy_one_at_a_rate_of_all_edges(sizes: list[Sizes], rate: Fraction) -> None:
    plan, slices = planned(sizes, rate, "tri_weave"), edge_rate(sizes)
    trees, _ = greedy([[size] for size in sizes], lambda tree: cost(tree, slices), lambda x, y: [*x, *y])
    assert plan.cost == rate + sum(cost(tree, slices) for tree in trees)


@given(
    sizes=st.lists(plain_sizes, min_size=1, max_size=5),
    keys=st.sampled_from((1, 7, 5_000)),
    technique=st.sampled_from(("panes", "r_int", "disjoint_table")),
)
def test_the_identity_holds_for_every_technique_and_many_keys(sizes: list[Sizes], keys: int, technique: str) -> None:
    """Every group that has a row between two edges is a partial that a tree reads."""
    stats = weft.Stats(3, keys, TYPES)
    asked = workload(sizes, "sum(n)", group_by="k")
    plan = weft.optimize(asked, stats, "tri_weave", technique)
    rows = edge_rate(sizes) * min(Fraction(keys), 3 / edge_rate(sizes))
    queries, price = alone(asked, stats, technique)
    final = sum(price.final_cost(together([queries[i] for i in tree])) for tree in partition(plan))
    assert plan.cost == 3 + len(plan.trees) * rows + final
