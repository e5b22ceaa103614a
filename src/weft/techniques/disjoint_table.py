"""Disjoint table: prefix and suffix folds around the middle of every block, at every power of two.

    slices      0  1  2  3 | 4  5  6  7
    level 2     <--------- | --------->      folds towards and away from the middle of a block of 8
    level 1     <--- | --->  <--- | --->     of 4
    slices 2..5 = level 2 at 2 (2, 3) with level 2 at 5 (4, 5)

A run lo..last straddles exactly one middle at the level of the highest bit in which lo and last differ, so any answer
over any range is one combine, and nothing is ever taken away: the error of a float's sum is that of adding up the
window alone, and an outlier that has left is gone. It works for every associative operator. Blocks only have to reach
the widest window w; around block borders beyond that, one more row of folds serves all higher levels:

    log2(w) + 2 combines per slice, 1 per answer, over as many slices at once as come.

Folds away from a middle grow as slices come in; folds towards it are made when it is passed. The structure is folklore
in competitive programming (disjoint sparse table); bounding its depth by the widest window, and growing it, are ours.

Invariant: row p mod ring has slice p at level 0, at level b its fold up to or from the nearest odd multiple of 2^b, and
at the last level up to or from the nearest multiple of 2^levels, for the slices that are kept.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from weft.algebra.operators import Matrix, Operator, cells, combine, load, store
from weft.jit import kernel
from weft.techniques.demand import Load
from weft.techniques.omega import Omega, ceil_log2
from weft.techniques.technique import AT, KEPT, OWN, Positions, Shape, Technique, registers, ring

STRIDE, ROWS = OWN, OWN + 1
_AHEAD = 1 << 12
"""Slices that are taken in at once, where so many are there: level by level, which is quicker than one by one."""


class Table(NamedTuple):
    """A row of folds per slice, and the highest bit in which two slices differ, looked up."""

    registers: Positions
    table: Matrix
    highest: Positions


def init(operator: Operator, shape: Shape) -> Table:
    """No rows."""
    levels = 1
    while 1 << (levels - 1) < shape.widest:
        levels += 1
    highest = np.zeros(1 << levels, np.int64)
    for bit in range(1, levels):
        highest[1 << bit : 2 << bit] = bit
    rows = ring(shape.kept + min(shape.kept, _AHEAD))
    return Table(registers(shape, levels + 1, rows), cells(operator, rows * (levels + 1)), highest)


@kernel
def slide(operator, state, partials, lo, hi, of, out):
    """Take in as many slices as the table has room for; then one combine per window."""
    begin = at = state.registers[AT]
    stride, rows, kept = state.registers[STRIDE], state.registers[ROWS], state.registers[KEPT]
    table, highest, mask, border = state.table, state.highest, rows - 1, stride - 1
    for j in range(len(lo) + 1):
        end = hi[j] if j < len(lo) else begin + len(partials)
        while at < end:
            upto = min(begin + len(partials), at + min(rows - kept, _AHEAD))
            for p in range(at, upto):
                store(operator, table, (p & mask) * stride, load(operator, partials, p - begin))
            for level in range(1, stride):
                _fold_around(operator, table, stride, mask, level, at, upto)
            at = upto
        if j == len(lo):
            break
        last = hi[j] - 1
        differ = lo[j] ^ last
        level = highest[differ] if differ < len(highest) else border
        answer = load(operator, table, (lo[j] & mask) * stride + level)
        if differ:
            answer = combine(operator, answer, load(operator, table, (last & mask) * stride + level))
        store(operator, out, j, answer)
    state.registers[AT] = at


@kernel
def _fold_around(operator, table, stride, mask, level, at, upto):
    """Folds of a level for slices at, ..., upto - 1: away from the middle before them, and towards those among them."""
    if level < stride - 1:
        offset, half, step = 1 << level, 1 << level, 2 << level
    else:
        offset, half, step = 0, 1 << (level - 1), 1 << level
    middle = at - (at - offset) % step
    while middle <= upto:
        if middle > at:
            row = ((middle - 1) & mask) * stride
            fold = load(operator, table, row)
            store(operator, table, row + level, fold)
            for p in range(middle - 2, max(middle - half, upto - mask - 1) - 1, -1):
                row = (p & mask) * stride
                fold = combine(operator, load(operator, table, row), fold)
                store(operator, table, row + level, fold)
        first = max(middle, at)
        if first < min(middle + half, upto):
            row = (first & mask) * stride
            fold = load(operator, table, row)
            if first > middle:
                fold = combine(operator, load(operator, table, ((first - 1) & mask) * stride + level), fold)
            store(operator, table, row + level, fold)
            for p in range(first + 1, min(middle + half, upto)):
                row = (p & mask) * stride
                fold = combine(operator, fold, load(operator, table, row))
                store(operator, table, row + level, fold)
        middle += step


def _operations(load: Load) -> Any:
    """A fold per level, and a combine per answer."""
    return 2 + ceil_log2(load.slices) + load.due


TECHNIQUE = Technique(
    name="disjoint_table",
    title="Disjoint table (block prefix and suffix folds)",
    first_appeared="here, for windows; folklore as the disjoint sparse table",
    ranges="any, historical too",
    time="log2(n) + 2 per slice, 1 per answer",
    space="n (log2(n) + 2)",
    needs=frozenset(),
    omega=Omega(
        "ceil(log2(slices in the longest window)) + 2 + answers per edge", _operations, floor=lambda load: load.due
    ),
    init=init,
    slide=slide,
    historical=True,
)
