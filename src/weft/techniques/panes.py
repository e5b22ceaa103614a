"""Panes: fold each window from its slices, every time.

The naive final aggregation of the papers (Guirguis et al., CIKM 2011, equation 2: each slice belongs to range / slide
windows of a query). Nothing is shared between windows, so it is the baseline, and the best choice for windows of one
or two slices.

Invariant: cells[p mod ring] is slice p, for the slices that are kept.
"""

from __future__ import annotations

from typing import NamedTuple

from weft.algebra.operators import Matrix, Operator, cells, combine, load, store
from weft.jit import kernel
from weft.techniques.omega import Omega, overlap
from weft.techniques.technique import AT, Positions, Shape, Technique, registers, ring


class Slices(NamedTuple):
    """The slices that are kept."""

    registers: Positions
    cells: Matrix


def init(operator: Operator, shape: Shape) -> Slices:
    """No slices."""
    return Slices(registers(shape), cells(operator, ring(shape.kept)))


@kernel
def slide(operator, state, partials, lo, hi, of, out):
    """Every window from scratch."""
    slices = state.cells
    begin = at = state.registers[AT]
    mask = len(slices) - 1
    for j in range(len(lo) + 1):
        end = hi[j] if j < len(lo) else begin + len(partials)
        while at < end:
            store(operator, slices, at & mask, load(operator, partials, at - begin))
            at += 1
        if j == len(lo):
            break
        folded = load(operator, slices, lo[j] & mask)
        for p in range(lo[j] + 1, hi[j]):
            folded = combine(operator, folded, load(operator, slices, p & mask))
        store(operator, out, j, folded)
    state.registers[AT] = at


TECHNIQUE = Technique(
    name="panes",
    title="Panes (naive final aggregation)",
    first_appeared="Li, Maier, Tufte, Papadimos and Tucker, SIGMOD Record 2005",
    ranges="any, historical too",
    time="n - 1 per answer",
    space="n",
    needs=frozenset(),
    omega=Omega("sum of range/slide", overlap, floor=overlap, adds_up=True),
    init=init,
    slide=slide,
    historical=True,
)
