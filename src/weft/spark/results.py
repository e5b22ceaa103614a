"""Results: the long form, and the buffers that a worker writes it to.

The long form has one row per query, group and window:

    query   <group keys>   window_start   window_end   value_double   value_bigint   value_bigint_2   ...

A query's aggregates stand in the value columns of their types, in the order in which the query first uses them;
integers of all widths in value_bigint, floats and doubles in value_double, and a column for each decimal type, so
nothing is rounded. A plan's queries agree on the columns; `binding.slot` says which aggregate stands where. Group keys
that a query does not group by are null in its rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

ROOM = 1 << 18
"""Rows of a result batch: large enough to forget Arrow's cost per batch, small enough for the processor's cache."""

_STORED_AS = {
    "tinyint": "bigint", "smallint": "bigint", "int": "bigint", "bigint": "bigint",
    "float": "double", "double": "double",
}  # fmt: skip
_ARROW: Mapping[str, pa.DataType] = {
    "bigint": pa.int64(),
    "double": pa.float64(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "timestamp_ntz": pa.timestamp("us"),
    "string": pa.string(),
    "binary": pa.binary(),
}


def stored_type(type_: str) -> str:
    """The Spark type of the value column that holds answers of this Spark type."""
    return _STORED_AS.get(type_, type_)


def storable(type_: str) -> bool:
    """Whether there is a value column for answers of this Spark type."""
    return stored_type(type_) in _ARROW or type_.startswith("decimal")


def slot_name(type_: str, number: int) -> str:
    """The name of the number-th value column of a type, from 0.

    >>> slot_name("bigint", 0), slot_name("decimal(38,2)", 1)
    ('value_bigint', 'value_decimal_38_2_2')
    """
    plain = type_.replace("(", "_").replace(",", "_").replace(")", "")
    return f"value_{plain}" + (f"_{number + 1}" if number else "")


def arrow_type(type_: str) -> pa.DataType:
    """The Arrow type of a value column."""
    if type_.startswith("decimal"):
        precision, scale = type_[8:-1].split(",")
        return pa.decimal128(int(precision), int(scale))
    return _ARROW[type_]


@dataclass(frozen=True)
class Shape:
    """What the rows of a worker look like."""

    names: tuple[str, ...]
    """Of all columns."""
    slots: tuple[str, ...]
    """The Spark type of each value column."""
    ids: tuple[str, ...]
    """The queries' names, by number."""
    time: str
    """The Spark type of the window's ends: timestamp, timestamp_ntz, or bigint for row numbers."""
    numbered: bool
    """Whether a query's number goes along with its name, for HAVING."""


class Buffers:
    """One batch of results in the making. Segments of rows are appended; `batches` gives what is complete."""

    def __init__(self, shape: Shape, keys: pa.RecordBatch) -> None:
        self.shape, self.keys = shape, keys
        self.ids = pa.array(shape.ids, pa.string())
        self._fresh()

    def _fresh(self) -> None:
        self.at = 0
        self.query = np.empty(ROOM, np.int32)
        self.key, self.start, self.end = (np.empty(ROOM, np.int64) for _ in range(3))
        self.slots: list[list[tuple[int, int, Any, npt.NDArray[np.bool_] | None]]] = [[] for _ in self.shape.slots]

    def append(
        self,
        query: int,
        key: npt.NDArray[np.int64],
        start: npt.NDArray[np.int64],
        size: int,
        values: list[tuple[int, Any, npt.NDArray[np.bool_] | None]],
    ) -> Iterator[pa.RecordBatch]:
        """Add a query's answers for some windows: for each value column used, the values and which are not null."""
        if self.at + len(key) > ROOM:
            yield from self.batches()
        begin, end = self.at, self.at + len(key)
        self.query[begin:end] = query
        self.key[begin:end] = key
        self.start[begin:end] = start
        np.add(start, size, out=self.end[begin:end])
        for slot, array, known in values:
            self.slots[slot].append((begin, end, array, known))
        self.at = end

    def batches(self) -> Iterator[pa.RecordBatch]:
        """What has been appended, if anything; the buffers are empty afterwards."""
        count = self.at
        if not count:
            return
        clock = pa.timestamp("us", "UTC") if self.shape.time == "timestamp" else pa.timestamp("us")
        clock = pa.int64() if self.shape.time == "bigint" else clock
        columns = [self.ids.take(pa.array(self.query[:count]))]
        if self.shape.numbered:
            columns.append(pa.array(self.query[:count]))
        if self.keys.num_columns:
            columns += self.keys.take(pa.array(self.key[:count])).columns
        columns += [pa.array(self.start[:count]).view(clock), pa.array(self.end[:count]).view(clock)]
        columns += [
            _column(arrow_type(type_), segments, count)
            for type_, segments in zip(self.shape.slots, self.slots, strict=True)
        ]
        self._fresh()
        yield pa.RecordBatch.from_arrays(columns, self.shape.names)


def _column(type_: pa.DataType, segments: list[tuple[int, int, Any, Any]], count: int) -> pa.Array:
    """One value column from the segments that fill parts of it; the rest is null."""
    if not segments:
        return pa.nulls(count, type_)
    if isinstance(segments[0][2], pa.Array):
        return _joined(type_, segments, count)
    width = segments[0][2].shape[1:]
    values = np.empty((count, *width), segments[0][2].dtype)
    absent = np.ones(count, bool)
    for begin, end, array, known in segments:
        values[begin:end] = array
        absent[begin:end] = False if known is None else ~known
    if sum(end - begin for begin, end, _, known in segments if known is None) == count:
        return _arrow(type_, values, None)
    return _arrow(type_, values, absent)


def _arrow(type_: pa.DataType, values: npt.NDArray[Any], absent: npt.NDArray[np.bool_] | None) -> pa.Array:
    if pa.types.is_decimal(type_):
        valid = None if absent is None else pa.array(~absent).buffers()[1]
        return pa.Array.from_buffers(type_, len(values), [valid, pa.py_buffer(np.ascontiguousarray(values))])
    if pa.types.is_boolean(type_):
        return pa.array(values != 0, mask=absent)
    if pa.types.is_date32(type_):
        return pa.array(values.astype(np.int32), mask=absent).view(type_)
    array = pa.array(values, mask=absent)
    return array if array.type == type_ else array.view(type_)


def _joined(type_: pa.DataType, segments: list[tuple[int, int, Any, Any]], count: int) -> pa.Array:
    """Segments that are Arrow arrays already, with nulls in between."""
    pieces, at = [], 0
    for begin, end, array, known in segments:
        if begin > at:
            pieces.append(pa.nulls(begin - at, type_))
        array = array.cast(type_)
        if known is not None:
            array = pc.if_else(pa.array(known), array, pa.scalar(None, type_))
        pieces.append(array)
        at = end
    if at < count:
        pieces.append(pa.nulls(count - at, type_))
    return pa.concat_arrays(pieces)
