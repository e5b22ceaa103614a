"""Base intervals, landmarks and quantiles: worked examples of Arasu and Widom, VLDB 2004, and what they leave open."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.algebra.operators import MAX
from weft.errors import BadRequest
from weft.techniques import b_int_qnt, l_int, slickdeque_noninv
from weft.techniques.b_int import cover
from weft.techniques.b_int_qnt import quantile
from weft.techniques.technique import Shape


def test_example_3_1() -> None:
    """Positions 1 to 43. The printed cover, (1, 2), (3, 4), (5, 8), ..., is valid and not the smallest."""
    assert cover(0, 43) == [(0, 32), (32, 40), (40, 42), (42, 43)]


@pytest.mark.parametrize(
    ("positions", "expected"),
    [
        ((3, 43), [(3, 4), (5, 8), (9, 16), (17, 32), (33, 40), (41, 42), (43, 43)]),
        ((385, 512), [(385, 512)]),
        ((5, 5), [(5, 5)]),
        ((2, 9), [(2, 2), (3, 4), (5, 8), (9, 9)]),
    ],
)
def test_covers(positions: tuple[int, int], expected: list[tuple[int, int]]) -> None:
    first, last = positions
    assert [(lo + 1, hi) for lo, hi in cover(first - 1, last)] == expected


@given(lo=st.integers(0, 5_000), size=st.integers(1, 3_000))
def test_covers_are_aligned_and_have_no_gap(lo: int, size: int) -> None:
    found = cover(lo, lo + size)
    assert [found[0][0], *(hi for _, hi in found)] == [*(lo for lo, _ in found), lo + size]
    assert all((hi - lo).bit_count() == 1 and lo % (hi - lo) == 0 for lo, hi in found)
    assert len(found) <= 2 * size.bit_length()


def test_example_3_2() -> None:
    """Landmarks every 1,000: positions 3,257 to 5,164 are 3,257 to 3,999 and 4,000 to 5,164 (counted from 0 here)."""
    assert l_int.parts([1_000, 1_500, 2_000]) == [(1_000, 2_000)]
    state = l_int.TECHNIQUE.start(MAX, Shape(2_000, widths=(1_000, 1_908, 2_000)))
    slices = np.random.default_rng(0).permutation(5_165).reshape(-1, 1)
    found = l_int.TECHNIQUE.advance(MAX, state, slices, np.array([3_257]), np.array([5_165]))
    landmark, left = 4, 4_000 - 3_257
    slot = landmark % int(state.kept[0])  # type: ignore[attr-defined]
    left_fold = state.left[state.lefts[0] + slot * 999 + left - 1]  # type: ignore[attr-defined]
    assert left_fold[0] == slices[3_257:4_000].max()
    assert found[0, 0] == slices[3_257:5_165].max()


@given(widths=st.sets(st.integers(1, 500), min_size=1, max_size=30), c=st.integers(2, 5))
def test_parts_are_as_few_as_can_be(widths: set[int], c: int) -> None:
    found = l_int.parts(widths, c)
    assert all(sum(low <= width <= high for low, high in found) == 1 for width in widths)
    assert all(high <= c * low for low, high in found)
    # the narrowest widths of two parts cannot share one, so no fewer would do
    assert all(later > c * earlier for (earlier, _), (later, _) in pairwise(found))


@pytest.mark.parametrize(
    ("phi", "count", "position"),
    [("1/2", 10, 5), ("1/2", 1, 1), ("7/10", 10, 7), ("1", 7, 7), ("1/100", 10, 1), ("29/100", 100, 29)],
)
def test_positions_of_quantiles(phi: str, count: int, position: int) -> None:
    """Section 3.3: the element at floor(phi N), the first one where that is 0. As floats, 0.29 of 100 would be 28."""
    operator = quantile([phi])
    state = b_int_qnt.TECHNIQUE.start(operator, Shape(count))
    slices = np.random.default_rng(count).permutation(np.arange(1, count + 1)).reshape(-1, 1)
    assert b_int_qnt.TECHNIQUE.advance(operator, state, slices, np.array([0]), np.array([count])) == [[position]]


def test_selection_from_sorted_runs() -> None:
    runs = [[1, 4, 9], [2, 2, 7, 8], [3], [0, 5, 6, 6, 10, 11]]
    together = [value for run in runs for value in run]
    cells, ends = np.array(together), np.cumsum([len(run) for run in runs])
    for phi, value in (("1/4", 2), ("1/2", 5), ("3/4", 7), ("1", 11)):
        rank = max(1, Fraction(phi) * len(together) // 1)
        found = b_int_qnt._select(cells, ends - [len(run) for run in runs], ends.copy(), len(runs), int(rank))
        assert found == value


@given(data=st.data())
def test_quantiles_are_those_of_the_sorted_window(data: st.DataObject) -> None:
    values = data.draw(st.lists(st.integers(-9, 9) | st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=150))
    phis = data.draw(st.lists(st.fractions(0, 1, max_denominator=100).filter(bool), min_size=1, max_size=3))
    widths = data.draw(st.lists(st.integers(1, 150), min_size=len(phis), max_size=len(phis)))
    asked = [(max(hi - w, 0), hi, q) for hi in range(1, len(values) + 1) for q, w in enumerate(widths)]
    lo, hi, of = (np.array(column) for column in zip(*asked, strict=True))
    operator = quantile(phis)
    state = b_int_qnt.TECHNIQUE.start(operator, Shape(max(widths)))
    found = b_int_qnt.TECHNIQUE.advance(operator, state, np.array(values).reshape(-1, 1), lo, hi, of)
    for answer, (first, end, query) in zip(found[:, 0].tolist(), asked, strict=True):
        window = sorted(values[first:end])
        assert answer == window[max(int(phis[query] * len(window)), 1) - 1]


@pytest.mark.parametrize("phi", [0.29, 0, "0", "101/100", -1])
def test_phi_is_an_exact_share(phi: object) -> None:
    with pytest.raises(BadRequest, match="phi is"):
        quantile([phi])  # type: ignore[list-item]


def test_the_deque_of_figure_10() -> None:
    """Shein and Chrysanthis, TKDE 2020: after 4 has come, the deque is 5, 4; range 6 is 5 and range 3 is 4."""
    state = slickdeque_noninv.TECHNIQUE.start(MAX, Shape(6))
    slices = np.array([6, 1, 5, 0, 3, 2, 4]).reshape(-1, 1)
    nothing = np.empty(0, np.int64)

    def nodes() -> list[tuple[int, int]]:
        registers, places, cells = state
        head, tail = registers[-2:].tolist()
        return [(int(places[i % 8]) + 1, int(cells[i % 8, 0])) for i in range(head, tail)]

    slickdeque_noninv.TECHNIQUE.advance(MAX, state, slices[:6], nothing, nothing)
    assert nodes() == [(1, 6), (3, 5), (5, 3), (6, 2)]
    lo, hi = np.array([1, 4]), np.array([7, 7])
    assert slickdeque_noninv.TECHNIQUE.advance(MAX, state, slices[6:], lo, hi)[:, 0].tolist() == [5, 4]
    assert nodes() == [(3, 5), (7, 4)]
