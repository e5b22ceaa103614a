"""FlatFAT: a binary tree over a ring of slices, flat in an array.

                  1                 node i is node 2i then node 2i + 1; leaves are nodes n, ..., 2n - 1
            2           3
         4     5     6     7        slice p is leaf n + p mod n

A slice rewrites its leaf and the nodes above it: log2(n) combines. A window is the fold of the nodes that cover it,
from both ends upwards, with one fold for the left end and one for the right, so that older stays before newer. Where it
wraps around the end of the ring it is two covers (Tangwongsan, Hirzel, Schneider and Wu, VLDB 2015).

Invariant: every node is the fold of its two children; a leaf that has never been written is the identity.
"""

from __future__ import annotations

from typing import NamedTuple

from weft.algebra.operators import Matrix, Operator, cells, combine, load, store
from weft.jit import kernel
from weft.techniques import omega
from weft.techniques.omega import Omega
from weft.techniques.technique import AT, Positions, Shape, Technique, registers, ring


class Tree(NamedTuple):
    """The nodes, from 1 on."""

    registers: Positions
    nodes: Matrix


def init(operator: Operator, shape: Shape) -> Tree:
    """A tree of nothing."""
    nodes = cells(operator, 2 * ring(shape.kept))
    nodes[:] = operator.identity
    return Tree(registers(shape), nodes)


@kernel
def slide(operator, state, partials, lo, hi, of, out):
    """Rewrite a path per slice, cover every window."""
    begin = at = state.registers[AT]
    nodes, size = state.nodes, len(state.nodes) // 2
    for j in range(len(lo) + 1):
        end = hi[j] if j < len(lo) else begin + len(partials)
        while at < end:
            node = size + (at & (size - 1))
            store(operator, nodes, node, load(operator, partials, at - begin))
            while node > 1:
                node >>= 1
                left, right = load(operator, nodes, 2 * node), load(operator, nodes, 2 * node + 1)
                store(operator, nodes, node, combine(operator, left, right))
            at += 1
        if j == len(lo):
            break
        first, last = lo[j] & (size - 1), (hi[j] - 1) & (size - 1)
        answer = operator.identity
        for wrapped in range(1 if first <= last else 2):
            left = size if wrapped else size + first
            right = 2 * size if first > last and not wrapped else size + last + 1
            newer = operator.identity
            while left < right:
                if left & 1:
                    answer = combine(operator, answer, load(operator, nodes, left))
                    left += 1
                if right & 1:
                    right -= 1
                    newer = combine(operator, load(operator, nodes, right), newer)
                left >>= 1
                right >>= 1
            answer = combine(operator, answer, newer)
        store(operator, out, j, answer)
    state.registers[AT] = at


TECHNIQUE = Technique(
    name="flatfat",
    title="FlatFAT (flat fixed-sized aggregator)",
    first_appeared="Tangwongsan, Hirzel, Schneider and Wu, VLDB 2015",
    ranges="any, historical too",
    time="log2(n) per slice, up to 2 log2(n) per answer",
    space="2 n, n rounded up to a power of two",
    needs=frozenset(),
    omega=Omega(
        "sum of (floor(log2(P - 1)) + (P - 1)/2^floor(log2 P))",
        omega.flatfat,
        refined=omega.flatfat_refined,
        quick=omega.flatfat_quick,
        by_range=True,
        monotone=False,
        least=omega.flatfat_least,
        refined_formula="ceil(log2(slices in the longest window)) + sum of answers per edge x (log2(P) - 1)",
        quick_formula="sum of (log2(P - 1) + 1)",
    ),
    init=init,
    slide=slide,
    historical=True,
)
