"""Lanes: the queries of one filter over one piece of slices.

Slices come apart by which filters their rows passed (Shared Data Shards, Krishnamurthy, Wu and Franklin, SIGMOD 2006):
a row's signature is a bit per filter, and a slice has a partial for every signature that occurs in it. The lane of a
filter is the partials whose signature has its bit, in the same order, so several of them may begin at one instant;
a window simply covers them all. What a lane costs is proportional to the partials that passed its filter.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from weft.algebra import exact, ordering
from weft.algebra.operators import Matrix
from weft.spark.bundles import ROOM, Buffers
from weft.spark.chunks import Piece
from weft.spark.results import arrow_type
from weft.spark.series import Series, columns_of, series
from weft.techniques import BY_NAME, windows
from weft.techniques.technique import Positions, State

Values = tuple[Any, npt.NDArray[np.bool_] | None]


@dataclass(frozen=True)
class Source:
    """A partial as the JVM sends it: its kind, its argument's Spark type, and the first of its columns."""

    kind: str
    type: str | None
    column: int


@dataclass(frozen=True)
class Answer:
    """An aggregate of a query: which sources it is made of, its result's Spark type, and its value column."""

    function: str
    sources: tuple[int, ...]
    type: str
    slot: int
    shift: int = 0
    """Decimal places that an average of decimals has more than its argument."""


@dataclass(frozen=True)
class WindowOf:
    """A covered window, how far its label is ahead of it, and the queries (by number) that ask for it."""

    size: int
    slide: int
    offset: int
    delay: int
    queries: tuple[tuple[int, tuple[Answer, ...]], ...]


@dataclass(frozen=True)
class Lane:
    """The windows of one filter (None: every row) and one set of keys, and the technique of their tree."""

    filter: tuple[int, int] | None
    """The signature column and bit of the filter."""
    technique: str
    windows: tuple[WindowOf, ...]
    keys: int | None = None
    """The number of the set of keys that its queries group by, where the slices are those of several."""
    since: int | None = None
    """Slices that begin before this instant are none of it; None where all are."""

    @property
    def longest(self) -> int:
        """The longest range, in ticks."""
        return max(window.size for window in self.windows)


class _Partials:
    """The partials of a lane over a piece, made ready when a query first asks for them."""

    def __init__(self, lane: Lane, piece: Piece, sources: tuple[Source, ...]) -> None:
        starts = piece.rows["slice"].to_numpy()
        self._piece, self._lane, self._sources = piece, lane, sources
        self._chosen: npt.NDArray[np.int64] | None = None
        self.bounds = piece.bounds
        mine = _of_lane(lane, piece)
        if mine is not None:
            self._chosen = np.flatnonzero(mine)
            self.bounds = np.searchsorted(self._chosen, piece.bounds)
            starts = starts[self._chosen]
        self.starts = np.ascontiguousarray(starts)
        self._widest = int(windows.widest(self.bounds, self.starts, lane.longest)) if len(starts) else 0
        self._ready: dict[int, Series] = {}
        self._shared: dict[int, State] = {}

    def __getitem__(self, source: int) -> Series:
        if source not in self._ready:
            wanted = self._sources[source]
            count = columns_of(wanted.kind, wanted.type)
            arrays = [self._piece.rows[f"partial_{wanted.column + i}"] for i in range(count)]
            if self._chosen is not None:
                positions = pa.array(self._chosen)
                arrays = [array.take(positions) for array in arrays]
            technique = BY_NAME[self._lane.technique]
            self._ready[source] = series(wanted.kind, wanted.type, arrays, technique, self._widest)
        return self._ready[source]

    def state(self, source: int) -> State:
        """The structure that all windows share, where the technique can answer any of them."""
        if source not in self._shared:
            self._shared[source] = self[source].begin()
        return self._shared[source]


def _of_lane(lane: Lane, piece: Piece) -> npt.NDArray[Any] | None:
    """Which rows of a piece a lane reads; None where it reads all."""
    mine = None
    if lane.filter is not None:
        column, bit = lane.filter
        mine = (piece.rows[f"signature_{column}"].to_numpy() >> bit) & 1
    if lane.keys is not None:
        keyed = piece.rows["keys"].to_numpy() == lane.keys
        mine = keyed if mine is None else mine & keyed
    if lane.since is not None:
        begun = piece.rows["slice"].to_numpy() >= lane.since
        mine = begun if mine is None else mine & begun
    return mine


class _Walk:
    """One covered window over a piece, run by run: what has been folded for this run, and where structures stand."""

    def __init__(self, partials: _Partials) -> None:
        self.partials = partials
        self._own: dict[int, State] = {}

    def to(self, lo: Positions, hi: Positions) -> None:
        """On to the next run of slices."""
        self.lo, self.hi = lo, hi
        self._folded: dict[int, Matrix] = {}

    def __getitem__(self, source: int) -> Matrix:
        """The combined partials of the run, made once, whoever asks."""
        if source not in self._folded:
            series = self.partials[source]
            if series.technique.historical:
                state = self.partials.state(source)
            elif source in self._own:
                state = self._own[source]
            else:
                state = self._own[source] = series.begin()
            self._folded[source] = series.fold(state, self.lo, self.hi)
        return self._folded[source]

    def has_value(self, source: int) -> npt.NDArray[np.bool_] | None:
        """Which windows have a value; None where all have one."""
        return self.partials[source].has_value(self.lo, self.hi)

    def overflowed(self, source: int) -> npt.NDArray[np.bool_] | bool:
        """Which windows have a slice that has overflowed."""
        return self.partials[source].overflowed(self.lo, self.hi)


def answers(
    lane: Lane, piece: Piece, sources: tuple[Source, ...], ansi: bool, out: Buffers
) -> Iterator[pa.RecordBatch]:
    """All answers of a lane over a piece, appended to `out`, which passes on full batches."""
    partials = _Partials(lane, piece, sources)
    if not len(partials.starts):
        return
    key, start, lo, hi = (np.empty(ROOM, np.int64) for _ in range(4))
    keys = len(partials.bounds) - 1
    for window in lane.windows:
        cursor, walk = windows.new_cursor(), _Walk(partials)
        while cursor[0] < keys:
            count = windows.walk(
                partials.bounds, partials.starts, window.size, window.slide, window.offset,
                piece.after, piece.upto, cursor, key, start, lo, hi, 0,
            )  # fmt: skip
            if not count:
                continue
            label = start[:count] + window.delay
            walk.to(lo[:count], hi[:count])
            known: dict[Answer, Values] = {}
            for number, asked in window.queries:
                values = []
                for answer in asked:
                    if answer not in known:
                        known[answer] = value(answer, walk, ansi, out.shape.ids[number])
                    values.append((answer.slot, *known[answer]))
                yield from out.append(number, key[:count], label, window.size, values)


def value(answer: Answer, walk: _Walk, ansi: bool, query: str) -> Values:
    """An aggregate's answers for the windows of a run, and which of them are not null (None: all)."""
    source = answer.sources[0]
    matrix, known = walk[source], walk.has_value(source)
    match answer.function:
        case "count":
            return matrix[:, 0], None
        case "min" | "max":
            return _extreme(answer, matrix, known, walk.partials[source].ranked), known
        case "sum":
            return _sum(answer, matrix, known, walk.overflowed(source), ansi, query)
        case "avg":
            return _average(answer, matrix, walk[answer.sources[1]][:, 0], walk.overflowed(source), ansi, query)
        case _:
            return _spread(answer.function, matrix)


def _extreme(
    answer: Answer, matrix: npt.NDArray[Any], known: npt.NDArray[np.bool_] | None, ranked: pa.Array | None
) -> Any:
    codes = matrix[:, 0]
    if ranked is not None:
        # where all values are null there are no ranks, so a window without a value must not look any up
        taken = ranked.take(pa.array(codes, mask=None if known is None else ~known))
        if not answer.type.startswith("decimal"):
            return taken
        words = np.frombuffer(taken.cast(arrow_type(answer.type)).buffers()[1], np.int64)
        return words.reshape(-1, 2)
    if answer.type in ("double", "float"):
        return ordering.to_floats(codes)
    return np.column_stack((codes, codes >> 63)) if answer.type.startswith("decimal") else codes


def _sum(
    answer: Answer,
    matrix: npt.NDArray[Any],
    known: npt.NDArray[np.bool_] | None,
    spoiled: npt.NDArray[np.bool_] | bool,
    ansi: bool,
    query: str,
) -> Values:
    if answer.type.startswith("decimal"):
        sums, overflow = exact.to_decimals(matrix, arrow_type(answer.type).precision)
    elif matrix.shape[1] == 2:
        sums, overflow = exact.to_bigints(matrix)
    else:
        return matrix[:, 0], known
    return sums, _without_overflow(answer, known, overflow | spoiled, ansi, query)


def _average(
    answer: Answer,
    matrix: npt.NDArray[Any],
    count: npt.NDArray[Any],
    spoiled: npt.NDArray[np.bool_] | bool,
    ansi: bool,
    query: str,
) -> Values:
    known = None if count.all() else count > 0
    if answer.type.startswith("decimal"):
        _, sum_overflow = exact.to_decimals(matrix, 38)
        averages, too_long = exact.averages(matrix, np.maximum(count, 1), answer.shift)
        words, overflow = exact.to_decimals(averages, arrow_type(answer.type).precision)
        return words, _without_overflow(answer, known, overflow | too_long | sum_overflow | spoiled, ansi, query)
    total = exact.to_floats(matrix) if matrix.dtype == np.int64 else matrix[:, 0]
    with np.errstate(invalid="ignore", divide="ignore"):
        return total / count, known


def _without_overflow(
    answer: Answer, known: npt.NDArray[np.bool_] | None, overflow: npt.NDArray[np.bool_], ansi: bool, query: str
) -> npt.NDArray[np.bool_] | None:
    """Raise as Spark does in ANSI mode; without it, decimals become null and integers wrap."""
    if not overflow.any():
        return known
    if ansi:
        raise OverflowError(
            f"query '{query}': {answer.function} does not fit {answer.type} [ARITHMETIC_OVERFLOW]. "
            "Cast its argument to a wider decimal."
        )
    if not answer.type.startswith("decimal"):
        return known
    return ~overflow if known is None else known & ~overflow


def _spread(function: str, moments: npt.NDArray[Any]) -> Values:
    count, squares = moments[:, 0], np.where(moments[:, 2] < 0, 0, moments[:, 2])
    fewest = 2 if function.endswith("_samp") else 1
    with np.errstate(invalid="ignore", divide="ignore"):
        variance = squares / (count - (fewest - 1))
    known = count >= fewest
    result = np.sqrt(variance) if function.startswith("stddev") else variance
    return result, None if known.all() else known
