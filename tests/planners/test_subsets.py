"""The cheapest partition by dynamic programming over subsets, against recursion; and the costs that it starts from."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import weft
from tests.planners.plain import TYPES, alone, different, fewer, partitions, plain_sizes, workload
from weft.planners import subsets
from weft.planners.candidates import together
from weft.planners.subsets import cheapest, subset_costs


def by_recursion(costs: list[int]) -> int:
    """The least over all set partitions, the costs of sets looked up by their bits."""
    count = len(costs).bit_length() - 1
    return min(sum(costs[sum(1 << i for i in tree)] for tree in trees) for trees in partitions(range(count)))


@given(data=st.data(), count=st.integers(1, 7))
def test_any_costs(data: st.DataObject, count: int) -> None:
    """Not only those of trees: costs at random, zero and negative ones among them."""
    costs = [0, *data.draw(st.lists(st.integers(-20, 99), min_size=(1 << count) - 1, max_size=(1 << count) - 1))]
    least, trees = cheapest(np.array(costs, np.float64))
    assert least == by_recursion(costs) == sum(costs[tree] for tree in trees)
    assert sum(trees) == (1 << count) - 1
    assert np.bitwise_or.reduce(trees) == sum(trees)


@pytest.mark.parametrize("leaf", [0, 1, 2, 3])
@given(seed=st.integers(0, 10_000))
def test_halving_like_a_product_of_polynomials(leaf: int, seed: int) -> None:
    """Tables of every size at the leaves give the same answer."""
    costs = np.random.default_rng(seed).integers(0, 50, 1 << 6).astype(np.float64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subsets, "_LEAF", leaf)
        assert cheapest(costs)[0] == by_recursion([0, *costs[1:].astype(int).tolist()])


def test_more_elements_than_a_leaf_holds() -> None:
    """Eleven elements that cost their square alone, and twos that cost one: five pairs and a single are the best."""
    sizes = np.bitwise_count(np.arange(1 << 11, dtype=np.uint64)).astype(np.float64)
    costs = np.where(sizes == 2, 1.0, sizes**2)
    least, trees = cheapest(costs)
    assert least == 6
    assert sorted(tree.bit_count() for tree in trees) == [1, 2, 2, 2, 2, 2]


techniques = st.sampled_from(("auto", "panes", "flatfit", "slickdeque_noninv", "flatfat", "b_int"))


@fewer(2)
@given(
    sizes=st.lists(plain_sizes, min_size=1, max_size=6),
    rate=st.sampled_from(("0.1", "3", "50")).map(Fraction),
    keys=st.sampled_from((1, 7, 5_000)),
    technique=techniques,
    reading=st.sampled_from(("operations", "refined")),
)
def test_what_every_set_costs(
    sizes: list[tuple[int, ...]], rate: Fraction, keys: int, technique: str, reading: str
) -> None:
    asked = workload(sizes, "max(x)", group_by="k")
    queries, price = alone(asked, weft.Stats(rate, keys, TYPES), technique, reading=reading)
    costs = subset_costs(queries, price)
    assert costs is not None
    for bits in range(1, 1 << len(queries)):
        tree = together([query for i, query in enumerate(queries) if bits >> i & 1])
        assert costs[bits] == pytest.approx(float(price.cost(tree)), rel=1e-12)


@given(sizes=different(1, 4))
def test_too_many_sets_to_price(sizes: list[tuple[int, ...]]) -> None:
    queries, price = alone(workload(sizes), weft.Stats(3), "flatfat")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subsets, "ONE_BY_ONE", len(queries) - 1)
        assert subset_costs(queries, price) is None
        patch.setattr(subsets, "ONE_BY_ONE", len(queries))
        assert subset_costs(queries, price) is not None
        patch.setattr(subsets, "MOST", len(queries) - 1)
        assert subset_costs(queries, price) is None
