"""Latecomers: filters that came while the stream runs, on their way to the events.

    registry/versions --read in a worker, once a micro-batch--> one row: a table of constants for each shape
    events x that row --in the JVM--> a signature column, a bit for each filter --> blocks, which say which is whose

The row is no part of the stream: it is read anew with each micro-batch, and with each replay of one. So blocks carry
with them which filters their events were asked, and a shard believes nothing else: a filter is known from the first
micro-batch on whose blocks all have it, by one bit. An event has the row's fingerprint, from which the task that makes
blocks knows what the bits mean. Where workers do not see the folder, such filters wait; where they no longer see it,
the micro-batch fails (`roster.py`), since windows would be answered without the events that nobody could tell.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from weft.queries import expressions as ex
from weft.queries import parse
from weft.queries.shapes import loosely_blanked, types
from weft.registry.grain import Grain
from weft.registry.versions import Folder
from weft.spark import columns
from weft.spark.roots import Root

MARK = "__weft_late"
"""The events' column with the fingerprint of what bits mean."""
_LONGEST = 1_000_000
_UNSEEN = 0
"""The fingerprint of a row that was made where the folder cannot be seen."""


def compared_columns(df: DataFrame, roots: Iterable[Root]) -> dict[ex.Column, str]:
    """The columns that the filters of some roots read, with their Spark types."""
    found = list(dict.fromkeys(column for where in _wheres(roots) for column in ex.columns(where)))
    fields = df.select(*(columns.column(column) for column in found)).schema.fields
    return {column: field.dataType.simpleString() for column, field in zip(found, fields, strict=True)}


def late_shapes(roots: Iterable[Root], compared: Mapping[ex.Column, str]) -> tuple[ex.Expression, ...]:
    """The shapes of the filters of some roots: filters of these shapes may come later."""
    return tuple(dict.fromkeys(loosely_blanked(where, compared)[0] for where in _wheres(roots)))


def _wheres(roots: Iterable[Root]) -> list[ex.Expression]:
    wheres = [where for root in roots for query in root.queries.values() if (where := query.where) is not None]
    return list(dict.fromkeys(wheres))


def table_of(number: int) -> str:
    """The column with the constants of the filters of a shape, by its number."""
    return f"__weft_table_{number}"


@dataclass(frozen=True)
class Latecomers:
    """Where filters come from, for a stream that was started on a version, and of which shapes they may be."""

    folder: str
    grain: Grain
    base: int
    shapes: tuple[ex.Expression, ...]
    compared: Mapping[ex.Column, str]

    @cached_property
    def _fields(self) -> list[list[str]]:
        return [["mask", *(f"c{number}" for number in range(len(types(shape))))] for shape in self.shapes]

    def joined(self, events: DataFrame) -> DataFrame:
        """The events, each with the constants that count in its micro-batch."""
        tables = [table_of(number) for number in range(len(self.shapes))]
        as_text = [f"array<struct<{_struct(names, ['string'] * len(names))}>>" for names in self._fields]
        typed = [
            f"array<struct<{_struct(names, ['bigint', *types(shape)])}>>"
            for names, shape in zip(self._fields, self.shapes, strict=True)
        ]
        schema = ", ".join([f"{MARK} bigint", *map(" ".join, zip(tables, as_text, strict=True))])
        row = events.sparkSession.range(0, 1, 1, 1).mapInArrow(self._read, schema)
        cast = [F.col(table).cast(type_).alias(table) for table, type_ in zip(tables, typed, strict=True)]
        return events.crossJoin(F.broadcast(row.select(MARK, *cast)))

    def heard(self, events: pa.Table) -> dict[str, int] | None:
        """What bits mean in the events of a task; None where that cannot be found out."""
        mark, folder = events[MARK][0].as_py(), Folder(Path(self.folder))
        if mark == _UNSEEN:
            return None
        newest = folder.places(self.grain, self.base)
        if _fingerprint(newest.of) == mark:
            return dict(newest.of)
        # a version came between the row and this task
        earlier = (dict(at.of) for at in reversed(folder.all_places(self.grain, self.base)))
        return next((found for found in earlier if _fingerprint(found) == mark), None)

    def _read(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            folder = Folder(Path(self.folder))
            places = folder.places(self.grain, self.base).of
            rows: list[list[dict[str, str | None]]] = [[] for _ in self.shapes]
            for text, bit in places.items():
                shape, constants = loosely_blanked(parse.expression(text, _LONGEST), self.compared)
                number = self.shapes.index(shape)
                rows[number].append(dict(zip(self._fields[number], (str(1 << bit), *constants), strict=True)))
            arrays = [pa.array([_fingerprint(places) if folder.numbers() else _UNSEEN])]
            for names, table in zip(self._fields, rows, strict=True):
                arrays.append(pa.array([table], pa.list_(pa.struct([(name, pa.string()) for name in names]))))
            yield pa.RecordBatch.from_arrays(arrays, [MARK, *map(table_of, range(len(rows)))])


def _struct(names: Iterable[str], of: Iterable[str]) -> str:
    return ", ".join(f"{name}: {type_}" for name, type_ in zip(names, of, strict=True))


def _fingerprint(places: Mapping[str, int]) -> int:
    said = json.dumps(sorted(places.items())).encode()
    return int.from_bytes(hashlib.sha256(said).digest()[:8], signed=True)
