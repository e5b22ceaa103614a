"""B-INT: base intervals, the aligned blocks of every power of two.

    slices      0  1  2  3  4  5  6  7  8  9
    level 1     [0-1]  [2-3]  [4-5]  [6-7]  [8-9]
    level 2     [0 - 3]       [4 - 7]             slices 1 to 8 = 1, 2-3, 4-7, 8
    level 3     [0     -     7]

A block is made of its two halves when its last slice comes in: less than one combine per slice. A window is covered
from left to right by the largest blocks that fit, at most 2 log2(n) of them (Arasu and Widom, VLDB 2004, section 3.1.1;
the cover in its Example 3.1 is not the smallest one).

Invariant: block i of level k, slices i 2^k, ..., (i + 1) 2^k - 1, stands at firsts[k] + i mod (ring / 2^k), as long as
all of its slices are kept.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from weft.algebra.operators import Matrix, Operator, cells, combine, load, store
from weft.jit import kernel
from weft.techniques import omega
from weft.techniques.omega import Omega
from weft.techniques.technique import AT, Positions, Shape, Technique, registers, ring


class Blocks(NamedTuple):
    """The blocks of all levels, a ring for each, and where every ring begins."""

    registers: Positions
    firsts: Positions
    cells: Matrix


def init(operator: Operator, shape: Shape) -> Blocks:
    """No blocks."""
    size = ring(shape.kept)
    lengths = [size >> level for level in range(size.bit_length())]
    firsts = np.cumsum([0, *lengths])
    return Blocks(registers(shape), firsts[:-1], cells(operator, int(firsts[-1])))


@kernel
def slide(operator, state, partials, lo, hi, of, out):
    """Complete the blocks that end with a slice; cover every window with the largest."""
    begin = at = state.registers[AT]
    firsts, blocks, levels = state.firsts, state.cells, len(state.firsts)
    size = 1 << (levels - 1)
    for j in range(len(lo) + 1):
        end = hi[j] if j < len(lo) else begin + len(partials)
        while at < end:
            block = load(operator, partials, at - begin)
            store(operator, blocks, at & (size - 1), block)
            at += 1
            level, number = 1, at >> 1
            while level < levels and at & ((1 << level) - 1) == 0:
                before = firsts[level - 1] + ((2 * number - 2) & ((size >> (level - 1)) - 1))
                block = combine(operator, load(operator, blocks, before), block)
                store(operator, blocks, firsts[level] + ((number - 1) & ((size >> level) - 1)), block)
                level += 1
                number >>= 1
        if j == len(lo):
            break
        p, answer = lo[j], operator.identity
        while p < hi[j]:
            level = 0
            while level + 1 < levels and p & ((2 << level) - 1) == 0 and p + (2 << level) <= hi[j]:
                level += 1
            place = firsts[level] + ((p >> level) & ((size >> level) - 1))
            answer = combine(operator, answer, load(operator, blocks, place))
            p += 1 << level
        store(operator, out, j, answer)
    state.registers[AT] = at


def cover(lo: int, hi: int) -> list[tuple[int, int]]:
    """The blocks that a window is covered by, each from its first slice up to the one after its last.

    >>> cover(0, 43), cover(384, 512)
    ([(0, 32), (32, 40), (40, 42), (42, 43)], [(384, 512)])
    """
    found = []
    while lo < hi:
        size = 1
        while lo % (2 * size) == 0 and lo + 2 * size <= hi:
            size *= 2
        found.append((lo, lo + size))
        lo += size
    return found


TECHNIQUE = Technique(
    name="b_int",
    title="B-INT (base intervals)",
    first_appeared="Arasu and Widom, VLDB 2004",
    ranges="any, historical too",
    time="1 per slice, up to 2 log2(n) per answer",
    space="2 n",
    needs=frozenset(),
    omega=Omega(
        "1 + sum of (log2(P) - 1)",
        omega.b_int,
        refined=omega.b_int_refined,
        by_range=True,
        refined_formula="1 + sum of answers per edge x (log2(P) - 1)",
    ),
    init=init,
    slide=slide,
    historical=True,
)
