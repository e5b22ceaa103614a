"""Operators: how two partials become one, over arrays.

Partials of one kind stand in a matrix, a row per slice and a column per component: one column for most sums and
extremes, three for moments, a few for exact sums of wide integers. An operator is an integer code, so that a kernel
compiles once and serves them all; the code is the same throughout a loop, and the compiler lifts the choice out.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from weft.jit import kernel

ADD, MIN, MAX, MOMENTS = range(4)

Matrix = npt.NDArray[np.int64] | npt.NDArray[np.float64]


def identity(operator: int) -> int:
    """What every component starts from: combined with anything, it gives that thing back."""
    extremes = {MIN: np.iinfo(np.int64).max, MAX: np.iinfo(np.int64).min}
    return int(extremes.get(operator, 0))


@kernel
def combine_one(operator, older, newer):
    """Two partials of one component."""
    if operator == ADD:
        return older + newer
    return min(older, newer) if operator == MIN else max(older, newer)


@kernel
def combine(operator, left, i, right, j, out, k):
    """out[k] = left[i] then right[j]. `out` may be either of the two."""
    if operator != MOMENTS:
        for component in range(out.shape[1]):
            out[k, component] = combine_one(operator, left[i, component], right[j, component])
    else:
        older, newer = left[i, 0], right[j, 0]
        if newer == 0:
            for component in range(3):
                out[k, component] = left[i, component]
        elif older == 0:
            for component in range(3):
                out[k, component] = right[j, component]
        else:
            total = older + newer
            moved = right[j, 1] - left[i, 1]
            mean = left[i, 1] + moved * (newer / total)
            spread = left[i, 2] + right[j, 2] + moved * moved * (older * (newer / total))
            out[k, 0], out[k, 1], out[k, 2] = total, mean, spread


@kernel
def remove(left, i, right, j, out, k):
    """out[k] = left[i] without its prefix right[j]; sums of integers only, which wrap around and come back."""
    for component in range(out.shape[1]):
        out[k, component] = left[i, component] - right[j, component]
