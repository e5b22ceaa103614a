"""Roots: what reads the events. Each tree by itself, or all trees of one kin where the plan feeds them shared slices.

A root settles, for its queries together, the group keys, the clock, the filters and the partials that a pass over the
events has to make.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame
from pyspark.sql import types as T

from weft.algebra.partials import Partial, partials
from weft.errors import BadRequest
from weft.plans.plan import Plan, Tree
from weft.queries import expressions as ex
from weft.queries.query import Query
from weft.slicing.edges import Classes, reduced
from weft.slicing.slicers import execution_classes
from weft.spark import binding, clock, columns
from weft.spark.signatures import Place, Signatures, signatures


@dataclass(frozen=True)
class Root:
    """One pass over the events, for the queries of some trees."""

    trees: tuple[Tree, ...]
    queries: Mapping[int, Query]
    """By position in the workload."""
    keys: tuple[ex.Expression, ...]
    time: ex.Column
    time_type: str
    """Spark's type of a window's ends: timestamp, timestamp_ntz, or bigint for row numbers."""
    common_filter: ex.Expression | None
    """The filter, where all queries have the same one."""
    filters: Signatures
    """The different filters otherwise; a query without one takes every row."""
    classes: Classes
    """Where the slices are cut."""
    partials: tuple[Partial, ...]

    @property
    def counts_rows(self) -> bool:
        """Whether positions are row numbers instead of times."""
        return self.time_type == "bigint"

    @property
    def takes_every_row(self) -> bool:
        """Whether some query wants rows that pass none of `filters`."""
        return not self.filters.places or any(query.where is None for query in self.queries.values())

    def lively(self, tables: Mapping[ex.Expression, str]) -> Root:
        """The same root for queries that come and go: it counts rows, and has room for filters that come later."""
        rows = Partial("rows", None)
        kept = self.partials if rows in self.partials else (*self.partials, rows)
        filters = self.filters if self.common_filter is None else signatures([self.common_filter])
        return replace(self, partials=kept, common_filter=None, filters=filters.with_late(tables))

    def place(self, query: Query) -> Place | None:
        """Where the query's filter has its bit; None where it takes every row that the root reads."""
        return None if query.where is None else self.filters.places.get(query.where)


def roots(df: DataFrame, plan: Plan, time: str | None) -> list[Root]:
    """What reads the events, for a plan over a DataFrame."""
    if plan.feed == "events":
        return [_root(df, plan, (tree,), time) for tree in plan.trees]
    kin: dict[object, list[Tree]] = {}
    for tree in plan.trees:
        query = plan.workload[int(tree.queries[0])]
        clock_of = (query.window.unit, query.where if query.window.unit == "rows" else None)
        kin.setdefault((frozenset(query.group_by), query.time or plan.workload.time, clock_of), []).append(tree)
    return [_root(df, plan, tuple(trees), time) for trees in kin.values()]


def _root(df: DataFrame, plan: Plan, trees: tuple[Tree, ...], time: str | None) -> Root:
    queries = {int(position): plan.workload[int(position)] for tree in trees for position in tree.queries}
    first = next(iter(queries.values()))
    wheres = list(dict.fromkeys(query.where for query in queries.values()))
    edges = {edge for query in queries.values() for edge in execution_classes(plan.slicing, query.window)}
    at, type_ = _time(df, plan, first, time)
    return Root(
        trees,
        queries,
        first.group_by,
        at,
        type_ if first.window.unit == "time" else "bigint",
        wheres[0] if len(wheres) == 1 else None,
        signatures([where for where in wheres if where is not None] if len(wheres) > 1 else []),
        clock.executable(reduced(edges)),
        tuple(dict.fromkeys(p for q in queries.values() for aggregate in q.aggregates for p in partials(aggregate))),
    )


def _time(df: DataFrame, plan: Plan, query: Query, given: str | None) -> tuple[ex.Column, str]:
    """The time column of a query, and the Spark type of its window's ends."""
    named = clock.named(given)
    agreed = plan.workload.time
    if named is not None and agreed is not None and named != agreed:
        raise BadRequest(
            f"the queries name '{ex.to_sql(agreed)}' and the call '{given}'",
            query=query.id,
            field="time",
            remedy="Leave time= out, or name a time in every query",
        )
    at = query.time or agreed or named
    if at is None:
        raise BadRequest(
            "nobody says which column is the time",
            query=query.id,
            field="time",
            remedy='Pass apply(df, plan, time="...") or --time, or name it in the query as window(ts, ...)',
        )
    shown = ".".join(at.path)
    if at.path[0].lower() not in {name.lower() for name in df.columns}:
        raise BadRequest(
            f"there is no column '{shown}'", query=query.id, field="time", remedy=f"Use one of {', '.join(df.columns)}"
        )
    try:
        type_ = df.select(columns.column(at)).schema[0].dataType
    except AnalysisException as error:
        raise BadRequest(
            binding.first_line(error), query=query.id, field="time", remedy=f"Use one of {', '.join(df.columns)}"
        ) from None
    if not isinstance(type_, (T.TimestampType, T.TimestampNTZType, T.DateType)):
        raise BadRequest(
            f"'{shown}' is {type_.simpleString()}, no timestamp",
            query=query.id,
            field="time",
            remedy="Cast it before, as with to_timestamp or timestamp_micros",
        )
    return at, "timestamp_ntz" if isinstance(type_, T.TimestampNTZType) else "timestamp"
