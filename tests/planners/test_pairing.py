"""Query pairing's own numbers and law: Chung, Guirguis and Kurdia, COCOON 2014, appendix "Query pairing"."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.planners.plain import Sizes, benefit, partition, plain_sizes, planned

CASES = {
    # the rate, what the best pairs save, what pairs chosen greedily save, and the best pairs where there is one way
    "greedy loses": ([(6, 6), (6, 2), (36, 12), (9, 3)], "2", "35/12", "31/12", [[0, 1], [2, 3]]),
    "greedy does": (
        [(16, 4), (10, 5), (8, 4), (12, 9), (10, 6), (20, 5)],
        "1.2",
        "421/135",
        "421/135",
        [[0, 2], [1, 5], [3, 4]],
    ),
}


def saved_greedily(sizes: list[Sizes], rate: Fraction) -> Fraction:
    """The pair that saves most, then the best of the rest, and so on."""
    left, saved = list(range(len(sizes))), Fraction(0)
    while len(left) > 1:
        found = {(i, j): benefit([sizes[i]], [sizes[j]], rate) for i, j in combinations(left, 2)}
        pair = max(found, key=lambda pair: found[pair])
        if found[pair] <= 0:
            break
        saved += found[pair]
        left = [i for i in left if i not in pair]
    return saved


def saved_at_best(sizes: list[Sizes], rate: Fraction) -> Fraction:
    """By dynamic programming over the sets of queries that are left."""

    @cache
    def among(left: int) -> Fraction:
        if not left:
            return Fraction(0)
        i = left.bit_length() - 1
        rest = left ^ (1 << i)
        partners = [j for j in range(i) if rest >> j & 1]
        return max(
            among(rest),
            *(benefit([sizes[i]], [sizes[j]], rate) + among(rest ^ (1 << j)) for j in partners),
            Fraction(0),
        )

    return among((1 << len(sizes)) - 1)


def saved(sizes: list[Sizes], rate: Fraction) -> Fraction:
    return planned(sizes, rate, "no_share").cost - planned(sizes, rate, "pairing").cost


@pytest.mark.parametrize(("sizes", "rate", "best", "greedy", "trees"), CASES.values(), ids=CASES)
def test_savings(sizes: list[Sizes], rate: str, best: str, greedy: str, trees: list[list[int]]) -> None:
    assert saved(sizes, Fraction(rate)) == Fraction(best)
    assert saved_greedily(sizes, Fraction(rate)) == Fraction(greedy)
    assert partition(planned(sizes, Fraction(rate), "pairing")) == trees


rates = st.sampled_from(("0.2", "0.7", "1.2", "3")).map(Fraction)


@given(sizes=st.lists(plain_sizes, min_size=1, max_size=10), rate=rates)
def test_no_pairs_save_more(sizes: list[Sizes], rate: Fraction) -> None:
    found = saved(sizes, rate)
    assert found == saved_at_best(sizes, rate) >= saved_greedily(sizes, rate)
    assert max(map(len, partition(planned(sizes, rate, "pairing")))) <= 2


def test_a_pair_that_saves_nothing_stays_apart() -> None:
    """Weight is maximised, not the number of pairs: windows of 2 and 3 save nothing at 1/2 rows a second."""
    assert partition(planned([(2, 2), (3, 3)], Fraction(1, 2), "pairing")) == [[0], [1]]
    assert partition(planned([(2, 2), (3, 3)], Fraction("0.51"), "pairing")) == [[0, 1]]
