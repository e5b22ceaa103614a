"""B-INT-QNT: base intervals with their elements in order, for quantiles.

    elements    5  1  4  2 | 8  3  3  9 |
    level 1     [1 5]  [2 4]  [3 8]  [3 9]
    level 2     [1 2 4 5]     [3 3 8 9]           the median of elements 1 to 6: of 1 | 2 4 | 3 8 | 3

A block is merged from its two halves when its last element comes in. A window is covered by a few blocks, as in B-INT,
and its quantile is selected from their sorted runs: of what may still be the answer, the weighted median of the runs'
medians splits off a quarter at least each time (Arasu and Widom, VLDB 2004, section 3.3). The quantile of n elements is
the one at position max(1, floor(phi n)); phi is a fraction, as the float 0.29 is a little less than 29/100.

Elements are integers that sort as the values do (`algebra/ordering.py`), one a slice. A quantile is holistic: no fixed
number of partials makes one, so this is the one technique that keeps elements.

Invariant: element p of level k stands at k ring + p mod ring; blocks of 2^k elements are sorted.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from weft.algebra.operators import Components, Matrix
from weft.algebra.partials import Law
from weft.errors import BadRequest
from weft.jit import kernel
from weft.techniques.demand import Load
from weft.techniques.omega import Omega, ceil_log2
from weft.techniques.technique import AT, OWN, Positions, Shape, Technique, registers, ring

LEVELS = OWN
_FEW = 8
"""Candidates that are simply sorted."""


class Quantile(NamedTuple):
    """What is asked for, by query: numerator and denominator of phi."""

    phis: npt.NDArray[np.int64]
    identity: Components = (0,)


def quantile(phis: Iterable[Fraction | str]) -> Quantile:
    """The quantiles that the queries ask for, exactly: `quantile(["1/2", "0.99"])`."""
    exact = []
    for phi in phis:
        if isinstance(phi, float) or not 0 < Fraction(phi) <= 1:
            raise BadRequest(f"phi is {phi!r}", field="quantile", remedy="Give a fraction from 0 to 1, as '0.99'")
        exact.append(Fraction(phi).as_integer_ratio())
    return Quantile(np.array(exact, np.int64))


class Runs(NamedTuple):
    """Elements of all levels, and room for a window's runs."""

    registers: Positions
    cells: Matrix
    begins: Positions
    ends: Positions


def init(operator: Any, shape: Shape) -> Runs:
    """No elements."""
    size = ring(shape.kept)
    levels = size.bit_length()
    begins, ends = (np.zeros(2 * levels + 2, np.int64) for _ in range(2))
    return Runs(registers(shape, levels), np.zeros((levels, size), np.int64), begins, ends)


@kernel
def slide(operator, state, partials, lo, hi, of, out):
    """Merge the blocks that end with an element; select from those that cover a window."""
    begin = at = state.registers[AT]
    cells, levels = state.cells, state.registers[LEVELS]
    mask = cells.shape[1] - 1
    for j in range(len(lo) + 1):
        end = hi[j] if j < len(lo) else begin + len(partials)
        while at < end:
            cells[0, at & mask] = partials[at - begin, 0]
            at += 1
            level = 1
            while level < levels and at & ((1 << level) - 1) == 0:
                half = 1 << (level - 1)
                first = (at - 2 * half) & mask
                _merge(cells[level - 1], cells[level], first, half)
                level += 1
        if j == len(lo):
            break
        count, p = 0, lo[j]
        while p < hi[j]:
            level = 0
            while level + 1 < levels and p & ((2 << level) - 1) == 0 and p + (2 << level) <= hi[j]:
                level += 1
            # a run's place is its level and its ring together, so that one number says where it is
            state.begins[count] = level * (mask + 1) + (p & mask)
            state.ends[count] = state.begins[count] + (1 << level)
            count += 1
            p += 1 << level
        rank = max((hi[j] - lo[j]) * operator.phis[of[j], 0] // operator.phis[of[j], 1], 1)
        out[j, 0] = _select(cells.reshape(-1), state.begins, state.ends, count, rank)
    state.registers[AT] = at


@kernel
def _merge(halves, whole, first, half):
    """Two sorted halves, which stand next to each other, as one."""
    left, right, left_end, right_end = first, first + half, first + half, first + 2 * half
    for place in range(first, right_end):
        if right == right_end or (left < left_end and halves[left] <= halves[right]):
            whole[place] = halves[left]
            left += 1
        else:
            whole[place] = halves[right]
            right += 1


@kernel
def _below(cells, begin, end, value, or_equal):
    """How far a sorted run is below a value, or equal to it."""
    while begin < end:
        middle = (begin + end) // 2
        if cells[middle] < value or (or_equal and cells[middle] == value):
            begin = middle + 1
        else:
            end = middle
    return begin


@kernel
def _select(cells, begins, ends, runs, rank):
    """The element of a rank, from 1, among sorted runs; the runs are narrowed in place."""
    while True:
        total = 0
        for run in range(runs):
            total += ends[run] - begins[run]
        if total <= _FEW:
            break
        pivot = _weighted_median(cells, begins, ends, runs, total)
        below = upto = 0
        for run in range(runs):
            below += _below(cells, begins[run], ends[run], pivot, False) - begins[run]
            upto += _below(cells, begins[run], ends[run], pivot, True) - begins[run]
        if below < rank <= upto:
            return pivot
        for run in range(runs):
            if rank <= below:
                ends[run] = _below(cells, begins[run], ends[run], pivot, False)
            else:
                begins[run] = _below(cells, begins[run], ends[run], pivot, True)
        if rank > upto:
            rank -= upto
    left = np.empty(_FEW, np.int64)
    count = 0
    for run in range(runs):
        for place in range(begins[run], ends[run]):
            here = count
            while here > 0 and left[here - 1] > cells[place]:
                left[here] = left[here - 1]
                here -= 1
            left[here] = cells[place]
            count += 1
    return left[rank - 1]


@kernel
def _weighted_median(cells, begins, ends, runs, total):
    """Of the runs' medians the one with half of all elements in runs of no larger medians."""
    best = cells[0]
    found = False
    for run in range(runs):
        if begins[run] == ends[run]:
            continue
        median = cells[(begins[run] + ends[run]) // 2]
        weight = 0
        for other in range(runs):
            if begins[other] < ends[other] and cells[(begins[other] + ends[other]) // 2] <= median:
                weight += ends[other] - begins[other]
        if 2 * weight >= total and (not found or median < best):
            best, found = median, True
    return best


def _operations(load: Load) -> Any:
    """An element is merged once a level; for an answer, the runs are searched once a level or so."""
    levels = ceil_log2(load.slices)
    return levels + load.due * levels * levels


TECHNIQUE = Technique(
    name="b_int_qnt",
    title="B-INT-QNT (base intervals for quantiles)",
    first_appeared="Arasu and Widom, VLDB 2004",
    ranges="any, historical too",
    time="log2(n) per element, about log2(n)^2 per answer",
    space="n log2(n)",
    needs=frozenset({Law.RANKED}),
    omega=Omega("ceil(log2(P)) + answers per edge x ceil(log2(P))^2", _operations),
    init=init,
    slide=slide,
    historical=True,
)
