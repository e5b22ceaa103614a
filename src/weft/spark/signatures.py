"""Signatures: which filters an event passes, a bit for each, in as few bigint columns as it takes.

A few filters are a sum of CASEs, which Spark compiles. Many filters of one shape (thresholds, say) are a loop over the
table of their constants: slower per event, but a plan of one expression instead of thousands, which Spark could not
even analyse in reasonable time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add, or_

from pyspark.sql import Column
from pyspark.sql import functions as F

from weft.queries import expressions as ex
from weft.queries.shapes import loosely_blanked
from weft.spark import columns, constants

BITS = 62
"""Filters per column: a bigint, with the sign left alone."""
_ONE_BY_ONE = 62
"""Filters of one shape up to which each is an expression of its own."""

Place = tuple[int, int]
"""A filter's column and bit."""


@dataclass(frozen=True)
class Signatures:
    """The filters of a root, each with a place."""

    places: Mapping[ex.Expression, Place]
    width: int
    """How many columns there are."""
    looped: frozenset[int]
    """The columns of crowded shapes."""
    name: str = "__weft_signature"
    """What the columns' names begin with, beside whatever the stream's columns are called."""
    late: Mapping[ex.Expression, str] = field(default_factory=dict)
    """Shapes of filters that may come while a stream runs, and the columns that their constants stand in by then: they
    have the last signature column."""

    @property
    def names(self) -> list[str]:
        """The signature columns' names."""
        return [f"{self.name}_{number}" for number in range(self.width)]

    def columns(self) -> list[Column]:
        """The signature columns, over events."""
        made = []
        for number in range(self.width):
            if self.late and number == self.width - 1:
                made.append(reduce(add, (_latecomers(shape, F.col(table)) for shape, table in self.late.items())))
                continue
            filters = [where for where, (column, _) in self.places.items() if column == number]
            made.append(_looped(filters) if number in self.looped else _spelled_out(filters))
        return made

    def with_late(self, tables: Mapping[ex.Expression, str], compared: Mapping[ex.Column, str]) -> Signatures:
        """The same with one more column, for filters of its shapes that come later; their constants are in `tables`."""
        shapes = dict.fromkeys(loosely_blanked(where, compared)[0] for where in self.places)
        late = {shape: tables[shape] for shape in shapes}
        return replace(self, width=self.width + 1, late=late) if late else self

    def passes(self, wheres: Iterable[ex.Expression]) -> Column:
        """Whether an event passes one of some filters, over the signature columns."""
        masks: dict[int, int] = {}
        for where in wheres:
            column, bit = self.places[where]
            masks[column] = masks.get(column, 0) | 1 << bit
        return reduce(or_, (F.col(self.names[column]).bitwiseAND(F.lit(mask)) != 0 for column, mask in masks.items()))


def signatures(filters: Sequence[ex.Expression]) -> Signatures:
    """Give every filter a place: those of a crowded shape in columns of their own, the others together."""
    shapes: dict[ex.Expression, list[ex.Expression]] = {}
    for where in filters:
        shapes.setdefault(constants.blanked(where)[0], []).append(where)
    few = [where for alike in shapes.values() if len(alike) <= _ONE_BY_ONE for where in alike]
    crowds = [alike for alike in shapes.values() if len(alike) > _ONE_BY_ONE]
    first_looped = -(-len(few) // BITS)
    places: dict[ex.Expression, Place] = {}
    width = 0
    for group in (few, *crowds):
        for number, where in enumerate(group):
            places[where] = (width + number // BITS, number % BITS)
        width += -(-len(group) // BITS)
    return Signatures(places, width, frozenset(range(first_looped, width)))


def _spelled_out(filters: Sequence[ex.Expression]) -> Column:
    """A CASE for every filter. A filter that is null passes nobody."""
    bits = (
        F.when(columns.column(where), F.lit(1 << bit).cast("bigint")).otherwise(F.lit(0))
        for bit, where in enumerate(filters)
    )
    return reduce(add, bits)


def _latecomers(shape: ex.Expression, table: Column) -> Column:
    """The bits of the filters of a shape whose constants came with the micro-batch."""
    fields = [f"c{number}" for number in range(len(constants.types(shape)))]

    def added(bits: Column, row: Column) -> Column:
        passes = constants.filled(shape, [row[field] for field in fields])
        return bits + F.when(passes, row["mask"]).otherwise(F.lit(0))

    none = F.lit(0).cast("bigint")
    return F.when(F.size(table) > 0, F.aggregate(table, none, added)).otherwise(none)


def _looped(filters: Sequence[ex.Expression]) -> Column:
    """One expression over the table of constants, the last filter first, so that the first one ends in bit 0."""
    shape = constants.blanked(filters[0])[0]
    of = constants.types(shape)
    rows = [constants.blanked(where)[1] for where in reversed(filters)]

    def shifted_in(bits: Column, row: Column) -> Column:
        passes = constants.filled(shape, [row[f"c{number}"] for number in range(len(of))])
        return bits * 2 + F.when(passes, F.lit(1)).otherwise(F.lit(0))

    return F.aggregate(constants.table(rows, of), F.lit(0).cast("bigint"), shifted_in)
