"""PSoup's tree: FlatFAT with four children to a node, as a baseline.

    level 1     [    0 - 3    ]  [    4 - 7    ]  [    8 - 11   ]
    slices       0   1   2   3    4   5   6   7    8   9  10  11       slices 2 to 9 = 2, 3, 4-7, 8, 9

A slice folds its siblings again on every level, three combines each, and a window takes up to six nodes of a level. The
tree is that of PSoup (Chandrasekaran and Franklin, VLDB 2002), as Arasu and Widom (VLDB 2004, section 3.1) describe it
to compare with.

Invariant: node i of level k, at firsts[k] + i, is the fold of four nodes of the level below; a leaf that has never been
written is the identity.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from weft.algebra.operators import Matrix, Operator, cells, combine, load, store
from weft.jit import kernel
from weft.techniques.demand import Load
from weft.techniques.omega import Omega, ceil_log2
from weft.techniques.technique import AT, Positions, Shape, Technique, registers

BITS = 2
"""Of a position, for a level: four children."""


class Tree(NamedTuple):
    """The nodes of all levels, leaves first, and where every level begins."""

    registers: Positions
    firsts: Positions
    nodes: Matrix


def init(operator: Operator, shape: Shape) -> Tree:
    """A tree of nothing."""
    lengths = [1]
    while lengths[0] < shape.kept:
        lengths.insert(0, lengths[0] << BITS)
    firsts = np.cumsum([0, *lengths])
    nodes = cells(operator, int(firsts[-1]))
    nodes[:] = operator.identity
    return Tree(registers(shape), firsts[:-1], nodes)


@kernel
def slide(operator, state, partials, lo, hi, of, out):
    """Fold every node above a slice again; cover every window with the largest nodes."""
    begin = at = state.registers[AT]
    firsts, nodes, levels = state.firsts, state.nodes, len(state.firsts)
    size = 1 << (BITS * (levels - 1))
    for j in range(len(lo) + 1):
        end = hi[j] if j < len(lo) else begin + len(partials)
        while at < end:
            slot = at & (size - 1)
            store(operator, nodes, slot, load(operator, partials, at - begin))
            for level in range(1, levels):
                slot >>= BITS
                child = firsts[level - 1] + (slot << BITS)
                fold = load(operator, nodes, child)
                for sibling in range(child + 1, child + (1 << BITS)):
                    fold = combine(operator, fold, load(operator, nodes, sibling))
                store(operator, nodes, firsts[level] + slot, fold)
            at += 1
        if j == len(lo):
            break
        first, last = lo[j] & (size - 1), (hi[j] - 1) & (size - 1)
        answer = operator.identity
        for wrapped in range(1 if first <= last else 2):
            slot = 0 if wrapped else first
            upto = size if first > last and not wrapped else last + 1
            while slot < upto:
                level = 0
                while level + 1 < levels and slot & ((1 << (BITS * (level + 1))) - 1) == 0:
                    if slot + (1 << (BITS * (level + 1))) > upto:
                        break
                    level += 1
                answer = combine(operator, answer, load(operator, nodes, firsts[level] + (slot >> (BITS * level))))
                slot += 1 << (BITS * level)
        store(operator, out, j, answer)
    state.registers[AT] = at


def _operations(load: Load) -> Any:
    """Three combines a level for a slice, and as many for an answer: half of the six nodes that a cover may take."""
    return 3 * -(-ceil_log2(load.slices) // BITS) * (1 + load.due)


TECHNIQUE = Technique(
    name="psoup",
    title="PSoup's tree",
    first_appeared="Chandrasekaran and Franklin, VLDB 2002",
    ranges="any, historical too",
    time="3 log4(n) per slice, up to 6 log4(n) per answer",
    space="4/3 n, n rounded up to a power of four",
    needs=frozenset(),
    omega=Omega("3 x levels x (1 + answers per edge)", _operations),
    init=init,
    slide=slide,
    historical=True,
)
