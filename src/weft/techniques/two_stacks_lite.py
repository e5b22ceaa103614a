"""Two stacks, lite: folds of the older slices down to a border, one fold of the newer ones.

    slices     0   1   2   3 | 4   5         border 4
    front      0-3 1-3 2-3 3 |               folds up to the border, made at once when the front runs empty
    back                       4-5           one fold

A window that begins at 2 is front[2] then back: nothing is ever subtracted, so what has left is gone. A slice takes
part in three combines: when it comes in, when the border is moved behind it, and in the answer (folklore; Tangwongsan,
Hirzel and Schneider, "In-order sliding-window aggregation in worst-case constant time", VLDB Journal 2021, for the lite
form, which keeps one value per slice). The border moves rarely and then by many slices: a loop over an array.

Where a wide window moves on by one slice at a time, all that happens until the border moves next is known beforehand,
and is a loop over arrays too: prefixes and suffixes of blocks (van Herk, Pattern Recognition Letters 1992; Gil and
Werman, PAMI 1993). So a vector of slides takes a nanosecond or two each.

    slices      0   1   2   3 | 4   5   6   7       windows of 5 slices:
    suffixes    0-3 1-3 2-3 3 |                     0-3 then 4, 1-3 then 4-5, 2-3 then 4-6, 3 then 4-7
    prefixes                    4   4-5 4-6 4-7

Invariant: cells[p mod ring] is the fold of slices p, ..., border - 1 for p before the border, and slice p after it;
back is the fold of slices border, ..., at - 1.
"""

from __future__ import annotations

from typing import NamedTuple

from weft.algebra.operators import Matrix, Operator, cells, combine, load, store
from weft.jit import kernel
from weft.techniques.omega import Omega
from weft.techniques.technique import AT, OWN, Positions, Shape, Technique, in_step, registers, ring

BORDER = OWN
_TOGETHER = 1 << 12
"""Windows that are looked at together, whether they move on in step."""
_WIDE = 128
"""Slices of a window from which on its loops are long enough to be quicker than one window after the other."""


class Stacks(NamedTuple):
    """The front as folds, the back as slices and one fold."""

    registers: Positions
    cells: Matrix
    back: Matrix


def init(operator: Operator, shape: Shape) -> Stacks:
    """Two empty stacks."""
    back = cells(operator, 1)
    back[0] = operator.identity
    return Stacks(registers(shape, 0), cells(operator, ring(shape.widest)), back)


@kernel
def slide(operator, state, partials, lo, hi, of, out):
    """Some windows at a time, in step or one by one."""
    begin = state.registers[AT]
    for j in range(0, len(lo), _TOGETHER):
        begins, ends, answers = lo[j : j + _TOGETHER], hi[j : j + _TOGETHER], out[j : j + _TOGETHER]
        if ends[0] > state.registers[AT] and ends[0] - begins[0] >= _WIDE and in_step(begins, ends):
            _push(operator, state, partials, begin, ends[0] - 1)
            _in_step(operator, state, partials[ends[0] - 1 - begin :], begins, answers)
        else:
            _one_by_one(operator, state, partials, begin, begins, ends, answers)
    _push(operator, state, partials, begin, begin + len(partials))


@kernel
def _one_by_one(operator, state, partials, begin, lo, hi, out):
    """Push, flip where the window begins behind the border, and combine the two tops."""
    slots = state.cells
    at, border, mask = state.registers[AT], state.registers[BORDER], len(slots) - 1
    back = load(operator, state.back, 0)
    for j in range(len(lo)):
        while at < hi[j]:
            partial = load(operator, partials, at - begin)
            store(operator, slots, at & mask, partial)
            back = combine(operator, back, partial)
            at += 1
        if lo[j] >= border:
            folded = load(operator, slots, (at - 1) & mask)
            for p in range(at - 2, lo[j] - 1, -1):
                folded = combine(operator, load(operator, slots, p & mask), folded)
                store(operator, slots, p & mask, folded)
            border, back = at, operator.identity
        store(operator, out, j, combine(operator, load(operator, slots, lo[j] & mask), back))
    state.registers[AT], state.registers[BORDER] = at, border
    store(operator, state.back, 0, back)


@kernel
def _in_step(operator, state, partials, lo, out):
    """The same for windows that move on by one slice each, the next of `partials` being the last slice of the first."""
    slots = state.cells
    at, border, mask = state.registers[AT], state.registers[BORDER], len(slots) - 1
    back = load(operator, state.back, 0)
    j = 0
    while j < len(lo):
        if lo[j] >= border:
            folded = load(operator, slots, (at - 1) & mask)
            for age in range(2, at - lo[j] + 1):  # counting down, a long loop over integers takes twice as long
                folded = combine(operator, load(operator, slots, (at - age) & mask), folded)
                store(operator, slots, (at - age) & mask, folded)
            border, back = at, operator.identity
        front, place = lo[j] & mask, at & mask
        count = min(len(lo) - j, border - lo[j], len(slots) - front, len(slots) - place)
        for i in range(count):  # no border, and no end of the ring
            partial = load(operator, partials, j + i)
            store(operator, slots, place + i, partial)
            back = combine(operator, back, partial)
            store(operator, out, j + i, combine(operator, load(operator, slots, front + i), back))
        at += count
        j += count
    state.registers[AT], state.registers[BORDER] = at, border
    store(operator, state.back, 0, back)


@kernel
def _push(operator, state, partials, begin, end):
    """Slices that no window ends with."""
    slots = state.cells
    at, mask = state.registers[AT], len(slots) - 1
    back = load(operator, state.back, 0)
    while at < end:
        partial = load(operator, partials, at - begin)
        store(operator, slots, at & mask, partial)
        back = combine(operator, back, partial)
        at += 1
    state.registers[AT] = at
    store(operator, state.back, 0, back)


TECHNIQUE = Technique(
    name="two_stacks_lite",
    title="Two stacks, lite",
    first_appeared="Tangwongsan, Hirzel and Schneider, VLDB Journal 2021",
    ranges="one",
    time="3 per slide, n at worst",
    space="n + 1",
    needs=frozenset(),
    omega=Omega("3 per edge", lambda load: 3),
    init=init,
    slide=slide,
    one_range=True,
)
