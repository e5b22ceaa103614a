"""Emitting: which answers go out, and in which shape.

    long      query   key    end    value             wide      key    end    last_hour   last_day
              hour    AAPL   9:00   5                           AAPL   9:00   5           17
              day     AAPL   9:00   17                          AAPL   9:10   6           17
              hour    AAPL   9:10   6
              day     AAPL   9:10   17        <- not with `changed`: as before

With `changed`, an answer goes out only if it differs from the one before it of the same query and key (in the wide form, a
row if any of its answers does). A window without a row has no answer; the next answer after it counts as changed, and
nothing has to be remembered meanwhile, so idle keys vanish. With `empty`, a record says so: the first window that holds no
row after one that did, with every value null.

All of it happens over the answers of whole keys up to some instant, in a batch and in a micro-batch alike; what has to be
remembered from one to the next is the last answer of each query and key.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from weft.spark.bundles import Known, Shape, column_of, lists_of
from weft.spark.grouping import dense
from weft.spark.results import arrow_type

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Emission:
    """What goes out."""

    wide: bool = False
    changed: bool = False
    empty: bool = False

    @property
    def plain(self) -> bool:
        """Whether every answer goes out as it is."""
        return not (self.wide or self.changed or self.empty)


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
    """The last answer of each group whose last window had a row."""

    keys: pa.RecordBatch
    answered: Answered


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
