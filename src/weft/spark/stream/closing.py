"""Closing: as the watermark moves on, windows that end behind it are answered, once, from what a shard retains.

    watermark         after                    upto
    ------------------|------------------------|-----------> event time
    windows   |----------]                     |             answered before
                   |----------]                |             due
                              |----------]     |             due
                                       |----------]          next time

An event counts in every window that had not been answered when it came, as in Spark's own windows; it is late for a
query that has no such window left. A partial is kept while some window that is still to be answered may need it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from weft.spark.answers import Job, collected
from weft.spark.bundles import Buffers
from weft.spark.chunks import ENOUGH, Piece
from weft.spark.emitting import Last, emitted, joined
from weft.spark.keys import numbers
from weft.spark.lanes import Lane, Source, WindowOf, answers
from weft.spark.series import columns_of
from weft.spark.stream.blocks import Block, Layout


@dataclass(frozen=True)
class Delayed:
    """A lane whose windows are all labelled equally far ahead of what they cover, so that they fall due together."""

    delay: int
    lane: Lane


@dataclass(frozen=True)
class Closing:
    """What a shard needs to know to answer the queries of a root."""

    job: Job
    layout: Layout
    lanes: tuple[Delayed, ...]
    events: int
    """The partial column that counts events."""

    @property
    def reach(self) -> int:
        """How long after its slice began a partial may still be asked for."""
        return max((each.delay + each.lane.longest for each in self.lanes), default=0)

    @cached_property
    def steps(self) -> npt.NDArray[np.int64]:
        """Each query's slide."""
        return self.job.steps()[0]

    def upto(self, upto: int) -> npt.NDArray[np.int64]:
        """For each query, up to which end its windows are answered."""
        return np.full(len(self.steps), upto, np.int64)


def closing(job: Job, layout: Layout, events: int) -> Closing:
    """Sort a root's lanes by how far their windows are labelled ahead."""
    lanes = []
    for lane in job.lanes:
        by_delay: dict[int, list[WindowOf]] = {}
        for window in lane.windows:
            by_delay.setdefault(window.delay, []).append(window)
        lanes += [Delayed(delay, replace(lane, windows=tuple(windows))) for delay, windows in by_delay.items()]
    return Closing(job, layout, tuple(lanes), events)


def closed(
    what: Closing, block: Block | None, after: int, upto: int, last: Last | None
) -> Iterator[tuple[pa.RecordBatch | None, Last | None]]:
    """What goes out for the windows that end after `after` and not after `upto`; and what is to be remembered."""
    job = what.job
    due = [each for each in (_due(lane, after, upto) for lane in what.lanes) if each is not None]
    if block is not None and due:
        begin = min(first for _, first in due)
        block = block.chosen((block.slices >= begin) & (block.slices < upto))
    if block is None or not due or not block.count:
        if last is not None:
            none = collected((), job)
            yield emitted(job.emission, job.shape, none, last.keys.slice(0, 0), what.steps, what.upto(upto), last)
        return
    key_names = [f"key_{number}" for number in range(job.keys)]
    bounds = block.bounds()
    lanes = [each for each, _ in due]
    if job.emission.plain:
        for first, end, within in _pieces(bounds, ENOUGH):
            rows, keys = _stretch(block, first, end, within)
            out = Buffers(job.shape, keys.select(key_names))
            for lane, piece in _placed(lanes, rows, within, after, upto):
                for batch in answers(lane, piece, job.sources, job.ansi, out):
                    yield batch, None
            for batch in out.batches():
                yield batch, None
        return
    # what is remembered may be of keys that are in no piece any more, so all pieces' answers go out together
    whole = [
        (collected(_placed(lanes, rows, within, after, upto), job), keys)
        for first, end, within in _pieces(bounds, ENOUGH)
        for rows, keys in (_stretch(block, first, end, within),)
    ]
    answered, keys = joined(whole)
    yield emitted(job.emission, job.shape, answered, keys, what.steps, what.upto(upto), last)


def _stretch(
    block: Block, first: int, end: int, bounds: npt.NDArray[np.int64]
) -> tuple[pa.RecordBatch, pa.RecordBatch]:
    """The rows of whole keys, and their keys."""
    return block.rows.slice(first, end - first), block.keys.take(pa.array(block.key[bounds[:-1] + first]))


def _placed(
    lanes: Iterable[Delayed], rows: pa.RecordBatch, bounds: npt.NDArray[np.int64], after: int, upto: int
) -> Iterator[tuple[Lane, Piece]]:
    for each in lanes:
        yield each.lane, Piece(rows, bounds, max(after, _LEAST) - each.delay, upto - each.delay)


_LEAST = -(2**61)  # less than any instant, and the longest delay may still be taken from it


def _due(each: Delayed, after: int, upto: int) -> tuple[Delayed, int] | None:
    """The lane's windows of which one is due, and where the first one's interval begins."""
    windows, begins = [], []
    for window in each.lane.windows:
        first = window.offset + window.size + each.delay
        end = max(after, _LEAST)
        end += window.slide - (end - first) % window.slide
        if end <= upto:
            windows.append(window)
            begins.append(end - window.size - each.delay)
    return (replace(each, lane=replace(each.lane, windows=tuple(windows))), min(begins)) if windows else None


def _pieces(bounds: npt.NDArray[np.int64], enough: int) -> Iterator[tuple[int, int, npt.NDArray[np.int64]]]:
    """Runs of whole keys of about as many rows as a piece should hold: first row, end, and bounds within."""
    at = 0
    while at < len(bounds) - 1:
        end = max(at + 1, int(np.searchsorted(bounds, bounds[at] + enough, side="right")) - 1)
        yield int(bounds[at]), int(bounds[end]), bounds[at : end + 1] - bounds[at]
        at = end


def retained(what: Closing, block: Block, upto: int) -> Block:
    """The partials that some window that ends after `upto` may need."""
    return block.chosen(block.slices > upto - what.reach)


@dataclass(frozen=True)
class Late:
    """The partials of a block that came too late for some query: no window is left that takes them."""

    rows: npt.NDArray[np.int64]
    """Where they stand in the block."""
    events: npt.NDArray[np.int64]
    """How many events each stands for."""
    by_query: dict[int, npt.NDArray[np.bool_]]
    """For each query, by number, which of the rows it has missed."""

    @property
    def count(self) -> int:
        """How many events there are."""
        return int(self.events.sum())


def late(what: Closing, block: Block, after: int) -> Late:
    """What of a block came too late, and for which queries."""
    behind = np.flatnonzero(block.slices < after)
    slices = block.slices[behind]
    by_query: dict[int, npt.NDArray[np.bool_]] = {}
    any_query = np.zeros(len(behind), np.bool_)
    for each in what.lanes if len(behind) else ():
        passes = np.ones(len(behind), np.bool_)
        if each.lane.filter is not None:
            column, bit = each.lane.filter
            passes = (block.rows[f"signature_{column}"].to_numpy()[behind] >> bit) & 1 == 1
        for window in each.lane.windows:
            begun = (slices - window.offset) % window.slide
            missed = passes & (begun < window.size) & (slices - begun + window.size + each.delay <= after)
            if missed.any():
                any_query |= missed
                for number, _ in window.queries:
                    by_query[number] = by_query[number] | missed if number in by_query else missed
    events = numbers(block.rows[f"partial_{what.events}"])[behind]
    return Late(behind[any_query], events[any_query], {n: missed[any_query] for n, missed in by_query.items()})


def events_source(sources: tuple[Source, ...]) -> tuple[tuple[Source, ...], int]:
    """The sources with one that counts events, and that one's column."""
    for source in sources:
        if source.kind == "rows":
            return sources, source.column
    column = sum(columns_of(source.kind, source.type) for source in sources)
    return (*sources, Source("rows", None, column)), column
