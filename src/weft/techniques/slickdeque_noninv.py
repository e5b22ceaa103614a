"""SlickDeque (Non-Inv): of the slices, only those that can still be an answer.

    slices     6   1   5   0   3   2      4 comes:
    deque      6       5       3   2      5   4          3 and 2 can never be the largest again

The deque is decreasing for max. A slice that comes removes what it beats from the end; a window's answer is the first
node that has not left the window. Windows of several ranges are answered in one walk along the deque, the widest first
(Shein, Chrysanthis and Labrinidis, EDBT 2018). For operators that give one of their two operands back; which one is
asked of the operator and not found out by comparing values, as a tie would mix up what comes along with them.

Invariant: nodes head, ..., tail - 1 stand at number mod ring, in `places` their slices' positions, ascending; no node
is beaten by the next one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from weft.algebra.operators import Matrix, Operator, cells, is_newer, load, store
from weft.algebra.partials import Law
from weft.jit import kernel
from weft.techniques.omega import Omega, slickdeque_noninv, slickdeque_noninv_refined
from weft.techniques.technique import AT, BEGUN, OWN, WIDEST, Positions, Shape, Technique, registers, ring

HEAD, TAIL = OWN, OWN + 1


class Deque(NamedTuple):
    """Slices that can still be an answer, and where they stood."""

    registers: Positions
    places: Positions
    cells: Matrix


def init(operator: Operator, shape: Shape) -> Deque:
    """No node."""
    size = ring(shape.widest)
    return Deque(registers(shape, 0, 0), np.zeros(size, np.int64), cells(operator, size))


@kernel
def slide(operator, state, partials, lo, hi, of, out):
    """Drop, beat, append; then walk from the head, or on from where the last window was answered."""
    slices = state.cells
    begin = at = state.registers[AT]
    head, tail, widest = state.registers[HEAD], state.registers[TAIL], state.registers[WIDEST]
    places, mask = state.places, len(state.places) - 1
    node, begun = head, state.registers[BEGUN]
    for j in range(len(lo) + 1):
        end = hi[j] if j < len(lo) else begin + len(partials)
        while at < end:
            partial = load(operator, partials, at - begin)
            if tail > head and places[head & mask] <= at - widest:
                head += 1
            while tail > head and is_newer(operator, load(operator, slices, (tail - 1) & mask), partial):
                tail -= 1
            node = min(node, tail)
            places[tail & mask] = at
            store(operator, slices, tail & mask, partial)
            tail += 1
            at += 1
        if j == len(lo):
            break
        node = max(head, node) if lo[j] >= begun else head
        while places[node & mask] < lo[j]:
            node += 1
        begun = lo[j]
        store(operator, out, j, load(operator, slices, node & mask))
    state.registers[AT], state.registers[HEAD], state.registers[TAIL] = at, head, tail


TECHNIQUE = Technique(
    name="slickdeque_noninv",
    title="SlickDeque (Non-Inv)",
    first_appeared="Shein, Chrysanthis and Labrinidis, EDBT 2018",
    ranges="any up to n",
    time="2 - 2/n per slice, and a walk along the deque",
    space="2 n at most",
    needs=frozenset({Law.SELECTIVE}),
    omega=Omega(
        "2 - 2/P + queries + length of the deque",
        slickdeque_noninv,
        refined=slickdeque_noninv_refined,
        floor=lambda load: load.due,
        refined_formula="2 - 2/P + answers per edge + length of the deque",
    ),
    init=init,
    slide=slide,
)
