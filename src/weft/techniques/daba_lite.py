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
    f, l, r, a, b = (  # noqa: E741 - the borders' names are the paper's
        state.registers[F], state.registers[L], state.registers[R], state.registers[A], state.registers[B]
    )  # fmt: skip
    slots, mask = state.cells, len(state.cells) - 1
    middle, back = load(operator, state.folds, MIDDLE), load(operator, state.folds, BACK)
    for j in range(len(lo) + 1):
        end = hi[j] if j < len(lo) else begin + len(partials)
        first = lo[j] if j < len(lo) else max(f, end - len(slots))
        if first >= at:
            at = f = l = r = a = b = first  # noqa: E741
            middle = back = operator.identity
        while f < first or at < end:
            if f < first:
                f += 1
            else:
                partial = load(operator, partials, at - begin)
                store(operator, slots, at & mask, partial)
                back = combine(operator, back, partial)
                at += 1
            if l == b:
                l, r, a, b = f, b, at, at  # noqa: E741
                middle, back = back, operator.identity
            if f == b:
                continue
            if a != r:
                a -= 1
                if a + 1 < b:
                    reaching = load(operator, slots, (a + 1) & mask)
                    store(operator, slots, a & mask, combine(operator, load(operator, slots, a & mask), reaching))
            if l != r:
                store(operator, slots, l & mask, combine(operator, load(operator, slots, l & mask), middle))
                l += 1  # noqa: E741
            else:
                l, r, a = l + 1, r + 1, a + 1  # noqa: E741
                middle = operator.identity if a == b else load(operator, slots, a & mask)
        if j < len(lo):
            store(operator, out, j, combine(operator, load(operator, slots, first & mask), back))
    registers = state.registers
    registers[AT], registers[F], registers[L], registers[R], registers[A], registers[B] = at, f, l, r, a, b
    store(operator, state.folds, MIDDLE, middle)
    store(operator, state.folds, BACK, back)


TECHNIQUE = Technique(
    name="daba_lite",
    title="DABA Lite",
    first_appeared="Tangwongsan, Hirzel and Schneider, VLDB Journal 2021",
    ranges="one",
    time="4 per slide, 6 at worst",
    space="n + 2",
    needs=frozenset(),
    omega=Omega("4 per edge", lambda load: 4),
    init=init,
    slide=slide,
    one_range=True,
)
