"""Answers: what runs in the Python workers. Slices of a shard come in over Arrow, answers of every query go out.

The input is sorted by key and slice, with the row number within the key in `rank`. Nothing here is done per row in
Python: a piece of slices is prepared once per lane and partial, and each query then costs two kernel calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from weft.spark.bundles import Buffers, Shape
from weft.spark.chunks import Piece, pieces
from weft.spark.emitting import EVERYTHING, Answered, Collected, Emission, emitted
from weft.spark.lanes import Lane, Source, answers


@dataclass(frozen=True)
class Job:
    """All that a worker needs to know about the queries of one root; it travels to the workers once."""

    lanes: tuple[Lane, ...]
    sources: tuple[Source, ...]
    keys: int
    """How many key columns there are: key_0, key_1, ..."""
    shape: Shape
    ansi: bool
    emission: Emission = EVERYTHING

    def steps(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Each query's slide, and how far its windows are labelled ahead of what they cover, by number."""
        slides, delays = np.ones(len(self.shape.ids), np.int64), np.zeros(len(self.shape.ids), np.int64)
        for lane in self.lanes:
            for window in lane.windows:
                for number, _ in window.queries:
                    slides[number], delays[number] = window.slide, window.delay
        return slides, delays


def answering(job: Job) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The function that Spark maps over every shard."""

    longest = max(lane.longest for lane in job.lanes)

    def answer(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for piece in pieces(batches, longest):
            out = Buffers(job.shape, _keys(job, piece.rows, piece.bounds[:-1]))
            for lane in job.lanes:
                yield from answers(lane, piece, job.sources, job.ansi, out)
            yield from out.batches()

    def emit(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        (steps, delays), last = job.steps(), None
        for piece in pieces(batches, longest, FEW):
            keys = _keys(job, piece.rows, piece.bounds[:-1])
            found = collected(((lane, piece) for lane in job.lanes), job)
            out, last = emitted(job.emission, job.shape, found, keys, steps, piece.upto + delays, last)
            if out.num_rows:
                yield out

    return answer if job.emission.plain else emit


FEW = 1 << 14
"""Slices of a piece whose answers are all held at once."""


def collected(lanes: Iterable[tuple[Lane, Piece]], job: Job) -> Answered:
    """All answers of some lanes over their pieces, in rows."""
    out = Collected(job.shape)
    for lane, piece in lanes:
        for _ in answers(lane, piece, job.sources, job.ansi, cast(Buffers, out)):
            raise AssertionError("nothing is passed on")
    return out.rows()


def _keys(job: Job, rows: pa.RecordBatch, begins: npt.NDArray[np.int64]) -> pa.RecordBatch:
    """One row per key of the piece."""
    first = pa.array(begins)
    if not job.keys and not job.emission.plain:
        return pa.RecordBatch.from_arrays([pa.array(np.zeros(len(begins), np.int8))], ["all"])
    names = [f"key_{number}" for number in range(job.keys)]
    return pa.RecordBatch.from_arrays([rows[name].take(first) for name in names], names)
