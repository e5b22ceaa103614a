"""Subtract-on-Evict: one running answer; add what comes, subtract what goes. Panes (Inv) in the papers.

    window    3   1   4        8
    slide         1   4   1    8 + 1 - 3 = 6

Two operations per slide whatever the range, for one query whose operator can be taken back exactly (Shein and
Chrysanthis, TKDE 2020, section 2.2). Where a window begins after all that has come in (another key), nothing is
subtracted: the answer starts anew.

Invariant: the answer is the fold of slices gone, ..., at - 1; cells[p mod ring] is slice p of those.
"""

from __future__ import annotations

from typing import NamedTuple

from weft.algebra.operators import Matrix, Operator, cells, combine, load, removed, store
from weft.algebra.partials import Law
from weft.jit import kernel
from weft.techniques.omega import Omega
from weft.techniques.technique import AT, OWN, Positions, Shape, Technique, registers, ring

GONE = OWN
"""The first slice that is in the answer."""


class Answer(NamedTuple):
    """The running answer and the slices in it."""

    registers: Positions
    cells: Matrix
    answer: Matrix


def init(operator: Operator, shape: Shape) -> Answer:
    """The answer of nothing."""
    answer = cells(operator, 1)
    answer[0] = operator.identity
    return Answer(registers(shape, 0), cells(operator, ring(shape.widest)), answer)


@kernel
def slide(operator, state, partials, lo, hi, of, out):
    """Let go, take in, tell."""
    slices = state.cells
    begin = at = state.registers[AT]
    gone, widest, mask = state.registers[GONE], len(slices), len(slices) - 1
    answer = load(operator, state.answer, 0)
    for j in range(len(lo) + 1):
        # after the last window, what is left comes in, and a later window begins within reach of its end
        end = hi[j] if j < len(lo) else begin + len(partials)
        first = lo[j] if j < len(lo) else max(gone, end - widest)
        if first >= at:
            answer, at, gone = operator.identity, first, first
        while gone < first:
            answer = removed(operator, answer, load(operator, slices, gone & mask))
            gone += 1
        while at < end:
            partial = load(operator, partials, at - begin)
            store(operator, slices, at & mask, partial)
            answer = combine(operator, answer, partial)
            at += 1
        if j < len(lo):
            store(operator, out, j, answer)
    state.registers[AT], state.registers[GONE] = at, gone
    store(operator, state.answer, 0, answer)


TECHNIQUE = Technique(
    name="subtract_on_evict",
    title="Subtract-on-Evict, or Panes (Inv)",
    first_appeared="folklore; Panes (Inv) in Shein and Chrysanthis, TKDE 2020",
    ranges="one",
    time="2 per slide",
    space="n + 1",
    needs=frozenset({Law.INVERTIBLE}),
    omega=Omega("2 per edge", lambda load: 2),
    init=init,
    slide=slide,
    one_range=True,
)
