"""Merging: partials of one group become one, column by column, and values become partials to be merged.

    group  value            group  count  mean  variance
    0      2.0                0      2     3.0      1.0
    1      5.0      -->       1      1     5.0      0.0
    0      4.0

What comes out is what the JVM makes of the same rows (the table in `series.py`): the same columns and types, null where
a group has no value. A value is a partial of itself, so events and stored partials go through the same kernels. In
ANSI mode a sum of long decimals that overflows raises, as it does in the JVM; otherwise it is a null of so many values.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from weft.algebra import exact, ordering
from weft.algebra.operators import MOMENTS, Operator, combine, load, store, sum_of
from weft.jit import kernel
from weft.spark.keys import absent_of, numbers
from weft.spark.series import may_overflow, precision

Groups = npt.NDArray[np.int64]
_LOW_HALF = 0xFFFF_FFFF


def lifted(kind: str, type_: str | None, values: pa.Array | None, rows: int) -> list[pa.Array]:
    """Values (or rows) as partials of one each, as columns to be merged."""
    if values is None:
        return [pa.array(np.ones(rows, np.int64))]
    match kind:
        case "count":
            return [_ones(values)]
        case "min" | "max":
            return [values]
        case "moments":
            floats = _as_floats(values)
            # of one infinity or NaN the JVM says that its variance is NaN
            return [_ones(values), floats, pc.multiply(floats, 0.0)]
        case "sum" if type_ == "bigint":
            whole, absent = numbers(values), absent_of(values)
            return [pa.array(whole & _LOW_HALF, mask=absent), pa.array(whole >> 32, mask=absent)]
        case "sum" if type_ in ("float", "double"):
            return [_as_floats(values)]
        case "sum" if may_overflow(kind, type_):
            return [values, _ones(values)]
        case "sum" if pa.types.is_decimal(values.type):
            return [values]
        case "sum":
            return [pa.array(numbers(values).astype(np.int64), mask=absent_of(values))]
    raise AssertionError(kind)


def merged(
    kind: str, type_: str | None, columns: list[pa.Array], group: Groups, groups: int, ansi: bool
) -> list[pa.Array]:
    """One partial for each of the groups, as columns."""
    match kind:
        case "rows" | "count":
            return [_summed(columns[0], group, groups)]
        case "min" | "max":
            return [_extremes(kind == "max", columns[0], group, groups)]
        case "moments":
            return _moments(columns, group, groups)
        case "sum" if pa.types.is_decimal(columns[0].type):
            return _decimals(type_ or "", columns, group, groups, ansi)
        case _:
            return [_summed(column, group, groups) for column in columns]


def _ones(values: pa.Array) -> pa.Array:
    """1 for every value, 0 for every null."""
    return pa.array(values.is_valid().to_numpy(zero_copy_only=False).astype(np.int64))


def _as_floats(values: pa.Array) -> pa.Array:
    if pa.types.is_decimal(values.type):
        return values.cast(pa.float64())
    return pa.array(numbers(values).astype(np.float64), mask=absent_of(values))


def _present(array: pa.Array) -> npt.NDArray[np.bool_]:
    absent = absent_of(array)
    return np.ones(len(array), np.bool_) if absent is None else ~absent


def _summed(column: pa.Array, group: Groups, groups: int) -> pa.Array:
    values = numbers(column)
    out, seen = _folded(sum_of(values.dtype, 1), values.reshape(-1, 1), group, _present(column), groups)
    return pa.array(out[:, 0], mask=None if seen.all() else ~seen)


def _folded(
    operator: Operator, matrix: npt.NDArray[Any], group: Groups, present: npt.NDArray[np.bool_], groups: int
) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]:
    out, seen = np.zeros((groups, matrix.shape[1]), matrix.dtype), np.zeros(groups, np.bool_)
    _fold(operator, matrix, group, present, out, seen)
    return out, seen


@kernel
def _fold(operator, matrix, group, present, out, seen):
    """Combine the rows that are present into their groups, in order."""
    for i in range(len(group)):
        if not present[i]:
            continue
        g, partial = group[i], load(operator, matrix, i)
        if seen[g]:
            store(operator, out, g, combine(operator, load(operator, out, g), partial))
        else:
            seen[g] = True
            store(operator, out, g, partial)


def _extremes(largest: bool, values: pa.Array, group: Groups, groups: int) -> pa.Array:
    at = np.full(groups, -1, np.int64)
    _find_extremes(largest, ordered(values), group, _present(values), at)
    return values.take(pa.array(at, mask=at < 0))


@kernel
def _find_extremes(largest, codes, group, present, at):
    """Where each group has its smallest or largest code; what is not found stays as it was."""
    for i in range(len(group)):
        if present[i]:
            g = group[i]
            if at[g] < 0 or (codes[i] > codes[at[g]] if largest else codes[i] < codes[at[g]]):
                at[g] = i


def ordered(values: pa.Array) -> npt.NDArray[np.int64]:
    """Integers in the order of the values; anything for nulls."""
    type_ = values.type
    if pa.types.is_floating(type_):
        return ordering.from_floats(numbers(values).astype(np.float64))
    if pa.types.is_boolean(type_):
        return numbers(values.cast(pa.int8())).astype(np.int64)
    if pa.types.is_date32(type_):
        return numbers(values.view(pa.int32())).astype(np.int64)
    if pa.types.is_timestamp(type_):
        return numbers(values.view(pa.int64()))
    if pa.types.is_integer(type_):
        return numbers(values).astype(np.int64)
    encoded = values.dictionary_encode()
    rank = np.empty(len(encoded.dictionary), np.int64)
    rank[pc.sort_indices(encoded.dictionary).to_numpy()] = np.arange(len(rank))
    codes = np.zeros(len(values), np.int64)
    codes[_present(values)] = rank[encoded.indices.drop_null().to_numpy()]
    return codes


def _moments(columns: list[pa.Array], group: Groups, groups: int) -> list[pa.Array]:
    count, mean, variance = (numbers(column).astype(np.float64) for column in columns)
    matrix = np.column_stack((count, mean, variance * count))
    out, seen = _folded(MOMENTS, matrix, group, count > 0, groups)
    counted = np.maximum(out[:, 0], 1)
    absent = None if seen.all() else ~seen
    return [
        pa.array(out[:, 0].astype(np.int64)),
        pa.array(out[:, 1], mask=absent),
        pa.array(out[:, 2] / counted, mask=absent),
    ]


def _decimals(type_: str, columns: list[pa.Array], group: Groups, groups: int, ansi: bool) -> list[pa.Array]:
    """Sums of decimals, ten digits longer than what they add, up to 38."""
    values = columns[0]
    words = np.frombuffer(values.buffers()[1], np.int64).reshape(-1, 2)[values.offset : values.offset + len(values)]
    out, seen = _folded(sum_of(np.int64, 4), exact.digits_of_decimals(words), group, _present(values), groups)
    digits = min(38, precision(type_) + 10)
    sums, overflow = exact.to_decimals(out, digits)
    if len(columns) == 1:
        return [_decimal_array(sums, seen, pa.decimal128(digits, values.type.scale))]
    counts = numbers(columns[1])
    spoiled = ~_present(values) & (counts > 0)  # overflowed before
    overflow |= np.bincount(group[spoiled], minlength=groups) > 0
    if ansi and overflow.any():
        raise OverflowError(f"a sum of {type_} does not fit decimal(38) [ARITHMETIC_OVERFLOW]. Cast to a shorter type.")
    known = seen & ~overflow
    return [
        _decimal_array(sums, known, pa.decimal128(digits, values.type.scale)),
        _summed(columns[1], group, groups),
    ]


def _decimal_array(words: npt.NDArray[np.int64], known: npt.NDArray[np.bool_], type_: pa.DataType) -> pa.Array:
    valid = None if known.all() else pa.array(known).buffers()[1]
    return pa.Array.from_buffers(type_, len(words), [valid, pa.py_buffer(np.ascontiguousarray(words))])
