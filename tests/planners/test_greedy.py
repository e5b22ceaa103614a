"""Weave Share is the plain greedy loop: the same trees, merge by merge, whatever the price and the edges.

The loop here weighs every pair anew in every round, in fractions (Guirguis et al., CIKM 2011, Figure 2).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import weft
from tests.planners.plain import SECOND, TYPES, Sizes, alone, fewer, greedy, plain_sizes
from weft.planners import prices, tree_edges
from weft.planners.candidates import Candidate, together
from weft.planners.forest import Forest
from weft.planners.insert_then_weave import insert_then_weave
from weft.planners.prices import Price, cut
from weft.planners.tree_edges import Live, _Pairs, edges_of
from weft.planners.weave_share import weave, weave_share

MEASURES = {"slickdeque_inv": ["sum(n)"], "slickdeque_noninv": ["max(x)"], "r_int": ["sum(n)"]}
"""What techniques that do not serve everything are asked for."""
TECHNIQUES = ("panes", "auto", "flatfit", "flatfat", "slickdeque_noninv", "slickdeque_inv", "b_int", "disjoint_table")
PRIMES = (1_009, 1_013, 1_019, 1_021, 1_031, 1_033, 1_039)
"""Slides of seconds whose common period no bit set holds."""

stats = st.tuples(st.sampled_from(("0.1", "0.7", "3", "50")), st.sampled_from((1, 1, 2, 30, 5_000)))
primes = st.tuples(st.integers(1, 3_000), st.sampled_from(PRIMES), st.integers(0, 3))


def given_price(
    sizes: list[Sizes], measures: list[str], technique: str, slicing: str, reading: str, rate: str, keys: int
) -> tuple[list[Candidate], Price]:
    queries = [
        weft.Query(f"q{i}", measure, weft.Window.of(*(part * SECOND for part in size)), group_by="k")
        for i, (measure, size) in enumerate(zip(measures, sizes, strict=True))
    ]
    known = weft.Stats(Fraction(rate), keys, TYPES)
    return alone(weft.Workload(queries), known, technique, slicing, reading)


@st.composite
def families(
    draw: st.DrawFn, technique: str, sizes: st.SearchStrategy[Sizes], least: int = 2
) -> tuple[list[Candidate], Price]:
    drawn = draw(st.lists(sizes, min_size=least, max_size=7))
    kinds = MEASURES.get(technique, ["max(x)", "sum(n)", "avg(n)", "count(*)"])
    measures = draw(st.lists(st.sampled_from(kinds), min_size=len(drawn), max_size=len(drawn)))
    slicing = draw(st.sampled_from(("panes", "pairs", "cutty")))
    reading = draw(st.sampled_from(("operations", "quick", "refined")))
    return given_price(drawn, measures, technique, slicing, reading, *draw(stats))


def members(trees: list[Candidate]) -> list[list[int]]:
    return sorted(tree.queries.tolist() for tree in trees)


def agrees(queries: list[Candidate], price: Price, edges: Any = edges_of) -> None:
    trees, saved = greedy(queries, price.cost, lambda x, y: together((x, y)))
    forest = Forest(queries, price, edges)
    assert weave(forest) == saved
    assert members(forest.candidates()) == members(trees)
    assert members(list(weave_share(queries, price).trees)) == members(trees)


@pytest.mark.parametrize("technique", TECHNIQUES)
@fewer(2)
@given(data=st.data())
def test_edges_in_bit_sets(technique: str, data: st.DataObject) -> None:
    agrees(*data.draw(families(technique, plain_sizes)))


@pytest.mark.parametrize("technique", TECHNIQUES)
@fewer(4)
@given(data=st.data())
def test_edges_too_many_for_bit_sets(technique: str, data: st.DataObject) -> None:
    queries, price = data.draw(families(technique, primes, 3))
    assume(isinstance(edges_of(queries), _Pairs))
    agrees(queries, price)


@pytest.mark.parametrize("edges", [_Pairs, Live])
@given(data=st.data())
def test_every_way_to_keep_edges(edges: Any, data: st.DataObject) -> None:
    agrees(*data.draw(families(data.draw(st.sampled_from(TECHNIQUES)), plain_sizes)), edges)


@fewer(2)
@given(data=st.data())
def test_edges_too_many_to_compare_class_by_class(data: st.DataObject) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tree_edges, "_WIDE", 0)
        agrees(*data.draw(families(data.draw(st.sampled_from(TECHNIQUES)), plain_sizes)), _Pairs)


@fewer(2)
@given(data=st.data())
def test_ceilings_are_above_the_benefits(data: st.DataObject) -> None:
    """Also after merges, when what trees have in common is only known as a bound."""
    sizes = data.draw(st.sampled_from((plain_sizes, primes)))
    queries, price = data.draw(families(data.draw(st.sampled_from(TECHNIQUES)), sizes))
    forest = Forest(queries, price)
    while np.count_nonzero(forest.alive) > 1:
        alive = np.flatnonzero(forest.alive).tolist()
        for i in alive:
            ceilings = forest.ceilings(i)
            for j in alive:
                if i != j:
                    exact = forest.benefit(min(i, j), max(i, j))
                    assert Fraction(float(ceilings[j])) >= exact
                    if forest.tight:
                        assert float(ceilings[j]) <= float(exact) + 2 * forest.slack + 1e-12
        forest.merge(alive[0], data.draw(st.sampled_from(alive[1:])))


@fewer(2)
@given(data=st.data())
def test_queries_join_where_they_save_most(data: st.DataObject) -> None:
    """Insert-then-Weave, written down plainly: one by one, then the greedy loop."""
    queries, price = data.draw(families(data.draw(st.sampled_from(TECHNIQUES)), plain_sizes))
    trees: list[Any] = []
    for query in queries:
        saved = [price.cost(tree) + price.cost(query) - price.cost(together((tree, query))) for tree in trees]
        if saved and max(saved) > 0:
            at = saved.index(max(saved))
            trees[at] = together((trees[at], query))
        else:
            trees.append(query)
    woven, _ = greedy(trees, price.cost, lambda x, y: together((x, y)))
    assert members(list(insert_then_weave(queries, price).trees)) == members(woven)


def test_many_equal_benefits_go_to_the_first_pair() -> None:
    """Forty windows over the same edges: every merge saves one pass, and each goes into the first tree."""
    sizes: list[Sizes] = [(4 * i + 4, 4) for i in range(40)]
    queries, price = given_price(sizes, ["max(x)"] * 40, "panes", "pairs", "operations", "1.2", 1)
    forest = Forest(queries, price)
    assert weave(forest) == [Fraction(6, 5)] * 39
    assert members(forest.candidates()) == [list(range(40))]


def test_dirty_trees_are_the_only_ones_to_merge() -> None:
    """Three pairs with equal edges; one tree is dirty, and only its own merge is made."""
    sizes: list[Sizes] = [(4, 4), (8, 4), (5, 5), (10, 5), (7, 7), (14, 7)]
    queries, price = given_price(sizes, ["max(x)"] * 6, "panes", "pairs", "operations", "0.05", 1)
    forest = Forest(queries, price)
    assert weave(forest, [3]) == [Fraction(1, 20)]
    assert members(forest.candidates()) == [[0], [1], [2, 3], [4], [5]]


@fewer(4)
@given(
    sizes=st.lists(primes, min_size=8, max_size=14),
    rate=st.sampled_from(("0.0005", "0.01", "0.2")),
    guessed=st.booleans(),
)
def test_trees_that_are_cut_everywhere_are_one(sizes: list[Sizes], rate: str, guessed: bool) -> None:
    """Two trees that cannot be counted have the same edges, and one pass less costs less."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prices, "_STEPS", 0)
        patch.setattr(tree_edges, "_CERTAIN", 0 if guessed else 64)
        cut.cache_clear()
        queries, price = given_price(sizes, ["max(x)"] * len(sizes), "panes", "pairs", "operations", rate, 1)
        trees = weave_share(queries, price).trees
        everywhere = [tree for tree in trees if cut(tree.classes)[0] != tree.classes]
        cut.cache_clear()
    assert len(everywhere) <= 1
    assert sorted(i for tree in trees for i in tree.queries.tolist()) == list(range(len(sizes)))
