"""Binding: a plan meets a schema. What the stream's columns are, what the aggregates' types are, and where they stand.

Everything that a query can have wrong about the data is found here, before a job starts: a column that is not there,
a filter that is no condition, a sum over text. Types are Spark's own, asked of its analyser in one go; only where that
fails is each query tried alone, to name the one at fault.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import NoReturn

import numpy as np
from pyspark.errors import AnalysisException
from pyspark.logger import PySparkLogger
from pyspark.sql import DataFrame
from pyspark.sql import types as T

from weft.algebra.partials import Partial, known_as, partials
from weft.errors import BadRequest
from weft.plans.plan import Plan
from weft.queries import expressions as ex
from weft.queries.query import AGGREGATES, Query
from weft.queries.window import Window
from weft.queries.workload import Workload
from weft.spark import columns, constants
from weft.spark.results import storable, stored_type
from weft.techniques import BY_NAME, why_not

_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")
LIVE = "a registry"
ROOM = 2
"""Value columns of each type, at most, for queries that are still to come."""
RESERVED = ("query", "query_number", "window_start", "window_end", "row_start", "row_end")


@dataclass(frozen=True)
class Binding:
    """A workload over a schema: Spark types of expressions, and the layout of the long form."""

    types: Mapping[ex.Expression, str]
    """Of arguments, group keys and aggregates."""
    keys: Mapping[ex.Expression, str]
    """The long form's column of each group key, in order."""
    slots: tuple[tuple[str, int], ...]
    """The value columns: stored type and number."""
    live: bool = False
    """Whether queries come and go, so that every row has all value columns, and says whether it is complete."""

    def slot(self, query: Query, aggregate: ex.Aggregate) -> tuple[str, int]:
        """The value column that holds an aggregate's answers in the rows of a query."""
        return slot(self.types, query, aggregate)


def slot(types: Mapping[ex.Expression, str], query: Query, aggregate: ex.Aggregate) -> tuple[str, int]:
    """Stored type and number: the aggregates of a query that are stored alike are numbered in order of use."""
    kind = stored_type(types[aggregate])
    alike = [other for other in query.aggregates if stored_type(types[other]) == kind]
    return kind, alike.index(aggregate)


def key_columns(workload: Workload) -> dict[ex.Expression, str]:
    """The long form's column of every group key: its usual name, made different where another column has it."""
    names: dict[ex.Expression, str] = {}
    taken = set(RESERVED)
    for prototype in workload.prototypes:
        for key in prototype.group_by:
            if key not in names:
                name = ex.label(key)
                while name.lower() in taken or name.lower().startswith("value_"):
                    name = f"key_{name}"
                taken.add(name.lower())
                names[key] = name
    return names


def bind(df: DataFrame, plan: Plan) -> Binding:
    """Check a plan's queries against a DataFrame, and look up all types."""
    workload = plan.workload
    _check_columns(df, workload)
    shapes: dict[ex.Expression, ex.Expression] = {}
    scalars: dict[ex.Expression, tuple[Query, str]] = {}
    aggregates: dict[ex.Expression, tuple[Query, str]] = {}
    for query in first_queries(workload):
        for key in query.group_by:
            scalars.setdefault(key, (query, "group_by"))
        if query.where is not None:
            # filters of one shape have one type: asking Spark for each of ten thousand would take minutes
            scalars.setdefault(_representative(query.where, shapes), (query, "where"))
        for aggregate in query.aggregates:
            if aggregate.argument is not None:
                scalars.setdefault(aggregate.argument, (query, ex.to_sql(aggregate)))
            aggregates.setdefault(aggregate, (query, ex.to_sql(aggregate)))
    types = _types(df, scalars, grouped=False)
    for query in first_queries(workload):
        _check_types(query, types, shapes)
    types |= _types(df, aggregates, grouped=True)
    for made, (query, field) in aggregates.items():
        if not storable(types[made]):
            raise BadRequest(
                f"{field} gives {types[made]}, which Weft does not carry",
                query=query.id,
                field="measures",
                remedy="Aggregate a number, string, date, timestamp or boolean",
            )
    _check_techniques(plan, types)
    counts: dict[str, int] = {}
    for query in first_queries(workload):
        for aggregate in query.aggregates:
            kind, number = slot(types, query, aggregate)
            counts[kind] = max(counts.get(kind, 0), number + 1)
    slots = tuple((kind, number) for kind in sorted(counts) for number in range(counts[kind]))
    return Binding(types, key_columns(workload), slots)


def lively(df: DataFrame, binding: Binding, kept: Collection[Partial]) -> Binding:
    """A binding for queries that come and go: all that can be answered from some partials has a type and a column."""
    query = Query("any", "count(*)", Window.of(1, 1))
    arguments = {partial.argument for partial in kept}
    can_be: dict[ex.Expression, tuple[Query, str]] = {}
    for aggregate in (ex.Aggregate(function, argument) for argument in arguments for function in AGGREGATES):
        sound = aggregate.argument is not None or aggregate.function == "count"
        if sound and aggregate not in binding.types and all(partial in kept for partial in partials(aggregate)):
            can_be[aggregate] = (query, ex.to_sql(aggregate))
    types = {**binding.types, **_types(df, can_be, grouped=True)}
    kinds = [stored_type(type_) for made, type_ in types.items() if isinstance(made, ex.Aggregate)]
    room = {(kind, number) for kind in kinds for number in range(min(kinds.count(kind), ROOM))}
    return replace(binding, types=types, slots=tuple(sorted({*binding.slots, *room})), live=True)


def first_queries(workload: Workload) -> Iterator[Query]:
    """A query of each prototype, the first one, so that a message can name it."""
    seen: set[int] = set()
    for position, number in enumerate(workload.prototype.tolist()):
        if number not in seen:
            seen.add(number)
            yield workload[position]


def types_metadata(binding: Binding, plan: Plan) -> dict[str, str]:
    """What a view needs to know, to travel with the results' `query` column."""
    aggregates = {ex.to_sql(e): t for e, t in binding.types.items() if isinstance(e, ex.Aggregate)}
    told = {"weft_workload": plan.workload.fingerprint(), "weft_types": json.dumps(aggregates)}
    if binding.live:  # queries come and go, the rows stay as they are
        told["weft_workload"] = LIVE
        told["weft_keys"] = json.dumps({ex.to_sql(key): name for key, name in binding.keys.items()})
    return told


def _check_columns(df: DataFrame, workload: Workload) -> None:
    known = {name.lower(): name for name in df.columns}
    for query in first_queries(workload):
        for name in query.assumed:
            if name.lower() in known:
                raise BadRequest(
                    f"'{name}' is a column of the stream and of the SELECT list, and Spark takes the former",
                    query=query.id,
                    field="GROUP BY",
                    remedy="Give the column of the SELECT list another name with AS",
                )
        places: list[tuple[str, ex.Expression | None]] = [("where", query.where), ("time", query.time)]
        places += [("group_by", key) for key in query.group_by]
        places += [(ex.to_sql(aggregate), aggregate) for aggregate in query.aggregates]
        for field, expression in places:
            for node in ex.columns(expression) if expression is not None else ():
                if node.path[0].lower() not in known:
                    near = difflib.get_close_matches(node.path[0].lower(), known, 1)
                    shown = ", ".join(df.columns[:8]) + (", ..." if len(df.columns) > 8 else "")
                    raise BadRequest(
                        f"there is no column '{node.path[0]}'",
                        query=query.id,
                        field=field,
                        remedy=f"Did you mean '{known[near[0]]}'" if near else f"The stream has {shown}",
                    )


def _check_techniques(plan: Plan, types: Mapping[ex.Expression, str]) -> None:
    """Refuse a plan made for other types: subtracted sums of floats would be wrong, and nobody would see it."""
    actual = {known_as(column): type_ for column, type_ in types.items() if isinstance(column, ex.Column)}
    workload = plan.workload
    for tree in plan.trees:
        for position in tree.queries[np.unique(workload.prototype[tree.queries], return_index=True)[1]]:
            query = workload[int(position)]
            needed = [partial for aggregate in query.aggregates for partial in partials(aggregate)]
            reason = why_not(BY_NAME[tree.technique], needed, actual)
            if reason is not None:
                raise BadRequest(
                    f"{tree.technique} cannot be used: {reason}",
                    query=query.id,
                    field="stats.types",
                    remedy="Plan with the types that the stream has",
                )


def _representative(where: ex.Expression, shapes: dict[ex.Expression, ex.Expression]) -> ex.Expression:
    """The first filter of the same shape."""
    return shapes.setdefault(constants.blanked(where)[0], where)


def _check_types(query: Query, types: Mapping[ex.Expression, str], shapes: dict[ex.Expression, ex.Expression]) -> None:
    def refuse(field: str, rule: str, remedy: str) -> NoReturn:
        raise BadRequest(rule, query=query.id, field=field, remedy=remedy)

    condition = "boolean" if query.where is None else types[_representative(query.where, shapes)]
    if condition not in ("boolean", "void"):
        refuse("where", f"the filter gives {condition}, not a condition", "Compare it with something")
    for key in query.group_by:
        if re.search(r"\bmap<|\bvariant\b|interval (year|month)|\binterval$", types[key]):
            rule = f"'{ex.label(key)}' is {types[key]}, by which nothing can be grouped here"
            refuse("group_by", rule, "Group by a string, number, date or timestamp made of it")
    for aggregate in query.aggregates:
        if aggregate.argument is None:
            continue
        type_ = types[aggregate.argument]
        if aggregate.function not in ("count", "min", "max") and not type_.startswith(_NUMBERS):
            function, argument = aggregate.function, ex.to_sql(aggregate.argument)
            rule = f"{function} needs a number, '{argument}' is {type_}"
            refuse(ex.to_sql(aggregate), rule, f"Cast it, as in {function}(CAST({argument} AS DOUBLE))")


def _types(
    df: DataFrame, wanted: Mapping[ex.Expression, tuple[Query, str]], *, grouped: bool
) -> dict[ex.Expression, str]:
    """Spark's types of expressions over the stream: of its rows, or aggregated."""
    if not wanted:
        return {}

    def schema(expressions: Iterable[ex.Expression]) -> T.StructType:
        named = [columns.column(expression).alias(f"c{i}") for i, expression in enumerate(expressions)]
        return (df.agg(*named) if grouped else df.select(*named)).schema

    with quietly():
        try:
            fields = schema(wanted).fields
        except AnalysisException as whole:
            for expression, (query, field) in wanted.items():
                try:
                    schema([expression])
                except AnalysisException as error:
                    raise BadRequest(first_line(error), query=query.id, field=field, remedy="Mend it") from None
            raise BadRequest(first_line(whole), field="workload") from None
    return {expression: field.dataType.simpleString() for expression, field in zip(wanted, fields, strict=True)}


@contextmanager
def quietly() -> Iterator[None]:
    """Keep PySpark from printing errors, traces and all, that are about to be told in our words."""
    # asked of PySpark: a plain logger of this name would be found, and not understood, by PySpark later on
    loggers = [PySparkLogger.getLogger(f"{kind}QueryContextLogger") for kind in ("SQL", "DataFrame")]
    before = [logger.disabled for logger in loggers]
    for logger in loggers:
        logger.disabled = True
    try:
        yield
    finally:
        for logger, disabled in zip(loggers, before, strict=True):
            logger.disabled = disabled


def first_line(error: AnalysisException) -> str:
    """What Spark says, without the plan that follows."""
    return str(error).strip().splitlines()[0].split(" SQLSTATE")[0].rstrip(".")
