"""R-INT: running sums, subtracted.

    partials   3   1   4   1   5
    sums     0   3   4   8   9  14      window of slices 1, 2, 3 = sums[4] - sums[1] = 6

One addition per slice and one subtraction per answer, whatever the ranges (Arasu and Widom, VLDB 2004, section 3.1.1).
Sums only grow, so this is for integers: int64 wraps around and back, and any window whose sum fits is exact. Floats
would keep the rounding error of everything that ever passed.

Invariant: sums[p mod ring] is the fold of slices 0, ..., p - 1.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from weft.algebra.operators import Matrix, Operator, cells, combine, load, removed, store
from weft.algebra.partials import Law
from weft.jit import kernel
from weft.techniques.demand import Load
from weft.techniques.omega import Omega
from weft.techniques.technique import AT, Positions, Shape, Technique, registers, ring


class Running(NamedTuple):
    """The sums before the slices that are kept, and after them."""

    registers: Positions
    sums: Matrix


def init(operator: Operator, shape: Shape) -> Running:
    """The sum of nothing."""
    sums = cells(operator, ring(shape.kept + 1))
    sums[0] = operator.identity
    return Running(registers(shape), sums)


@kernel
def slide(operator, state, partials, lo, hi, of, out):
    """The sum up to a window's end without the sum before its begin."""
    sums = state.sums
    begin = at = state.registers[AT]
    mask = len(sums) - 1
    running = load(operator, sums, at & mask)
    for j in range(len(lo)):
        while at < hi[j]:
            running = combine(operator, running, load(operator, partials, at - begin))
            at += 1
            store(operator, sums, at & mask, running)
        whole = load(operator, sums, hi[j] & mask)
        store(operator, out, j, removed(operator, whole, load(operator, sums, lo[j] & mask)))
    while at < begin + len(partials):
        running = combine(operator, running, load(operator, partials, at - begin))
        at += 1
        store(operator, sums, at & mask, running)
    state.registers[AT] = at


def _operations(load: Load) -> Any:
    """One addition per slice, one subtraction per answer."""
    return 1 + load.due


TECHNIQUE = Technique(
    name="r_int",
    title="R-INT (running intervals)",
    first_appeared="Arasu and Widom, VLDB 2004",
    ranges="any, historical too",
    time="1 per slice, 1 per answer",
    space="n + 1",
    needs=frozenset({Law.INVERTIBLE}),
    omega=Omega("1 + answers per edge", _operations, floor=lambda load: load.due),
    init=init,
    slide=slide,
    historical=True,
)
