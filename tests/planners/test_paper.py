"""Weave Share's own numbers: Guirguis, Sharaf, Chrysanthis and Labrinidis, CIKM 2011.

One key and `technique="panes"` make the price that of the paper, equations 1 to 3. The rate of Example 3 is not legible
in print; 1.2 gives the two costs that the example ends with, 4.3 and 4.4, and by equation 3 the start costs 5.5.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations

import pytest

from tests.planners.plain import Sizes, benefit, cost, family, partition, planned
from weft.planners.candidates import together
from weft.planners.forest import Forest
from weft.planners.ledger import Ledger, alone
from weft.planners.local_search import descend
from weft.planners.weave_share import weave

EXAMPLE_2: list[Sizes] = [(12, 9), (10, 6)]
EXAMPLE_3: list[Sizes] = [(16, 4), (10, 5), (8, 4)]


def test_example_2_edge_rates() -> None:
    """Section 4.1: 0.22 and 0.33 edges per second alone, 0.44 shared."""
    alone = planned(EXAMPLE_2, 1, "no_share")
    assert [tree.edge_rate for tree in alone.trees] == [Fraction(2, 9), Fraction(1, 3)]
    assert [tree.edge_rate for tree in planned(EXAMPLE_2, 1, "shared").trees] == [Fraction(4, 9)]


def test_example_2_final_operations() -> None:
    """Equation 2: a slice belongs to range / slide windows."""
    assert [tree.operations for tree in planned(EXAMPLE_2, 1, "shared").trees] == [Fraction(12, 9) + Fraction(10, 6)]


def test_example_2_slices_delivered() -> None:
    """Section 4.1 prints 0.55 and 0.88 operations: a slice for every query of its tree, whatever the overlap."""
    delivered = [
        sum(tree.edge_rate * len(tree.queries) for tree in planned(EXAMPLE_2, 1, planner).trees)
        for planner in ("no_share", "shared")
    ]
    assert delivered == [Fraction(5, 9), Fraction(8, 9)]


@pytest.mark.parametrize(("planner", "cost"), [("no_share", "5.5"), ("weave_share", "4.3"), ("shared", "4.4")])
def test_example_3_costs(planner: str, cost: str) -> None:
    assert planned(EXAMPLE_3, 1.2, planner).cost == Fraction(cost)


@pytest.mark.parametrize(
    ("trees", "cost"),
    [
        ([[0], [1], [2]], "5.5"),
        ([[0, 1], [2]], "5.3"),
        ([[0], [1, 2]], "5"),
        ([[0, 2], [1]], "4.3"),
        ([[0, 1, 2]], "4.4"),
    ],
)
def test_example_3_every_partition(trees: list[list[int]], cost: str) -> None:
    """Figure 3: the five ways to put three queries together, by equation 3."""
    queries, price = family(EXAMPLE_3, Fraction("1.2"))
    assert sum(price.cost(together([queries[i] for i in tree])) for tree in trees) == Fraction(cost)


def test_example_3_merges_the_first_and_the_last() -> None:
    assert partition(planned(EXAMPLE_3, 1.2, "weave_share")) == [[0, 2], [1]]
    forest = Forest(*family(EXAMPLE_3, Fraction("1.2")))
    assert weave(forest) == [Fraction("1.2")]


def test_a_merge_of_equal_edges_saves_a_pass() -> None:
    """Equation 5: the benefit is the input rate."""
    pair: list[Sizes] = [(16, 4), (8, 4)]
    assert Forest(*family(pair, Fraction("1.2"))).benefit(0, 1) == Fraction("1.2")
    assert planned(pair, 1.2, "no_share").cost - planned(pair, 1.2, "shared").cost == Fraction("1.2")


def test_a_merge_that_saves_nothing_is_not_made() -> None:
    """Tumbling windows of 2 and 3: a pass of 1/2 saved, (2 x 2/3) - (1/2 + 1/3) more for the answers."""
    assert len(planned([(2, 2), (3, 3)], 0.5, "weave_share").trees) == 2
    assert len(planned([(2, 2), (3, 3)], 0.51, "weave_share").trees) == 1


@dataclass(frozen=True)
class Case:
    """A workload, its rate, and what planners make of it."""

    sizes: list[Sizes]
    rate: Fraction
    costs: dict[str, str]
    woven: list[list[int]]
    """Weave Share's trees."""
    benefits: list[str]
    """What its merges save."""
    searched: tuple[str, int]
    """What Local Search from single queries costs, and its moves."""
    best: list[list[int]]
    optimum: str


CASES = {
    # the greedy loop is no optimum: every partition was tried
    "greedy 1": Case(
        [(48, 8), (8, 2), (45, 9), (6, 2), (12, 4)],
        Fraction(3),
        costs={"no_share": "185/9", "weave_share": "85/6", "shared": "44/3", "insert_then_weave": "44/3"},
        optimum="121/9",
        woven=[[0, 2, 4], [1, 3]],
        best=[[0, 2], [1, 3, 4]],
        benefits=["3", "9/4", "41/36"],
        searched=("121/9", 4),
    ),
    "greedy 2": Case(
        [(2, 2), (3, 3), (5, 5), (14, 7)],
        Fraction(1),
        costs={"no_share": "1117/210", "weave_share": "157/35", "shared": "34/7", "insert_then_weave": "157/35"},
        optimum="449/105",
        woven=[[0, 1, 2], [3]],
        best=[[0, 1], [2, 3]],
        benefits=["3/5", "7/30"],
        searched=("449/105", 3),
    ),
    # tumbling windows, and a rate of twice the largest pair's edge rate (Chung, Guirguis and Kurdia, COCOON 2014)
    "tumbling": Case(
        [(6, 6), (7, 7), (8, 8), (9, 9), (12, 12)],
        Fraction(4, 7),
        costs={"no_share": "251/72", "weave_share": "22/9", "shared": "109/42", "insert_then_weave": "109/42"},
        optimum="97/42",
        woven=[[0, 1, 4], [2, 3]],
        best=[[0, 3, 4], [1, 2]],
        benefits=["41/84", "61/168", "4/21"],
        searched=("22/9", 3),
    ),
}
cases = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


@cases
def test_costs_counted_by_hand(case: Case) -> None:
    for planner, printed in case.costs.items():
        assert planned(case.sizes, case.rate, planner).cost == Fraction(printed), planner
    assert partition(planned(case.sizes, case.rate, "weave_share")) == case.woven


@cases
def test_what_every_merge_saves(case: Case) -> None:
    assert weave(Forest(*family(case.sizes, case.rate))) == [Fraction(saved) for saved in case.benefits]


@cases
@pytest.mark.parametrize("planner", ["exhaustive", "optimal"])
def test_the_optimum(case: Case, planner: str) -> None:
    plan = planned(case.sizes, case.rate, planner)
    assert plan.cost == plan.bound == Fraction(case.optimum)
    assert partition(plan) == case.best


@cases
def test_local_search_from_single_queries(case: Case) -> None:
    """Section 6, LS-NS-10x: ten times as many moves as Weave Share makes merges."""
    queries, price = family(case.sizes, case.rate)
    ledger, start = Ledger(queries, price), alone(len(queries))
    least, enough = Fraction(case.searched[0]), case.searched[1]
    trees, moves = descend(ledger, start, 10 * len(case.benefits))
    assert (ledger.total(trees), moves) == (least, enough)
    assert planned(case.sizes, case.rate, "local_search").cost == least
    shorter, moves = descend(ledger, start, enough - 1)
    assert moves == enough - 1
    assert ledger.total(shorter) > least


def test_one_move_makes_a_greedy_plan_optimal() -> None:
    case = CASES["greedy 1"]
    queries, price = family(case.sizes, case.rate)
    ledger = Ledger(queries, price)
    trees, moves = descend(ledger, [frozenset(tree) for tree in case.woven], 10)
    assert (ledger.total(trees), moves) == (Fraction(case.optimum), 1)


def test_a_greedy_plan_can_cost_more_than_sharing_all() -> None:
    """Edges at {0, 1}, {0, 2}, {1, 2} modulo 3: no pair pays, the three together do."""
    sizes: list[Sizes] = [(4, 3, 0), (5, 3, 0), (4, 3, 1)]
    rate = Fraction(4, 5)
    forest = Forest(*family(sizes, rate))
    pairs = [(0, 1), (0, 2), (1, 2)]
    assert [forest.benefit(*pair) for pair in pairs] == [Fraction(-1, 5), Fraction(-4, 45), Fraction(-1, 5)]
    woven, shared = planned(sizes, rate, "weave_share"), planned(sizes, rate, "shared")
    assert (woven.cost, shared.cost) == (Fraction(238, 45), Fraction(77, 15))
    assert len(woven.trees) == 3
    guarded = planned(sizes, rate, "weave_share", guard=True)
    assert guarded.cost == planned(sizes, rate, "optimal").cost == shared.cost
    assert planned(EXAMPLE_3, 1.2, "weave_share", guard=True).cost == Fraction("4.3")


def test_a_union_may_save_more_than_its_parts() -> None:
    """So a chain of nearest neighbours does not find the greedy plan: benefits are not reducible."""
    x, y, z, rate = (12, 4), (20, 6), (10, 4), Fraction(2)
    found = [benefit(*trees, rate) for trees in (([x], [z]), ([y], [z]), ([x, y], [z]))]
    assert found == [Fraction(5, 4), Fraction(13, 9), Fraction(53, 36)]
    forest = Forest(*family([x, y, z], rate))
    assert [forest.benefit(0, 2), forest.benefit(1, 2)] == found[:2]
    forest.merge(0, 1)
    assert forest.benefit(0, 2) == found[2] > max(found[:2])


@pytest.mark.parametrize("case", ["greedy 2", "tumbling"])
def test_the_order_of_the_queries_does_not_matter(case: str) -> None:
    """Where no two merges save the same; of the others, the first is made."""
    given = CASES[case]
    for shuffled in permutations(given.sizes):
        found = planned(list(shuffled), given.rate, "weave_share").cost
        assert found == Fraction(given.costs["weave_share"])


def test_alternatives_are_priced_as_they_would_be_planned() -> None:
    plan = planned(EXAMPLE_3, 1.2, "weave_share")
    assert dict(plan.alternatives) == {"no_share": Fraction("5.5"), "shared": Fraction("4.4")}


@cases
def test_a_plan_costs_what_the_equations_say(case: Case) -> None:
    for planner in ("no_share", "weave_share", "shared", "optimal", "pairing", "contiguous"):
        plan = planned(case.sizes, case.rate, planner)
        trees = [[case.sizes[i] for i in tree] for tree in partition(plan)]
        assert plan.cost == sum(cost(tree, case.rate) for tree in trees)
