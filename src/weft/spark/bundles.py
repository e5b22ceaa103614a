"""Bundles: how the long form travels from a worker to the JVM.

Answers of one query for one key that follow each other are one row of lists, which the JVM unrolls:

    query   key    window_start        window_end          value_double       value_bigint
    high    AAPL   [8:00, 8:02, 8:04]  [8:10, 8:12, 8:14]  [1.5, 1.5, null]   null           the query has none

A name and a key then cross over once per list, not once per row, which more than halves the bytes on the way, and a
filter on either is decided before anything is unrolled. What a row costs is the reason: taking forty million rows of
five columns in is most of the work of a plan with a thousand queries.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from weft.queries import expressions as ex
from weft.spark.results import arrow_type

ROOM = 1 << 18
"""Answers of a batch: large enough to forget Arrow's cost per batch, small enough to be held a few times over."""

_AT = "__weft_at"
_ENDS = ("window_end", "row_end")

Known = npt.NDArray[np.bool_] | None
"""Which values are not null; None where none is."""


@dataclass(frozen=True)
class Shape:
    """What a worker's bundles look like."""

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
    keyed: bool = True
    """Whether the queries group by anything."""
    begins: tuple[int, ...] | None = None
    """Where rows say whether they are complete: by number, from which window on, by its start, a query's are."""

    def complete(self, query: int | npt.NDArray[np.int64], start: npt.NDArray[np.int64]) -> Known:
        """Which windows of a query, or of one each, are complete; None where rows do not say so."""
        if self.begins is None:
            return None
        return start >= (self.begins[query] if isinstance(query, int) else np.array(self.begins, np.int64)[query])


def bundled(long_form: T.StructType, values: int) -> T.StructType:
    """The schema of bundles: the window's ends and the `values` value columns, which stand last, are lists."""
    first_list = len(long_form.fields) - values - 2
    lists = (
        T.StructField(field.name, T.ArrayType(field.dataType, field.nullable), field.nullable)
        for field in long_form.fields[first_list:]
    )
    return T.StructType([*long_form.fields[:first_list], *lists])


def unrolled(bundles: DataFrame, values: int) -> DataFrame:
    """The rows of the long form, in the bundles' order."""
    first_list = len(bundles.columns) - values - 2
    singles = [F.col(ex.quoted(name)) for name in bundles.columns[:first_list]]
    start, end, *slots = bundles.columns[first_list:]
    rows = bundles.select(*singles, F.posexplode(start).alias(_AT, start), end, *slots)
    return rows.select(
        *singles,
        start,
        # the two lists are of one length, but only this way does Spark know that an end is never null
        F.coalesce(F.get(end, F.col(_AT)), F.col(start)).alias(end),
        *(F.get(slot, F.col(_AT)).alias(slot) for slot in slots),
    )


def packed(form: T.StructType) -> T.StructType:
    """The schema in which rows of a form leave the workers: lists where it is the long form, else as it is."""
    return bundled(form, _values(form)) if "query" in form.names else form


def unpacked(sent: DataFrame, form: T.StructType) -> DataFrame:
    """The rows of a form out of what the workers sent."""
    return unrolled(sent, _values(form)) if "query" in form.names else sent


def _values(long_form: T.StructType) -> int:
    """How many columns stand after the window's ends."""
    return len(long_form.names) - 1 - max(n for n, name in enumerate(long_form.names) if name in _ENDS)


class Buffers:
    """One batch of bundles in the making. Runs of answers are appended; `batches` gives what is complete."""

    def __init__(self, shape: Shape, keys: pa.RecordBatch) -> None:
        self.shape, self.keys = shape, keys
        self.ids = pa.array(shape.ids, pa.string())
        self._fresh()

    def _fresh(self) -> None:
        self._at = 0
        self._start, self._end = np.empty(ROOM, np.int64), np.empty(ROOM, np.int64)
        self._runs: list[_Run] = []

    def append(
        self,
        query: int,
        key: npt.NDArray[np.int64],
        start: npt.NDArray[np.int64],
        size: int,
        values: list[tuple[int, Any, Known]],
    ) -> Iterator[pa.RecordBatch]:
        """Add a query's answers for some windows: for each value column used, the values and which are not null."""
        if self._at + len(key) > ROOM:
            yield from self.batches()
        begin, self._at = self._at, self._at + len(key)
        self._start[begin : self._at] = start
        np.add(start, size, out=self._end[begin : self._at])
        begins = np.concatenate(([True], key[1:] != key[:-1]))
        complete = self.shape.complete(query, start)
        if complete is not None:
            begins[1:] |= complete[1:] != complete[:-1]
        firsts = np.flatnonzero(begins)
        answered = {slot: (array, known) for slot, array, known in values}
        lengths, whole = np.diff(firsts, append=len(key)), None if complete is None else complete[firsts]
        self._runs.append(_Run(query, key[firsts], lengths, answered, whole))

    def batches(self) -> Iterator[pa.RecordBatch]:
        """What has been appended, if anything; the buffers are empty afterwards."""
        if not self._at:
            return
        runs = self._runs
        lists = [len(run.key) for run in runs]
        numbers = pa.array(np.repeat(np.array([run.query for run in runs], np.int32), lists))
        columns = [self.ids.take(numbers)]
        if self.shape.numbered:
            columns.append(numbers)
        if self.keys.num_columns:
            columns += self.keys.take(pa.array(np.concatenate([run.key for run in runs]))).columns
        if self.shape.begins is not None:
            columns.append(pa.array(np.concatenate([run.complete for run in runs if run.complete is not None])))
        lengths = np.concatenate([run.lengths for run in runs])
        clock = arrow_type(self.shape.time)
        columns += [lists_of(pa.array(ends[: self._at]).view(clock), lengths) for ends in (self._start, self._end)]
        for slot, type_ in enumerate(self.shape.slots):
            used = np.array([slot in run.answered for run in runs])
            parts = [run.answered[slot] for run in runs if slot in run.answered]
            columns.append(lists_of(column_of(arrow_type(type_), parts), lengths, np.repeat(used, lists)))
        self._fresh()
        yield pa.RecordBatch.from_arrays(columns, self.shape.names)


def unbundled(batch: pa.RecordBatch, shape: Shape) -> pa.RecordBatch:
    """A row for each answer, as the JVM makes them of bundles; a batch that has no lists is one already."""
    lists = [pa.types.is_list(field.type) for field in batch.schema]
    if not any(lists):
        return batch
    of_list = pc.list_parent_indices(batch.columns[lists.index(True)])
    columns = [
        _values_of(column, of_list) if is_list else column.take(of_list)
        for column, is_list in zip(batch.columns, lists, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, shape.names)


def _values_of(lists: pa.ListArray, of_list: pa.Array) -> pa.Array:
    """The values one after the other; where a list is null, its answers have no value."""
    values = lists.flatten()
    if not lists.null_count:
        return values
    used = lists.is_valid().to_numpy(zero_copy_only=False)[of_list.to_numpy()]
    at = np.cumsum(used) - 1
    return values.take(pa.array(at, mask=~used))


@dataclass(frozen=True)
class _Run:
    """Answers of a query: for which key each list is, how long it is, and the values by value column."""

    query: int
    key: npt.NDArray[np.int64]
    lengths: npt.NDArray[np.int64]
    answered: dict[int, tuple[Any, Known]]
    complete: npt.NDArray[np.bool_] | None
    """Which lists are of complete rows, where rows say so."""


def lists_of(values: pa.Array, lengths: npt.NDArray[np.int64], used: Known = None) -> pa.Array:
    """The values as lists of these lengths; a list that is not used has no values and is null."""
    unused = None
    if used is not None and not used.all():
        lengths, unused = np.where(used, lengths, 0), pa.array(~used)
    offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), values, mask=unused)


def column_of(type_: pa.DataType, parts: list[tuple[Any, Known]]) -> pa.Array:
    """The values of all parts in one column."""
    if not parts:
        return pa.nulls(0, type_)
    if isinstance(parts[0][0], pa.Array):
        null = pa.scalar(None, type_)
        cast = [(array.cast(type_), known) for array, known in parts]
        return pa.concat_arrays(a if known is None else pc.if_else(pa.array(known), a, null) for a, known in cast)
    values = np.concatenate([array for array, _ in parts])
    if all(known is None for _, known in parts):
        return _arrow(type_, values, None)
    return _arrow(type_, values, ~np.concatenate([np.ones(len(a), bool) if k is None else k for a, k in parts]))


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
