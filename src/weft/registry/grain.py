"""Grain: what a running stream makes of its events, and why a query cannot be answered from that.

A stream cuts slices, tells filters apart and keeps partials as its queries needed them when it started; Spark's plan
does not change while it runs. A query that comes later is answered from that, if it has

    keys        of a strand: what one set of group keys is kept for
    edges       where the strand is cut, so that its windows are whole slices
    a filter    that the strand tells apart, or can from now on (`places.py`)
    partials    that the strand keeps, and value columns for its answers

`why_not` says which of them it lacks. The registry asks it when a query is registered, and every shard when the query
arrives; both have the same grain, as the stream leaves it beside the versions when it starts.
"""

from __future__ import annotations

import json
from collections.abc import Container, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from weft.algebra.partials import Partial, partials
from weft.errors import BadRequest
from weft.queries import durations, parse
from weft.queries import expressions as ex
from weft.queries.query import Query
from weft.queries.shapes import loosely_blanked
from weft.slicing.edges import Classes, covers
from weft.slicing.slicers import pairs
from weft.techniques import BY_NAME, why_not

FORMAT = 1
_LONGEST = 1_000_000
Place = tuple[int, int]


@dataclass(frozen=True)
class Strand:
    """What is kept for one set of group keys."""

    keys: tuple[tuple[ex.Expression, str], ...]
    """With their Spark types."""
    time: ex.Column
    classes: Classes
    common: ex.Expression | None
    """The filter, where all queries had the same one."""
    places: Mapping[ex.Expression, Place]
    """Where each filter has its bit, otherwise."""
    width: int
    """How many signature columns there are."""
    every_row: bool
    """Whether rows are kept that pass none of the filters."""
    partials: tuple[tuple[Partial, str | None], ...]
    """With the Spark types of their arguments."""
    compared: Mapping[ex.Column, str]
    """The Spark types of the columns that filters read."""

    def has(self, where: ex.Expression | None) -> bool:
        """Whether the rows of a filter can be told from the others."""
        return self.every_row if where is None else where == self.common or where in self.places

    def shaped(self, where: ex.Expression | None) -> bool:
        """Whether a filter differs from one of the strand's in nothing but its constants."""
        return where is not None and loosely_blanked(where, self.compared)[0] in self.shapes

    @cached_property
    def shapes(self) -> tuple[ex.Expression, ...]:
        """The shapes of its filters, each once."""
        return tuple(dict.fromkeys(loosely_blanked(where, self.compared)[0] for where in self.places))

    def why_not(self, query: Query, late: bool = False) -> str | None:
        """Why the strand does not hold what a query of its keys asks for; None if it does.

        With `late`, a filter will do that the strand can tell from others from now on.
        """
        if query.time is not None and query.time != self.time:
            return f"its time is {ex.to_sql(query.time)}, and the stream's is {ex.to_sql(self.time)}"
        if not all(covers(self.classes, wanted) for wanted in pairs(query.window)):
            return f"the stream is cut {_cut(self.classes)}, and its windows begin or end in between"
        if not (self.has(query.where) or (late and self.shaped(query.where))):
            said = "unfiltered rows" if query.where is None else f"rows with {ex.to_sql(query.where)}"
            return f"the stream does not tell {said} from others"
        kept = {partial for partial, _ in self.partials}
        if not self.has(query.where):
            for aggregate in query.aggregates:
                if aggregate.argument is not None and not calm(aggregate.argument):
                    return f"{ex.to_sql(aggregate.argument)} is only computed of rows that the stream's filters pass"
        missing = [p for aggregate in query.aggregates for p in partials(aggregate) if p not in kept]
        return f"the stream does not keep {missing[0]}" if missing else None


@dataclass(frozen=True)
class Grain:
    """What a stream makes of its events."""

    strands: tuple[Strand, ...]
    aggregates: Mapping[ex.Aggregate, tuple[str, str]]
    """What can be answered at all, each with its Spark type and that of its value column."""
    columns: Mapping[str, int]
    """How many value columns there are of each type."""
    types: Mapping[str, str]
    """The stream's column types, as far as they are aggregated."""

    def strand(self, query: Query) -> int | None:
        """Which strand has the query's keys."""
        keys = frozenset(query.group_by)
        found = (n for n, strand in enumerate(self.strands) if frozenset(key for key, _ in strand.keys) == keys)
        return next(found, None)

    def lacks(self, query: Query) -> bool:
        """Whether something was not kept that a query reads."""
        number = self.strand(query)
        return number is None or self.strands[number].why_not(query) is not None

    def why_not(self, query: Query, technique: str, places: Container[str]) -> str | None:
        """Why a query cannot be answered as the stream runs, with these filters that came late; None if it can."""
        number = self.strand(query)
        if number is None:
            keys = ", ".join(map(ex.to_sql, query.group_by))
            return f"the stream keeps nothing by {keys}" if keys else "the stream keeps nothing over all groups"
        strand = self.strands[number]
        why = strand.why_not(query, late=True)
        if why is not None:
            return why
        if query.where is not None and not strand.has(query.where) and ex.to_sql(query.where) not in places:
            return f"the stream does not tell rows with {ex.to_sql(query.where)} from others yet"
        needed: dict[str, int] = {}
        for aggregate in query.aggregates:
            if aggregate not in self.aggregates:
                return f"the stream does not know what type {ex.to_sql(aggregate)} is of"
            kind = self.aggregates[aggregate][1]
            needed[kind] = needed.get(kind, 0) + 1
        for kind, count in needed.items():
            if count > (room := self.columns.get(kind, 0)):
                return f"it gives {count} values of {kind}, and the stream's rows have room for {room}"
        kept = [partial for aggregate in query.aggregates for partial in partials(aggregate)]
        reason = why_not(BY_NAME[technique], kept, self.types)
        return None if reason is None else f"{technique} cannot be used: {reason}"

    def comes_late(self, where: str) -> bool:
        """Whether a filter, as text, is not one that all strands began with, but of the shape of one."""
        found = _expression(where)
        return any(not strand.has(found) and strand.shaped(found) for strand in self.strands)

    def to_json(self) -> str:
        """As JSON; `from_json` reads it back to an equal grain."""
        document = {
            "format": FORMAT,
            "strands": [_strand(strand) for strand in self.strands],
            "aggregates": [[ex.to_sql(aggregate), *types] for aggregate, types in self.aggregates.items()],
            "columns": dict(self.columns),
            "types": dict(self.types),
        }
        return json.dumps(document)

    @staticmethod
    def from_json(text: str) -> Grain:
        """Read what `to_json` wrote."""
        try:
            document = json.loads(text)
            if document["format"] != FORMAT:
                raise ValueError(f"format {document['format']!r} is not {FORMAT}")
            return Grain(
                tuple(map(_read_strand, document["strands"])),
                {_aggregate(text): (type_, kind) for text, type_, kind in document["aggregates"]},
                {kind: int(count) for kind, count in document["columns"].items()},
                dict(document["types"]),
            )
        except (ValueError, KeyError, TypeError, AttributeError, BadRequest) as error:
            raise BadRequest(
                f"what a stream makes cannot be read ({error})", field="registry", remedy="Start the stream again"
            ) from None


def _cut(classes: Classes) -> str:
    """Where a strand is cut, in words."""
    shown = [f"every {durations.text(m)}" + (f" from {durations.text(a)} on" if a else "") for m, a in classes[:3]]
    return " and ".join(shown) + (f" and at {len(classes) - 3} more" if len(classes) > 3 else "")


def calm(argument: ex.Expression) -> bool:
    """Whether it can be computed of a row that its query's filter would keep from it: it divides and casts nothing."""
    return not any(
        isinstance(node, ex.Cast) or (isinstance(node, ex.Operation) and node.name in ("/", "%"))
        for node in ex.walk(argument)
    )


@lru_cache(maxsize=10_000)
def _expression(text: str) -> ex.Expression:
    return parse.expression(text, _LONGEST)


def _aggregate(text: str) -> ex.Aggregate:
    found = _expression(text)
    if not isinstance(found, ex.Aggregate):
        raise ValueError(f"{text} is no aggregate")
    return found


def _strand(strand: Strand) -> dict[str, Any]:
    return {
        "keys": [[ex.to_sql(key), type_] for key, type_ in strand.keys],
        "time": list(strand.time.path),
        "classes": [list(each) for each in strand.classes],
        "common": None if strand.common is None else ex.to_sql(strand.common),
        "places": [[ex.to_sql(where), *place] for where, place in strand.places.items()],
        "width": strand.width,
        "every_row": strand.every_row,
        "partials": [
            [partial.kind, None if partial.argument is None else ex.to_sql(partial.argument), type_]
            for partial, type_ in strand.partials
        ],
        "compared": [[list(column.path), type_] for column, type_ in strand.compared.items()],
    }


def _read_strand(document: dict[str, Any]) -> Strand:
    return Strand(
        tuple((_expression(key), type_) for key, type_ in document["keys"]),
        ex.Column(tuple(document["time"])),
        tuple((int(modulus), int(residue)) for modulus, residue in document["classes"]),
        None if document["common"] is None else _expression(document["common"]),
        {_expression(where): (int(column), int(bit)) for where, column, bit in document["places"]},
        int(document["width"]),
        bool(document["every_row"]),
        tuple(
            (Partial(kind, None if argument is None else _expression(argument)), type_)
            for kind, argument, type_ in document["partials"]
        ),
        {ex.Column(tuple(path)): type_ for path, type_ in document["compared"]},
    )
