"""Disjoint table: prefix and suffix folds around the middle of every block, at every power of two.

    slices      0  1  2  3 | 4  5  6  7
    level 3     <--------- | --------->      folds towards and away from the middle of a block of 8
    level 2     <--- | --->  <--- | --->     of 4
    slices 2..5 = level3[2] (2, 3) with level3[5] (4, 5)

A run lo..last straddles exactly one middle at the level of the highest bit in which lo and last differ, so any answer
over any range is one combine, and nothing is ever taken away: the error of a float's sum is that of adding up the
window alone, and an outlier that has left is gone. It works for every associative operator. Blocks only have to reach
the widest window w; around block borders beyond that, one more row of folds serves all higher levels:

    log2(w) + 2 combines per slice, 1 per answer, over batches of slices at once.

The structure is folklore in competitive programming (disjoint sparse table); bounding its depth by the widest window
is ours.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from weft.algebra.operators import Matrix, combine
from weft.jit import kernel
from weft.techniques.technique import Demand, Positions, State, Technique


def build(operator: int, partials: Matrix, widest: int) -> State:
    """table[0] is the slices, table[l - 1] the folds within blocks of 2^l, and the last one those around borders."""
    levels = 1
    while 1 << (levels - 1) < min(widest, len(partials)):
        levels += 1
    table = np.empty((levels + 1, *partials.shape), partials.dtype)
    table[0] = partials
    _build(operator, table, levels)
    return (table,)


@kernel
def _build(operator, table, levels):  # type: ignore[no-untyped-def]
    count = table.shape[1]
    for level in range(2, levels + 1):
        _fold_around(operator, table[0], table[level - 1], 1 << (level - 1), 1 << level)
    _fold_around(operator, table[0], table[levels], 0, 1 << levels)
    return count


@kernel
def _fold_around(operator, partials, folds, first, step):  # type: ignore[no-untyped-def]
    """Folds towards and away from the middles first, first + step, ..., half a step to each side."""
    count = len(partials)
    for middle in range(first, count + step, step):
        reach = min(middle + step // 2, count)
        if middle < count:
            for component in range(partials.shape[1]):
                folds[middle, component] = partials[middle, component]
            for i in range(middle + 1, reach):
                combine(operator, folds, i - 1, partials, i, folds, i)
        last = min(middle, count) - 1
        nearest = max(middle - step // 2, 0)
        if last >= nearest:
            for component in range(partials.shape[1]):
                folds[last, component] = partials[last, component]
            for i in range(last - 1, nearest - 1, -1):
                combine(operator, partials, i, folds, i + 1, folds, i)


def fold(operator: int, state: State, lo: Positions, hi: Positions, out: Matrix) -> None:
    """One combine per window."""
    _fold(operator, state[0], lo, hi, out)


@kernel
def _fold(operator, table, lo, hi, out):  # type: ignore[no-untyped-def]
    border = table.shape[0] - 1
    for j in range(len(lo)):
        last = hi[j] - 1
        differ = lo[j] ^ last
        if differ == 0:
            for component in range(out.shape[1]):
                out[j, component] = table[0, last, component]
        else:
            level = 0
            while differ > 1:
                differ >>= 1
                level += 1
            level = min(level, border)
            combine(operator, table[level], lo[j], table[level], last, out, j)


def per_slice(demand: Demand, edge_rate: Fraction) -> Fraction:
    """log2 of the slices in the longest window, + 2."""
    slices = -(-demand.longest * edge_rate // 1)
    return Fraction(2 + max(int(slices) - 1, 0).bit_length())


TECHNIQUE = Technique(
    name="disjoint_table",
    title="Disjoint table (block prefix and suffix folds)",
    first_appeared="here, for windows; folklore as the disjoint sparse table",
    ranges="any",
    time="log2(n) + 2 per slice, 1 per answer",
    space="n (log2(n) + 2)",
    needs=frozenset(),
    build=build,
    fold=fold,
    per_slice=per_slice,
    per_answer=1,
    formula="log2(slices in the longest window) + 2 + answers per edge",
)
