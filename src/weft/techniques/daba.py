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
    borders, folds, mask = state.registers, state.folds, len(state.cells) - 1
    for j in range(len(lo) + 1):
        end = hi[j] if j < len(lo) else begin + len(partials)
        first = lo[j] if j < len(lo) else max(borders[F], end - len(state.cells))
        if first >= at:
            at = first
            borders[F] = borders[L] = borders[R] = borders[A] = borders[B] = at
        while borders[F] < first:
            borders[F] += 1
            _mend(operator, borders, state.cells, folds, at)
        while at < end:
            partial = load(operator, partials, at - begin)
            store(operator, state.cells, at & mask, partial)
            if at > borders[B]:
                partial = combine(operator, load(operator, folds, (at - 1) & mask), partial)
            store(operator, folds, at & mask, partial)
            at += 1
            _mend(operator, borders, state.cells, folds, at)
        if j < len(lo):
            answer = load(operator, folds, first & mask)
            if borders[B] < at and first < borders[B]:
                answer = combine(operator, answer, load(operator, folds, (at - 1) & mask))
            store(operator, out, j, answer)
    state.registers[AT] = at


@kernel
def _mend(operator, borders, slices, folds, at):
    """One step towards a front whose folds all reach B."""
    mask = len(folds) - 1
    if borders[L] == borders[B]:
        borders[L], borders[R], borders[A], borders[B] = borders[F], borders[B], at, at
    if borders[F] == borders[B]:
        return
    if borders[A] != borders[R]:
        a = borders[A] - 1
        fold = load(operator, slices, a & mask)
        if a + 1 < borders[B]:
            fold = combine(operator, fold, load(operator, folds, (a + 1) & mask))
        # the fold from R up to a - 1 stays where it is; this one reaches from a to B
        store(operator, folds, a & mask, fold)
        borders[A] = a
    if borders[L] != borders[R]:
        fold = load(operator, folds, borders[L] & mask)
        if borders[R] < borders[A]:
            fold = combine(operator, fold, load(operator, folds, (borders[A] - 1) & mask))
        if borders[A] < borders[B]:
            fold = combine(operator, fold, load(operator, folds, borders[A] & mask))
        store(operator, folds, borders[L] & mask, fold)
        borders[L] += 1
    else:
        borders[L] += 1
        borders[R] += 1
        borders[A] += 1


TECHNIQUE = Technique(
    name="daba",
    title="DABA (de-amortised bankers algorithm)",
    first_appeared="Tangwongsan, Hirzel and Schneider, DEBS 2017",
    ranges="one",
    time="5 per slide, 8 at worst",
    space="2 n",
    needs=frozenset(),
    omega=Omega("5", lambda load: 5),
    init=init,
    slide=slide,
    one_range=True,
)
