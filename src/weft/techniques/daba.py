"""DABA: two stacks whose front is turned over a little at a time, so that no slide is slow.

    F           L           R           A           B           E
    |  to B     |  to R     |  from R   |  to B     |  from B   |      what the folds of a stretch reach
    |------------------- front ---------------------|-- back ---|

Six borders stand in this order, and every slice has a fold beside it, of the slices from itself up to a border or from
a border up to itself. When L has come to B, the back becomes part of the front (its folds start at R now), and from
then on every push and every eviction mends the folds of two slices, which is just enough to be done in time. So an
answer is always the fold at F then the fold at E - 1: at most 8 combines a slide (Tangwongsan, Hirzel and Schneider,
"Low-latency sliding-window aggregation in worst-case constant time", DEBS 2017).

Invariant: the stretches' folds are as drawn, and the front is longer than the back by as much as is mended.
"""

from __future__ import annotations

from typing import NamedTuple

from weft.algebra.operators import Matrix, Operator, cells, combine, load, store
from weft.jit import kernel
from weft.techniques.omega import Omega
from weft.techniques.technique import AT, OWN, Positions, Shape, Technique, registers, ring

F, L, R, A, B = range(OWN, OWN + 5)


class Queue(NamedTuple):
    """Slices and their folds; the borders F, L, R, A and B are registers, and E is where slices come in."""

    registers: Positions
    cells: Matrix
    folds: Matrix


def init(operator: Operator, shape: Shape) -> Queue:
    """An empty queue."""
    size = ring(shape.widest)
    return Queue(registers(shape, 0, 0, 0, 0, 0), cells(operator, size), cells(operator, size))


@kernel
def slide(operator, state, partials, lo, hi, of, out):
    """Evict, push, each with a little mending; then combine the two ends."""
    begin = at = state.registers[AT]
    f, l, r, a, b = (  # noqa: E741 - the borders' names are the paper's
        state.registers[F], state.registers[L], state.registers[R], state.registers[A], state.registers[B]
    )  # fmt: skip
    slices, folds, mask = state.cells, state.folds, len(state.cells) - 1
    for j in range(len(lo) + 1):
        end = hi[j] if j < len(lo) else begin + len(partials)
        first = lo[j] if j < len(lo) else max(f, end - len(slices))
        if first >= at:
            at = f = l = r = a = b = first  # noqa: E741
        while f < first or at < end:
            if f < first:
                f += 1
            else:
                fold = load(operator, partials, at - begin)
                store(operator, slices, at & mask, fold)
                if at > b:
                    fold = combine(operator, load(operator, folds, (at - 1) & mask), fold)
                store(operator, folds, at & mask, fold)
                at += 1
            if l == b:
                l, r, a, b = f, b, at, at  # noqa: E741
            if f == b:
                continue
            if a != r:
                a -= 1
                fold = load(operator, slices, a & mask)
                if a + 1 < b:
                    fold = combine(operator, fold, load(operator, folds, (a + 1) & mask))
                store(operator, folds, a & mask, fold)
            if l != r:
                fold = load(operator, folds, l & mask)
                if r < a:
                    fold = combine(operator, fold, load(operator, folds, (a - 1) & mask))
                if a < b:
                    fold = combine(operator, fold, load(operator, folds, a & mask))
                store(operator, folds, l & mask, fold)
                l += 1  # noqa: E741
            else:
                l, r, a = l + 1, r + 1, a + 1  # noqa: E741
        if j < len(lo):
            answer = load(operator, folds, first & mask)
            if first < b < at:
                answer = combine(operator, answer, load(operator, folds, (at - 1) & mask))
            store(operator, out, j, answer)
    registers = state.registers
    registers[AT], registers[F], registers[L], registers[R], registers[A], registers[B] = at, f, l, r, a, b


TECHNIQUE = Technique(
    name="daba",
    title="DABA (de-amortised bankers algorithm)",
    first_appeared="Tangwongsan, Hirzel and Schneider, DEBS 2017",
    ranges="one",
    time="5 per slide, 8 at worst",
    space="2 n",
    needs=frozenset(),
    omega=Omega("5 per edge", lambda load: 5),
    init=init,
    slide=slide,
    one_range=True,
)
