"""R-INT: running sums, subtracted.

    partials   3   1   4   1   5
    sums     0   3   4   8   9  14      window of slices 1, 2, 3 = sums[4] - sums[1] = 6

One addition per slice and one subtraction per answer, whatever the ranges (Arasu and Widom, VLDB 2004, section 3.1.1).
Sums only grow, so this is for integers: int64 wraps around and back, and any window whose sum fits is exact. Floats
would keep the rounding error of everything that ever passed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.algebra.operators import Matrix, remove
from weft.algebra.partials import Law
from weft.jit import kernel
from weft.techniques.demand import Load
from weft.techniques.omega import Omega
from weft.techniques.technique import Positions, State, Technique


def build(operator: int, partials: Matrix, widest: int) -> State:
    """sums[i] is the sum of all slices before slice i."""
    sums = np.zeros((len(partials) + 1, partials.shape[1]), partials.dtype)
    np.cumsum(partials, axis=0, out=sums[1:])
    return (sums,)


def fold(operator: int, state: State, lo: Positions, hi: Positions, out: Matrix) -> None:
    """The sum before a window's end without the sum before its start."""
    _fold(state[0], lo, hi, out)


@kernel
def _fold(sums, lo, hi, out):
    for j in range(len(lo)):
        remove(sums, hi[j], sums, lo[j], out, j)


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
    build=build,
    fold=fold,
)
