"""Chunks: a worker's input, sorted by key and slice, cut into pieces that fit in memory.

    rows        a a a a | b b | c c c c c c c c c c c c c c c ...
    pieces      [-----------]   [-------------]
                                        [---- carried -----------]

A piece holds whole keys, or, where one key has more slices than a piece should hold, a stretch of that key: then only
the windows that end within the stretch are answered, and the slices that later windows reach back to are carried over.
That is all there is to a stream as well, so a piece says `after < end <= upto` and nothing of why.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from weft.techniques.windows import ALWAYS, NEVER

ENOUGH = 1 << 18
"""Slices of a piece: a few tens of megabytes with their tables."""


@dataclass(frozen=True)
class Piece:
    """Slices of some keys, in order: where each key begins, and which windows are due, by their end."""

    rows: pa.RecordBatch
    bounds: npt.NDArray[np.int64]
    after: int
    upto: int


def pieces(batches: Iterable[pa.RecordBatch], longest: int, enough: int = ENOUGH) -> Iterator[Piece]:
    """Cut the input: `rank` counts a key's rows from 1; `longest` is the longest range, in ticks."""
    held: list[pa.RecordBatch] = []
    count, target, after = 0, enough, ALWAYS
    for batch in batches:
        held.append(batch)
        count += batch.num_rows
        if count < target:
            continue
        rows = _joined(held)
        begins = _key_begins(rows)
        if len(begins) > 1:
            yield from _finished(rows.slice(0, begins[-1]), after)
            rows, after = rows.slice(begins[-1]), ALWAYS
        if rows.num_rows >= target:
            # rows of the last slice may still be coming, so windows are due up to its start
            starts = rows["slice"].to_numpy()
            yield Piece(rows, np.array([0, rows.num_rows]), after, int(starts[-1]))
            after = int(starts[-1])
            rows = rows.slice(int(np.searchsorted(starts, after - longest)))
        held, count = [rows], rows.num_rows
        target = max(enough, 2 * count)
    if count:
        yield from _finished(_joined(held), after)


def _finished(rows: pa.RecordBatch, after: int) -> Iterator[Piece]:
    """Whole keys, of which the first may have been answered up to `after` already."""
    begins = _key_begins(rows)
    if after != ALWAYS:
        first = int(begins[1]) if len(begins) > 1 else rows.num_rows
        yield Piece(rows.slice(0, first), np.array([0, first]), after, NEVER)
        rows, begins = rows.slice(first), begins[1:] - first
    if rows.num_rows:
        yield Piece(rows, np.append(begins, rows.num_rows), ALWAYS, NEVER)


def _key_begins(rows: pa.RecordBatch) -> npt.NDArray[np.int64]:
    """Where keys begin; the first row begins one, or goes on with one that has been cut."""
    begin = rows["rank"].to_numpy() == 1
    begin[0] = True
    return np.flatnonzero(begin)


def _joined(held: list[pa.RecordBatch]) -> pa.RecordBatch:
    return held[0] if len(held) == 1 else pa.Table.from_batches(held).combine_chunks().to_batches()[0]
