"""Ordering: any value that Spark can put in order, as an integer that sorts the same way.

min and max then need one kernel over int64. Integers, dates, timestamps and booleans are such integers already.
For a float the sign bit is folded over, which is monotone and its own inverse; Spark takes NaN as the largest value,
and the usual NaN's bits are above those of infinity. Strings, wide decimals and the like are numbered by rank.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.int64]
_MAGNITUDE = np.int64(0x7FFF_FFFF_FFFF_FFFF)


def from_floats(values: npt.NDArray[np.float64]) -> Codes:
    """Integers in the order of the floats, NaN last.

    >>> [int(x) for x in np.argsort(from_floats(np.array([np.nan, 1.0, -np.inf, -1.0])))]
    [2, 3, 1, 0]
    """
    usual = np.where(np.isnan(values), np.float64("nan"), values)
    return _fold(usual.view(np.int64))


def to_floats(codes: Codes) -> npt.NDArray[np.float64]:
    """The floats that `from_floats` was given."""
    return _fold(np.ascontiguousarray(codes)).view(np.float64)


def _fold(bits: Codes) -> Codes:
    return bits ^ ((bits >> 63) & _MAGNITUDE)
