"""Two stacks: a queue with a fold, as two stacks with one fold each.

    front, evicted from the top         back, pushed to the top
    slice 1, fold of 1 2 3              slice 5, fold of 4 5
    slice 2, fold of   2 3              slice 4, fold of 4
    slice 3, fold of     3

The window's fold is the front's top fold then the back's. When the front is empty, the back is turned over into it, a
combine per slice, which is the whole window at worst (folklore; Tangwongsan, Hirzel and Schneider, DEBS 2017). Every
slice is kept beside its fold; `two_stacks_lite.py` does without.

Invariant: at p mod ring, cells has slice p, and folds has the fold of slices p, ..., border - 1 before the border and
of slices border, ..., p from the border on.
"""

from __future__ import annotations

from typing import NamedTuple

from weft.algebra.operators import Matrix, Operator, cells, combine, load, store
from weft.jit import kernel
from weft.techniques.omega import Omega
from weft.techniques.technique import AT, OWN, Positions, Shape, Technique, registers, ring

BORDER = OWN


class Stacks(NamedTuple):
    """Both stacks, the front before the border."""

    registers: Positions
    cells: Matrix
    folds: Matrix


def init(operator: Operator, shape: Shape) -> Stacks:
    """Two empty stacks."""
    size = ring(shape.widest)
    return Stacks(registers(shape, 0), cells(operator, size), cells(operator, size))


@kernel
def slide(operator, state, partials, lo, hi, of, out):
    """Push, turn the back over where the front is empty, and combine the two tops."""
    slices, folds = state.cells, state.folds
    begin = at = state.registers[AT]
    border, mask = state.registers[BORDER], len(slices) - 1
    for j in range(len(lo) + 1):
        end = hi[j] if j < len(lo) else begin + len(partials)
        while at < end:
            top = load(operator, partials, at - begin)
            store(operator, slices, at & mask, top)
            if at > border:
                top = combine(operator, load(operator, folds, (at - 1) & mask), top)
            store(operator, folds, at & mask, top)
            at += 1
        if j == len(lo):
            break
        if lo[j] >= border:
            top = load(operator, slices, (at - 1) & mask)
            store(operator, folds, (at - 1) & mask, top)
            for p in range(at - 2, lo[j] - 1, -1):
                top = combine(operator, load(operator, slices, p & mask), top)
                store(operator, folds, p & mask, top)
            border = at
        top = load(operator, folds, lo[j] & mask)
        if border < at:
            top = combine(operator, top, load(operator, folds, (at - 1) & mask))
        store(operator, out, j, top)
    state.registers[AT], state.registers[BORDER] = at, border


TECHNIQUE = Technique(
    name="two_stacks",
    title="Two stacks",
    first_appeared="folklore; Tangwongsan, Hirzel and Schneider, DEBS 2017",
    ranges="one",
    time="3 per slide, n at worst",
    space="2 n",
    needs=frozenset(),
    omega=Omega("3 per edge", lambda load: 3),
    init=init,
    slide=slide,
    one_range=True,
)
