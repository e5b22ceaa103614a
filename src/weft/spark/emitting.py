"""Emitting: which answers go out, and in which shape.

    long      query   key    end    value             wide      key    end    last_hour   last_day
              hour    AAPL   9:00   5                           AAPL   9:00   5           17
              day     AAPL   9:00   17                          AAPL   9:10   6           17
              hour    AAPL   9:10   6
              day     AAPL   9:10   17        <- not with `changed`: as before

With `changed`, an answer goes out only if it differs from the one before it of the same query and key (in the wide
form, a row if any of its answers does). A window without a row has no answer; the next answer after it counts as
changed, and nothing has to be remembered meanwhile, so idle keys vanish. With `empty`, a record says so: the first
window that holds no row after one that did, with every value null.

All of it happens over the answers of whole keys up to some instant, in a batch and in a micro-batch alike; what has to
be remembered from one to the next is the last answer of each query and key.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from weft.spark.bundles import Known, Shape, column_of, lists_of
from weft.spark.keys import dense
from weft.spark.results import arrow_type

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Emission:
    """What goes out."""

    wide: tuple[tuple[int, int], ...] = ()
    """The wide form's columns: the number of a query, and one of the long form's value columns."""
    changed: bool = False
    empty: bool = False

    @property
    def plain(self) -> bool:
        """Whether every answer goes out as it is."""
        return not (self.wide or self.changed or self.empty)

    @property
    def remembers(self) -> bool:
        """Whether the last answers count."""
        return self.changed or self.empty


EVERYTHING = Emission()


@dataclass(frozen=True)
class Answered:
    """Answers in rows: of which group (a query and key, or a key), for which window, and their values."""

    query: Numbers
    key: Numbers
    start: Numbers
    end: Numbers
    values: list[pa.Array]


@dataclass(frozen=True)
class Last:
    """The last answer of each group, where the window after it has not ended yet."""

    keys: pa.RecordBatch
    answered: Answered

    def to_bytes(self) -> bytes:
        """As two Arrow streams."""
        rows = self.answered
        columns = [pa.array(each) for each in (rows.query, rows.key, rows.start, rows.end)] + rows.values
        sink = pa.BufferOutputStream()
        for batch in (self.keys, pa.RecordBatch.from_arrays(columns, [str(n) for n in range(len(columns))])):
            with pa.ipc.new_stream(sink, batch.schema) as writer:
                writer.write_batch(batch)
        return bytes(sink.getvalue())

    @staticmethod
    def from_bytes(data: bytes) -> Last:
        """What `to_bytes` was given."""
        source = pa.BufferReader(data)
        keys, rows = (pa.ipc.open_stream(source).read_all().combine_chunks().to_batches() for _ in range(2))
        columns = rows[0].columns
        query, key, start, end = (column.to_numpy() for column in columns[:4])
        return Last(keys[0], Answered(query, key, start, end, list(columns[4:])))


class Collected:
    """Takes answers as `Buffers` does, and keeps them."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self._runs: list[tuple[int, Numbers, Numbers, int, dict[int, tuple[Any, Known]]]] = []

    def append(
        self, query: int, key: Numbers, start: Numbers, size: int, values: list[tuple[int, Any, Known]]
    ) -> Iterator[pa.RecordBatch]:
        """Keep a query's answers for some windows."""
        self._runs.append((query, key.copy(), start.copy(), size, {s: (v, known) for s, v, known in values}))
        return iter(())

    def rows(self) -> Answered:
        """All of them, each query's value columns in the long form's."""
        runs = self._runs
        counts = [len(run[1]) for run in runs]
        none = np.empty(0, np.int64)
        return Answered(
            np.repeat(np.array([run[0] for run in runs], np.int64), counts),
            np.concatenate([run[1] for run in runs] or [none]),
            np.concatenate([run[2] for run in runs] or [none]),
            np.concatenate([run[2] + run[3] for run in runs] or [none]),
            [
                pa.concat_arrays(
                    [
                        column_of(type_, [run[4][slot]]) if slot in run[4] else pa.nulls(count, type_)
                        for run, count in zip(runs, counts, strict=True)
                    ]
                    or [pa.nulls(0, type_)]
                )
                for slot, type_ in enumerate(map(arrow_type, self.shape.slots))
            ],
        )


def emitted(
    what: Emission,
    shape: Shape,
    answered: Answered,
    keys: pa.RecordBatch,
    steps: Numbers,
    upto: Numbers,
    last: Last | None,
) -> tuple[pa.RecordBatch, Last | None]:
    """What goes out of the answers up to some instant, and what to remember.

    `steps` and `upto` are by query: its slide, and the last end at which a window of it would have been answered.
    """
    if what.wide:
        answered = _pivoted(what.wide, answered)
    empty = np.zeros(len(answered.key), np.bool_)
    if what.remembers:
        keys, answered, old = _after(keys, answered, last)
        keys, answered, empty, last = _changes(what, keys, answered, old, steps, upto)
    out = _wide(what, shape, answered, keys, empty) if what.wide else _bundled(what, shape, answered, keys, empty)
    return out, last


def joined(parts: Sequence[tuple[Answered, pa.RecordBatch]]) -> tuple[Answered, pa.RecordBatch]:
    """Answers of different keys together, and their keys."""
    if len(parts) == 1:
        return parts[0]
    begins = np.cumsum([0, *(keys.num_rows for _, keys in parts)])
    rows = [answered for answered, _ in parts]
    return Answered(
        np.concatenate([each.query for each in rows]),
        np.concatenate([each.key + begin for each, begin in zip(rows, begins, strict=False)]),
        np.concatenate([each.start for each in rows]),
        np.concatenate([each.end for each in rows]),
        [pa.concat_arrays(columns) for columns in zip(*(each.values for each in rows), strict=True)],
    ), pa.Table.from_batches([keys for _, keys in parts]).combine_chunks().to_batches()[0]


def _pivoted(columns: Sequence[tuple[int, int]], rows: Answered) -> Answered:
    """A row for each key and end, with a column for each of the queries' values."""
    row, first = dense([rows.key, rows.end], len(rows.key))
    values = []
    for query, slot in columns:
        mine = np.flatnonzero(rows.query == query)
        at = np.full(len(first), -1, np.int64)
        at[row[mine]] = mine
        values.append(rows.values[slot].take(pa.array(at, mask=at < 0)))
    return Answered(np.zeros(len(first), np.int64), rows.key[first], rows.start[first], rows.end[first], values)


def _after(
    keys: pa.RecordBatch, rows: Answered, last: Last | None
) -> tuple[pa.RecordBatch, Answered, npt.NDArray[np.bool_]]:
    """The last answers before the new ones, over one table of keys; and which are old."""
    old = np.zeros(len(rows.key), np.bool_)
    if last is None:
        return keys, rows, old
    both = pa.Table.from_batches([last.keys, keys]).combine_chunks()
    of_row, first = dense([column.combine_chunks() for column in both.columns], both.num_rows)
    before, known = last.answered, last.keys.num_rows
    both_rows = Answered(
        np.concatenate((before.query, rows.query)),
        np.concatenate((of_row[before.key], of_row[known + rows.key])),
        np.concatenate((before.start, rows.start)),
        np.concatenate((before.end, rows.end)),
        [pa.concat_arrays([a, b.cast(a.type)]) for a, b in zip(before.values, rows.values, strict=True)],
    )
    old = np.arange(len(both_rows.key)) < len(before.key)
    return both.take(pa.array(first)).combine_chunks().to_batches()[0], both_rows, old


def _changes(
    what: Emission, keys: pa.RecordBatch, rows: Answered, old: npt.NDArray[np.bool_], steps: Numbers, upto: Numbers
) -> tuple[pa.RecordBatch, Answered, npt.NDArray[np.bool_], Last | None]:
    """The answers that differ, the records of empty windows, and the last answers, which the next one may follow."""
    order = np.lexsort((rows.end, rows.key, rows.query))
    rows, old = _taken(rows, order), old[order]
    count = len(order)
    follows = np.zeros(count, np.bool_)  # the row before is the same group's, and its window the one before
    ends = np.ones(count, np.bool_)
    if count:
        alike = (rows.query[1:] == rows.query[:-1]) & (rows.key[1:] == rows.key[:-1])
        ends[:-1] = ~alike
        follows[1:] = alike & (rows.end[:-1] + steps[rows.query[1:]] == rows.end[1:])
    same = follows.copy()
    for column in rows.values:
        codes = column.dictionary_encode(null_encoding="encode").indices.to_numpy()
        same[1:] &= codes[1:] == codes[:-1]
    goes = ~old & ~same if what.changed else ~old
    following = rows.end + steps[rows.query]
    passed = np.where(ends, following <= upto[rows.query], ~np.append(follows[1:], False))
    kept = np.flatnonzero(ends & ~passed)
    last = None
    if len(kept):
        used, key = np.unique(rows.key[kept], return_inverse=True)
        mine = _taken(rows, kept)
        last = Last(keys.take(pa.array(used)), Answered(mine.query, key.astype(np.int64), *_rest(mine)))
    if not what.empty:
        return keys, _taken(rows, np.flatnonzero(goes)), np.zeros(int(goes.sum()), np.bool_), last
    gone = np.flatnonzero(passed)
    some = np.concatenate((np.flatnonzero(goes), gone))
    empty = np.arange(len(some)) >= len(some) - len(gone)
    shift = np.where(empty, steps[rows.query[some]], 0)
    taken = _taken(rows, some)
    blank = pa.array(np.where(empty, -1, np.arange(len(some))), mask=empty)
    values = [column.take(blank) for column in taken.values]
    moved = Answered(taken.query, taken.key, taken.start + shift, taken.end + shift, values)
    order = np.lexsort((moved.end, moved.key, moved.query))
    return keys, _taken(moved, order), empty[order], last


def _rest(rows: Answered) -> tuple[Numbers, Numbers, list[pa.Array]]:
    return rows.start, rows.end, rows.values


def _taken(rows: Answered, at: Numbers) -> Answered:
    places = pa.array(at)
    return Answered(
        rows.query[at], rows.key[at], rows.start[at], rows.end[at], [column.take(places) for column in rows.values]
    )


def _wide(
    what: Emission, shape: Shape, rows: Answered, keys: pa.RecordBatch, empty: npt.NDArray[np.bool_]
) -> pa.RecordBatch:
    columns = keys.take(pa.array(rows.key)).columns if shape.keyed else []
    columns = [*columns, pa.array(rows.end).view(arrow_type(shape.time))]
    if what.empty:
        columns.append(pa.array(empty))
    return pa.RecordBatch.from_arrays([*columns, *rows.values], shape.names)


def _bundled(
    what: Emission, shape: Shape, rows: Answered, keys: pa.RecordBatch, empty: npt.NDArray[np.bool_]
) -> pa.RecordBatch:
    """Runs of one query and key as lists."""
    begin = np.ones(len(rows.key), np.bool_)
    begin[1:] = (rows.query[1:] != rows.query[:-1]) | (rows.key[1:] != rows.key[:-1])
    complete = shape.complete(rows.query, rows.start)
    if complete is not None:
        begin[1:] |= complete[1:] != complete[:-1]
    firsts = np.flatnonzero(begin)
    lengths = np.diff(firsts, append=len(rows.key))
    numbers = pa.array(rows.query[firsts].astype(np.int32))
    columns = [pa.array(shape.ids).take(numbers)]
    if shape.keyed:
        columns += keys.take(pa.array(rows.key[firsts])).columns
    if complete is not None:
        columns.append(pa.array(complete[firsts]))
    clock = arrow_type(shape.time)
    values = [pa.array(rows.start).view(clock), pa.array(rows.end).view(clock)]
    values += [pa.array(empty), *rows.values] if what.empty else rows.values
    return pa.RecordBatch.from_arrays([*columns, *(lists_of(each, lengths) for each in values)], shape.names)
