"""Answers: what runs in the Python workers. Slices of a shard come in over Arrow, answers of every query go out.

The input is sorted by key and slice, with the row number within the key in `rank`. Nothing here is done per row in
Python: a piece of slices is prepared once per lane and partial, and each query then costs two kernel calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from weft.spark.bundles import Buffers, Shape
from weft.spark.chunks import pieces
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


def answering(job: Job) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The function that Spark maps over every shard."""

    def answer(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        longest = max(lane.longest for lane in job.lanes)
        for piece in pieces(batches, longest):
            out = Buffers(job.shape, _keys(job, piece.rows, piece.bounds[:-1]))
            for lane in job.lanes:
                yield from answers(lane, piece, job.sources, job.ansi, out)
            yield from out.batches()

    return answer


def _keys(job: Job, rows: pa.RecordBatch, begins: npt.NDArray[np.int64]) -> pa.RecordBatch:
    """One row per key of the piece."""
    first = pa.array(begins)
    names = [f"key_{number}" for number in range(job.keys)]
    return pa.RecordBatch.from_arrays([rows[name].take(first) for name in names], names)
