"""Panes: fold each window from its slices, every time.

The naive final aggregation of the papers (Guirguis et al., CIKM 2011, equation 2: each slice belongs to range / slide
windows of a query). Nothing is shared between windows, so it is the baseline, and the best choice for windows of one
or two slices. Where windows move on by one slice at a time, many are folded beside each other, which a processor does
for several in one instruction: up to two dozen slices or so, nothing is quicker.

    slices        3   1   4   1   5   9           windows of 3, all of them by one slice at a time:
    windows       3   1   4   1                   first slices
                  4   5   5   6                   then 1 4 1 5 is added
                  8   6  10  15                   then 4 1 5 9

Invariant: cells[p mod ring] is slice p, for the slices that are kept.
"""

from __future__ import annotations

from typing import NamedTuple

from weft.algebra.operators import Matrix, Operator, cells, combine, load, store
from weft.jit import kernel
from weft.techniques.omega import Omega, overlap
from weft.techniques.technique import AT, Positions, Shape, Technique, in_step, registers, ring

_TOGETHER = 1 << 10
"""Windows that are looked at together, whether they move on in step: as many as stay in the nearest cache."""


class Slices(NamedTuple):
    """The slices that are kept."""

    registers: Positions
    cells: Matrix


def init(operator: Operator, shape: Shape) -> Slices:
    """No slices."""
    return Slices(registers(shape), cells(operator, ring(shape.kept)))


@kernel
def slide(operator, state, partials, lo, hi, of, out):
    """Some windows at a time, in step or one by one."""
    begin = state.registers[AT]
    j = 0
    while j < len(lo):
        count = _TOGETHER if lo[j] >= begin else min(begin - lo[j], _TOGETHER)
        begins, ends, answers = lo[j : j + count], hi[j : j + count], out[j : j + count]
        j += count
        if begins[0] >= begin and in_step(begins, ends):
            _in_step(operator, partials[begins[0] - begin :], ends[0] - begins[0], answers)
        else:
            _one_by_one(operator, state, partials, begin, begins, ends, answers)
    _push(operator, state, partials, begin, begin + len(partials))


@kernel
def _one_by_one(operator, state, partials, begin, lo, hi, out):
    """Every window from scratch."""
    slices, at, mask = state.cells, state.registers[AT], len(state.cells) - 1
    for j in range(len(lo)):
        while at < hi[j]:
            store(operator, slices, at & mask, load(operator, partials, at - begin))
            at += 1
        folded = load(operator, slices, lo[j] & mask)
        for p in range(lo[j] + 1, hi[j]):
            folded = combine(operator, folded, load(operator, slices, p & mask))
        store(operator, out, j, folded)
    state.registers[AT] = at


@kernel
def _in_step(operator, partials, width, out):
    """Windows that move on by one slice each, from the first of `partials` on: a slice of each, then the next."""
    for j in range(len(out)):
        store(operator, out, j, load(operator, partials, j))
    newer = 1
    while newer + 4 <= width:  # four at a time, for the answers' way to memory and back
        for j in range(len(out)):
            folded = combine(operator, load(operator, out, j), load(operator, partials, newer + j))
            folded = combine(operator, folded, load(operator, partials, newer + j + 1))
            folded = combine(operator, folded, load(operator, partials, newer + j + 2))
            store(operator, out, j, combine(operator, folded, load(operator, partials, newer + j + 3)))
        newer += 4
    for last in range(newer, width):
        for j in range(len(out)):
            store(operator, out, j, combine(operator, load(operator, out, j), load(operator, partials, last + j)))


@kernel
def _push(operator, state, partials, begin, end):
    """Keep slices that no window, or one in step, ends with."""
    slices, at, mask = state.cells, state.registers[AT], len(state.cells) - 1
    for p in range(max(at, end - len(slices)), end):
        store(operator, slices, p & mask, load(operator, partials, p - begin))
    state.registers[AT] = max(at, end)


TECHNIQUE = Technique(
    name="panes",
    title="Panes (naive final aggregation)",
    first_appeared="Li, Maier, Tufte, Papadimos and Tucker, SIGMOD Record 2005",
    ranges="any, historical too",
    time="n - 1 per answer",
    space="n",
    needs=frozenset(),
    omega=Omega("sum of range/slide", overlap, floor=overlap, adds_up=True),
    init=init,
    slide=slide,
    historical=True,
)
