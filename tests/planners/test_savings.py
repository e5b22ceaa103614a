"""What merging saves, by law: the price of Guirguis et al., CIKM 2011, and the guarantee that stands on it.

Chung, Guirguis and Kurdia (COCOON 2014) prove that Weave Share saves at least a quarter of what is possible where

    (i)   windows tumble
    (ii)  the rate is at least twice the edge rate of any pair
    (iii) Weave Share makes at least half as many merges as the best plan

Their Lemma 1 compares a pair with what one of its queries saves in any set around it.
"""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import combinations

from hypothesis import assume, given
from hypothesis import strategies as st

from tests.planners.plain import (
    Sizes,
    benefit,
    best,
    composite,
    cost,
    different,
    edge_rate,
    edges,
    family,
    fewer,
    plain_sizes,
    planned,
)
from weft.planners.candidates import together
from weft.planners.forest import Forest
from weft.planners.ledger import Ledger
from weft.planners.local_search import descend
from weft.planners.weave_share import weave

rates = st.sampled_from(("0.2", "0.7", "1.2", "3", "40")).map(Fraction)
some = st.lists(plain_sizes, min_size=1, max_size=4)


def same_edges(left: list[Sizes], right: list[Sizes]) -> bool:
    period = composite([*left, *right])
    return edges(left, period) == edges(right, period)


@given(left=some, right=some, rate=rates)
def test_a_merge_saves_a_pass_at_most(left: list[Sizes], right: list[Sizes], rate: Fraction) -> None:
    """And a whole one just where the edges are the same. Equation 5, and what it is the difference of."""
    saved = cost(left, rate) + cost(right, rate) - cost([*left, *right], rate)
    assert saved == benefit(left, right, rate)
    queries, price = family([*left, *right], rate)
    forest = Forest([together(queries[: len(left)]), together(queries[len(left) :])], price)
    assert forest.benefit(0, 1) == saved <= rate
    assert (saved == rate) == same_edges(left, right)


@given(sizes=st.lists(plain_sizes, min_size=2, max_size=6), rate=rates, seed=st.randoms(use_true_random=False))
def test_a_tree_costs_the_same_in_whichever_order_it_grew(
    sizes: list[Sizes], rate: Fraction, seed: random.Random
) -> None:
    forest = Forest(*family(sizes, rate))
    saved = Fraction(0)
    alive = list(range(len(sizes)))
    while len(alive) > 1:
        i, j = sorted(seed.sample(alive, 2))
        saved += forest.benefit(i, j)
        forest.merge(i, j)
        alive.remove(j)
    assert forest.cost(alive[0]) == cost(sizes, rate)
    assert saved == sum(cost([size], rate) for size in sizes) - cost(sizes, rate)


@given(sizes=st.lists(plain_sizes, min_size=1, max_size=5), more=plain_sizes, rate=rates)
def test_a_query_more_never_makes_a_tree_cheaper(sizes: list[Sizes], more: Sizes, rate: Fraction) -> None:
    queries, price = family([*sizes, more], rate)
    before, after = price.cost(together(queries[:-1])), price.cost(together(queries))
    # it pays for its answers at all of its own edges
    assert after >= before + edge_rate([more]) * Fraction(more[0], more[1])


@fewer(2)
@given(sizes=st.lists(plain_sizes, min_size=1, max_size=6), rate=rates)
def test_queries_with_equal_edges_never_lose_by_sharing(sizes: list[Sizes], rate: Fraction) -> None:
    """The best plan of all partitions is one of those that keep them together."""
    together_: list[list[Sizes]] = []
    for size in sizes:
        kin = next((tree for tree in together_ if same_edges(tree, [size])), None)
        if kin is None:
            together_.append([size])
        else:
            kin.append(size)
    least = best(sizes, lambda tree: cost(tree, rate))
    assert best(together_, lambda trees: cost([size for tree in trees for size in tree], rate)) == least
    assert planned(sizes, rate, "optimal").cost == least


@fewer(2)
@given(sizes=st.lists(plain_sizes, min_size=1, max_size=7), rate=rates)
def test_the_order_of_the_planners(sizes: list[Sizes], rate: Fraction) -> None:
    def least(planner: str, **options: object) -> Fraction:
        return planned(sizes, rate, planner, **options).cost

    optimum, woven, alone = least("optimal"), least("weave_share"), least("no_share")
    assert optimum <= least("local_search", start="weave_share") <= woven <= alone
    assert optimum <= least("shared")
    assert least("weave_share", guard=True) == min(woven, least("shared"))
    for planner in ("insert_then_weave", "random", "local_search", "pairing", "contiguous"):
        assert optimum <= least(planner) <= alone, planner


@fewer(2)
@given(sizes=different(2, 6), rate=rates, data=st.data())
def test_the_order_of_the_queries_does_not_matter_without_ties(
    sizes: list[Sizes], rate: Fraction, data: st.DataObject
) -> None:
    trees = [[size] for size in sizes]
    while len(trees) > 1:
        saved = sorted((benefit(x, y, rate), i, j) for (i, x), (j, y) in combinations(enumerate(trees), 2))
        assume(len({found[0] for found in saved}) == len(saved))
        most, i, j = saved[-1]
        if most <= 0:
            break
        trees[i] = trees[i] + trees.pop(j)
    shuffled = data.draw(st.permutations(sizes))
    for planner in ("weave_share", "optimal", "pairing"):
        assert planned(sizes, rate, planner).cost == planned(shuffled, rate, planner).cost, planner


@given(sizes=st.lists(plain_sizes, min_size=2, max_size=7), rate=rates, most=st.integers(0, 4))
def test_every_move_of_local_search_is_the_best_one(sizes: list[Sizes], rate: Fraction, most: int) -> None:
    """Steepest descent: no plan one move away from the last but one costs less than the last."""
    queries, price = family(sizes, rate)
    ledger = Ledger(queries, price)
    start = [frozenset({i}) for i in range(len(sizes))]
    found, moves = descend(ledger, start, most)
    after, more = descend(ledger, start, most + 1)
    assert sorted(i for tree in found for i in tree) == list(range(len(sizes)))
    neighbours = []
    for query in range(len(sizes)):
        rest = [tree - {query} for tree in found]
        for target in range(len(rest) + 1):
            moved = [tree | {query} if i == target else tree for i, tree in enumerate([*rest, frozenset()])]
            neighbours.append(sum(cost([sizes[i] for i in tree], rate) for tree in moved if tree))
    reached, next_best = ledger.total(found), min(neighbours)
    if moves < most or next_best >= reached:
        assert (more, ledger.total(after)) == (moves, reached)
        assert next_best >= reached
    else:
        assert (more, ledger.total(after)) == (moves + 1, next_best)


tumbling = st.lists(
    st.sampled_from((2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 15, 16, 18, 20, 24)), min_size=2, max_size=6, unique=True
).map(lambda own: [(s, s) for s in own])


def twice_the_densest_pair(sizes: list[Sizes]) -> Fraction:
    return 2 * max(edge_rate(list(pair)) for pair in combinations(sizes, 2))


@fewer(2)
@given(sizes=tumbling)
def test_a_quarter_of_what_can_be_saved_is(sizes: list[Sizes]) -> None:
    """Theorem 1, with its three conditions."""
    rate = twice_the_densest_pair(sizes)
    queries, price = family(sizes, rate)
    forest = Forest(queries, price)
    saved = weave(forest)
    optimum = planned(sizes, rate, "optimal")
    assume(len(saved) >= Fraction(len(sizes) - len(optimum.trees), 2))
    alone = planned(sizes, rate, "no_share").cost
    assert sum(saved) == alone - planned(sizes, rate, "weave_share").cost
    assert sum(saved) >= (alone - optimum.cost) / 4


def test_the_guarantee_where_it_was_counted() -> None:
    """Savings of 525/504 against 593/504 where the best plan was found by trying all of them."""
    sizes: list[Sizes] = [(6, 6), (7, 7), (8, 8), (9, 9), (12, 12)]
    rate = twice_the_densest_pair(sizes)
    assert rate == Fraction(4, 7)
    alone, woven, optimum = (planned(sizes, rate, p).cost for p in ("no_share", "weave_share", "optimal"))
    assert (alone - woven) / (alone - optimum) == Fraction(525, 593)


@fewer(2)
@given(sizes=tumbling)
def test_lemma_1(sizes: list[Sizes]) -> None:
    """Twice what a pair saves is no less than what a third saves by joining all the others."""
    rate = twice_the_densest_pair(sizes)
    pairs = [benefit([a], [b], rate) for a, b in combinations(sizes, 2)]
    joining = [benefit([size for size in sizes if size != c], [c], rate) for c in sizes]
    assert 2 * min(pairs) >= max(joining)
