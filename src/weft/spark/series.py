"""Series: Arrow columns of partials become matrices that kernels combine, and combined partials become values.

    partial           columns from the JVM      matrix                       combined by
    rows, count       bigint                    1 int64                      +
    sum of integers   bigint                    1 int64                      +
    sum of bigint     low half, high half       2 int64 digits               +     overflow is seen, not suffered
    sum of decimal    decimal (and how many)    4 int64 digits               +
    sum of double     double                    1 float64                    +
    min, max          the value                 1 int64 that sorts alike     min, max
    moments           count, mean, variance     3 float64                    Chan's merge

A null stands as the operator's identity; how many values are behind a run of slices is counted beside it, so that an
answer over nothing but nulls is null, but only where there is a null at all. A slice whose long decimals overflowed in
the JVM (without ANSI mode) comes as a null of so many values, and spoils the windows that it is in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from weft.algebra import exact, ordering
from weft.algebra.operators import MAX, MIN, MOMENTS, Matrix, Operator, sum_of
from weft.techniques.technique import AT, Positions, Shape, State, Technique

_WIDE = 18  # decimal digits beyond which a decimal needs more than 64 bits


def columns_of(kind: str, type_: str | None) -> int:
    """How many columns the JVM sends for a partial of this kind over an argument of this Spark type."""
    if kind == "moments":
        return 3
    return 2 if (kind == "sum" and type_ == "bigint") or may_overflow(kind, type_) else 1


def may_overflow(kind: str, type_: str | None) -> bool:
    """Whether a slice alone may be too much for the JVM: its sums have ten digits more than what they add, up to 38."""
    return kind == "sum" and type_ is not None and type_.startswith("decimal") and precision(type_) > 28


def precision(decimal: str) -> int:
    """The digits of a decimal's Spark type.

    >>> precision("decimal(10,2)")
    10
    """
    return int(decimal[8:-1].split(",")[0])


@dataclass(frozen=True)
class Series:
    """The partials of one kind over one stretch of slices, ready to answer windows."""

    operator: Operator
    technique: Technique
    partials: Matrix
    shape: Shape
    known: npt.NDArray[np.int64] | None
    """How many slices before slice i have a value; None where all have one."""
    spoiled: npt.NDArray[np.int64] | None
    """How many slices before slice i have overflowed; None where none has."""
    ranked: pa.Array | None
    """The values by rank, where the matrix holds ranks."""

    def begin(self) -> State:
        """A structure that no slice has come into."""
        return self.technique.start(self.operator, self.shape)

    def fold(self, state: State, lo: Positions, hi: Positions) -> Matrix:
        """The combined partial of each window. Slices come into the structure as windows ask for them."""
        at = int(state[0][AT])
        return self.technique.advance(self.operator, state, self.partials[at : max(at, int(hi[-1]))], lo, hi)

    def has_value(self, lo: Positions, hi: Positions) -> npt.NDArray[np.bool_] | None:
        """Which windows have a value; None where all have one."""
        return None if self.known is None else self.known[hi] > self.known[lo]

    def overflowed(self, lo: Positions, hi: Positions) -> npt.NDArray[np.bool_] | bool:
        """Which windows have a slice that has overflowed."""
        return False if self.spoiled is None else self.spoiled[hi] > self.spoiled[lo]


def series(kind: str, type_: str | None, arrays: list[pa.Array], technique: Technique, widest: int) -> Series:
    """Make a partial's columns ready, by a technique, for windows of at most `widest` slices."""
    operator, matrix, ranked = _matrix(kind, type_, arrays)
    known = spoiled = None
    if arrays[0].null_count:
        empty = arrays[0].is_null().to_numpy(zero_copy_only=False)
        matrix[empty] = operator.identity
        if may_overflow(kind, type_):
            overflowed = empty & (_numpy(arrays[1]) > 0)
            empty &= ~overflowed
            spoiled = _before(overflowed) if overflowed.any() else None
        known = _before(~empty) if empty.any() else None
    # whoever can answer any window has one structure over the whole stretch
    shape = Shape(widest, len(matrix) if technique.historical else 0)
    return Series(operator, technique, matrix, shape, known, spoiled, ranked)


def _before(marked: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """How many are marked before each position, and in all."""
    return np.concatenate(([0], np.cumsum(marked)))


def _matrix(kind: str, type_: str | None, arrays: list[pa.Array]) -> tuple[Operator, Matrix, pa.Array | None]:
    if kind in ("min", "max"):
        codes, ranked = _codes(arrays[0])
        return (MIN if kind == "min" else MAX), codes.reshape(-1, 1), ranked
    if kind == "moments":
        count, mean, variance = (_numpy(array).astype(np.float64) for array in arrays)
        return MOMENTS, np.column_stack((count, mean, variance * count)), None
    if kind == "sum" and pa.types.is_decimal(arrays[0].type):
        digits = exact.digits_of_decimals(_words(arrays[0]))
        return sum_of(digits.dtype, digits.shape[1]), digits, None
    addends = np.column_stack([_numpy(array) for array in arrays])
    return sum_of(addends.dtype, addends.shape[1]), addends, None


def _numpy(array: pa.Array) -> npt.NDArray[Any]:
    """A primitive column as numpy, with zeros for nulls."""
    values: npt.NDArray[Any] = (pc.fill_null(array, 0) if array.null_count else array).to_numpy(zero_copy_only=False)
    return values


def _words(array: pa.Array) -> npt.NDArray[np.int64]:
    """A decimal128 column as rows of a low and a high word."""
    words = np.frombuffer(array.buffers()[1], np.int64).reshape(-1, 2)
    return words[array.offset : array.offset + len(array)]


def _codes(array: pa.Array) -> tuple[npt.NDArray[np.int64], pa.Array | None]:
    """Integers in the order of the values, writable; the values by rank where the integers are ranks."""
    type_ = array.type
    if pa.types.is_floating(type_):
        return ordering.from_floats(_numpy(array).astype(np.float64)), None
    if pa.types.is_decimal(type_) and type_.precision <= _WIDE:
        return _words(array)[:, 0].copy(), None
    if pa.types.is_boolean(type_):
        return _numpy(array.cast(pa.int8())).astype(np.int64), None
    if pa.types.is_date32(type_):
        return _numpy(array.view(pa.int32())).astype(np.int64), None
    if pa.types.is_timestamp(type_):
        return np.array(_numpy(array.view(pa.int64())), np.int64), None
    if pa.types.is_integer(type_):
        return np.array(_numpy(array), np.int64), None
    encoded = array.dictionary_encode()
    order = pc.sort_indices(encoded.dictionary)
    rank = np.empty(len(order), np.int64)
    rank[order.to_numpy()] = np.arange(len(order))
    codes = np.zeros(len(array), np.int64)
    present = ~array.is_null().to_numpy(zero_copy_only=False)
    codes[present] = rank[encoded.indices.drop_null().to_numpy()]
    return codes, encoded.dictionary.take(order)
