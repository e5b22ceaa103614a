"""SlickDeque (Inv): a running answer for every query; add what comes, subtract what goes.

    query 0, range 3        3   1   4             8
    query 1, range 2            1   4             5

Two operations per slice and query (Shein, Chrysanthis and Labrinidis, EDBT 2018), over slices that are kept once. The
paper keeps an answer for every different number of slices in a window; here every query has its own, with its own two
ends, because the slices of a window are not always of one number: keys have gaps, and edges of other queries fall
where they may. An answer moves when its query is due, by as many slices as have come meanwhile.

Invariant: answers[q] is the fold of slices gone[q], ..., seen[q] - 1; cells[p mod ring] is slice p, for the last two
window widths, as a query that is not due for a while has that far to go.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from weft.algebra.operators import Matrix, Operator, cells, combine, load, removed, store
from weft.algebra.partials import Law
from weft.jit import kernel
from weft.techniques.omega import Omega, slickdeque_inv
from weft.techniques.technique import AT, Positions, Shape, Technique, registers, ring


class Answers(NamedTuple):
    """The running answers and the slices that they are made of."""

    registers: Positions
    cells: Matrix
    answers: Matrix
    gone: Positions
    seen: Positions


def init(operator: Operator, shape: Shape) -> Answers:
    """Answers of nothing."""
    answers = cells(operator, shape.queries)
    answers[:] = operator.identity
    ends = (np.zeros(shape.queries, np.int64) for _ in range(2))
    return Answers(registers(shape), cells(operator, ring(2 * shape.widest)), answers, *ends)


@kernel
def slide(operator, state, partials, lo, hi, of, out):
    """Move the query's answer to its window."""
    slices, answers, begins, ends = state.cells, state.answers, state.gone, state.seen
    begin = at = state.registers[AT]
    mask = len(slices) - 1
    for j in range(len(lo) + 1):
        end = hi[j] if j < len(lo) else begin + len(partials)
        while at < end:
            store(operator, slices, at & mask, load(operator, partials, at - begin))
            at += 1
        if j == len(lo):
            break
        answer = load(operator, answers, of[j])
        gone, seen = begins[of[j]], ends[of[j]]
        if lo[j] >= seen:
            answer, gone, seen = operator.identity, lo[j], lo[j]
        for p in range(gone, lo[j]):
            answer = removed(operator, answer, load(operator, slices, p & mask))
        for p in range(seen, hi[j]):
            answer = combine(operator, answer, load(operator, slices, p & mask))
        begins[of[j]], ends[of[j]] = lo[j], hi[j]
        store(operator, answers, of[j], answer)
        store(operator, out, j, answer)
    state.registers[AT] = at


TECHNIQUE = Technique(
    name="slickdeque_inv",
    title="SlickDeque (Inv)",
    first_appeared="Shein, Chrysanthis and Labrinidis, EDBT 2018",
    ranges="a fixed set",
    time="2 per slice and query",
    space="2 n + the queries",
    needs=frozenset({Law.INVERTIBLE}),
    omega=Omega(
        "2 x different numbers of slices in a window",
        slickdeque_inv,
        by_range=True,
        monotone=False,
        least=lambda load: 2,
    ),
    init=init,
    slide=slide,
)
