"""Two stacks, lite: folds of the older slices down to a border, one fold of the newer ones.

    slices     0   1   2   3 | 4   5         border 4
    front      0-3 1-3 2-3 3 |               folds up to the border, made at once when the front runs empty
    back                       4-5           one fold

A window that begins at 2 is front[2] then back: nothing is ever subtracted, so what has left is gone. A slice takes
part in three combines: when it comes in, when the border is moved behind it, and in the answer (folklore; Tangwongsan,
Hirzel and Schneider, "In-order sliding-window aggregation in worst-case constant time", VLDB Journal 2021, for the lite
form, which keeps one value per slice). The border moves rarely and then by many slices: a loop over an array, which is
why a vector of slides takes a nanosecond or two each.

Invariant: cells[p mod ring] is the fold of slices p, ..., border - 1 for p before the border, and slice p after it;
back is the fold of slices border, ..., at - 1.
"""

from __future__ import annotations

from typing import NamedTuple

from weft.algebra.operators import Matrix, Operator, cells, combine, load, store
from weft.jit import kernel
from weft.techniques.omega import Omega
from weft.techniques.technique import AT, OWN, Positions, Shape, Technique, registers, ring

BORDER = OWN


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
    """Push, flip where the window begins behind the border, and combine the two tops."""
    slots = state.cells
    begin = at = state.registers[AT]
    border, mask = state.registers[BORDER], len(slots) - 1
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
    while at < begin + len(partials):
        partial = load(operator, partials, at - begin)
        store(operator, slots, at & mask, partial)
        back = combine(operator, back, partial)
        at += 1
    state.registers[AT], state.registers[BORDER] = at, border
    store(operator, state.back, 0, back)


TECHNIQUE = Technique(
    name="two_stacks_lite",
    title="Two stacks, lite",
    first_appeared="Tangwongsan, Hirzel and Schneider, VLDB Journal 2021",
    ranges="one",
    time="3 per slide, n at worst",
    space="n + 1",
    needs=frozenset(),
    omega=Omega("3", lambda load: 3),
    init=init,
    slide=slide,
    one_range=True,
)
