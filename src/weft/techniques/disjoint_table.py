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

from typing import Any

import numpy as np

from weft.algebra.operators import Matrix, combine, combine_one
from weft.jit import kernel
from weft.techniques.demand import Load
from weft.techniques.omega import Omega, ceil_log2
from weft.techniques.technique import Positions, State, Technique


def build(operator: int, partials: Matrix, widest: int) -> State:
    """Row i * stride + l of the table is slice i (l = 0), its fold within a block of 2^(l + 1), or around a border."""
    levels = 1
    while 1 << (levels - 1) < min(widest, len(partials)):
        levels += 1
    stride = levels + 1
    table = np.empty((len(partials) * stride, partials.shape[1]), partials.dtype)
    table[::stride] = partials
    for level in range(1, levels):
        _fold_around(operator, table, stride, level, 1 << level, 2 << level)
    _fold_around(operator, table, stride, levels, 0, 1 << levels)
    # the highest bit in which two slices differ, looked up
    highest = np.zeros(1 << levels, np.uint8)
    for bit in range(1, levels):
        highest[1 << bit : 2 << bit] = bit
    return table, highest, np.array([stride])


@kernel
def _fold_around(operator, table, stride, level, first, step):
    """Folds towards and away from the middles first, first + step, ..., half a step to each side."""
    count = len(table) // stride
    for middle in range(first, count + step, step):
        for i in range(middle, min(middle + step // 2, count)):
            here, before = i * stride, (i - 1) * stride + level
            if i == middle:
                table[here + level] = table[here]
            elif table.shape[1] == 1:
                table[here + level, 0] = combine_one(operator, table[before, 0], table[here, 0])
            else:
                combine(operator, table, before, table, here, table, here + level)
        last = min(middle, count) - 1
        for i in range(last, max(middle - step // 2, 0) - 1, -1):
            here, after = i * stride, (i + 1) * stride + level
            if i == last:
                table[here + level] = table[here]
            elif table.shape[1] == 1:
                table[here + level, 0] = combine_one(operator, table[here, 0], table[after, 0])
            else:
                combine(operator, table, here, table, after, table, here + level)


def fold(operator: int, state: State, lo: Positions, hi: Positions, out: Matrix) -> None:
    """One combine per window."""
    table, highest, stride = state
    _fold(operator, table, highest, stride[0], lo, hi, out)


@kernel
def _fold(operator, table, highest, stride, lo, hi, out):
    border = stride - 1
    for j in range(len(lo)):
        last = hi[j] - 1
        differ = lo[j] ^ last
        level = highest[differ] if differ < len(highest) else border
        left, right = lo[j] * stride + level, last * stride + level
        if out.shape[1] == 1:  # 2 ns an answer; through `combine`, which any number of components can use, 12
            out[j, 0] = table[left, 0] if differ == 0 else combine_one(operator, table[left, 0], table[right, 0])
        elif differ == 0:
            for component in range(out.shape[1]):
                out[j, component] = table[left, component]
        else:
            combine(operator, table, left, table, right, out, j)


def _operations(load: Load) -> Any:
    """A fold per level, and a combine per answer."""
    return 2 + ceil_log2(load.slices) + load.due


TECHNIQUE = Technique(
    name="disjoint_table",
    title="Disjoint table (block prefix and suffix folds)",
    first_appeared="here, for windows; folklore as the disjoint sparse table",
    ranges="any",
    time="log2(n) + 2 per slice, 1 per answer",
    space="n (log2(n) + 2)",
    needs=frozenset(),
    omega=Omega("log2(slices in the longest window) + 2 + answers per edge", _operations, floor=lambda load: load.due),
    build=build,
    fold=fold,
)
