"""DABA Lite: DABA with one value per slice and two more.

    F           L           R           A           B           E
    |  to B     |  to R     |  slices   |  to B     |  slices   |      what stands in the cells of a stretch
                            |-------- middle -------|-- back ---|      and the two folds

Of the folds that start at R and at B only the last one is ever asked for, so two values do for all of them: `middle`
for the slices from R up to B and `back` for those from B on. At most 6 combines a slide (Tangwongsan, Hirzel and
Schneider, "In-order sliding-window aggregation in worst-case constant time", VLDB Journal 2021).
"""

from __future__ import annotations

from typing import NamedTuple

from weft.algebra.operators import Matrix, Operator, cells, combine, load, store
from weft.jit import kernel
from weft.techniques.omega import Omega
from weft.techniques.technique import AT, OWN, Positions, Shape, Technique, registers, ring

F, L, R, A, B = range(OWN, OWN + 5)
MIDDLE, BACK = range(2)


class Queue(NamedTuple):
    """A cell per slice and two folds; the borders are registers, and E is where slices come in."""

    registers: Positions
    cells: Matrix
    folds: Matrix


def init(operator: Operator, shape: Shape) -> Queue:
    """An empty queue."""
    folds = cells(operator, 2)
    folds[:] = operator.identity
    return Queue(registers(shape, 0, 0, 0, 0, 0), cells(operator, ring(shape.widest)), folds)


@kernel
def slide(operator, state, partials, lo, hi, of, out):
    """Evict, push, each with a little mending; then combine the first cell with the back."""
    begin = at = state.registers[AT]
    borders, slots, folds, mask = state.registers, state.cells, state.folds, len(state.cells) - 1
    for j in range(len(lo) + 1):
        end = hi[j] if j < len(lo) else begin + len(partials)
        first = lo[j] if j < len(lo) else max(borders[F], end - len(slots))
        if first >= at:
            at = first
            borders[F] = borders[L] = borders[R] = borders[A] = borders[B] = at
            store(operator, folds, MIDDLE, operator.identity)
            store(operator, folds, BACK, operator.identity)
        while borders[F] < first:
            borders[F] += 1
            _mend(operator, borders, slots, folds, at)
        while at < end:
            partial = load(operator, partials, at - begin)
            store(operator, slots, at & mask, partial)
            store(operator, folds, BACK, combine(operator, load(operator, folds, BACK), partial))
            at += 1
            _mend(operator, borders, slots, folds, at)
        if j < len(lo):
            store(operator, out, j, combine(operator, load(operator, slots, first & mask), load(operator, folds, BACK)))
    state.registers[AT] = at


@kernel
def _mend(operator, borders, slots, folds, at):
    """One step towards a front whose cells all reach B."""
    mask = len(slots) - 1
    if borders[L] == borders[B]:
        borders[L], borders[R], borders[A], borders[B] = borders[F], borders[B], at, at
        store(operator, folds, MIDDLE, load(operator, folds, BACK))
        store(operator, folds, BACK, operator.identity)
    if borders[F] == borders[B]:
        return
    if borders[A] != borders[R]:
        a = borders[A] - 1
        if a + 1 < borders[B]:
            reaching = combine(operator, load(operator, slots, a & mask), load(operator, slots, (a + 1) & mask))
            store(operator, slots, a & mask, reaching)
        borders[A] = a
    if borders[L] != borders[R]:
        here = borders[L] & mask
        store(operator, slots, here, combine(operator, load(operator, slots, here), load(operator, folds, MIDDLE)))
        borders[L] += 1
    else:
        borders[L] += 1
        borders[R] += 1
        borders[A] += 1
        middle = operator.identity if borders[A] == borders[B] else load(operator, slots, borders[A] & mask)
        store(operator, folds, MIDDLE, middle)


TECHNIQUE = Technique(
    name="daba_lite",
    title="DABA Lite",
    first_appeared="Tangwongsan, Hirzel and Schneider, VLDB Journal 2021",
    ranges="one",
    time="4 per slide, 6 at worst",
    space="n + 2",
    needs=frozenset(),
    omega=Omega("4", lambda load: 4),
    init=init,
    slide=slide,
    one_range=True,
)
