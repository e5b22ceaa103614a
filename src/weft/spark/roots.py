"""Roots: what reads the events. Each tree by itself, or all trees of one kin where the plan feeds them shared slices.

A root settles, for its queries together, the group keys, the clock, the filters and the partials that a pass over the
events has to make. Where the queries of a tree group by different keys, a batch groups by all of them and rolls up; a
stream has a root for each, since all its roots read the events in one pass anyway.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
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
class KeySet:
    """Some of a root's keys, by their places, which queries group by or others are rolled up from."""

    keys: tuple[int, ...]
    source: int | None
    """The place of the set that it is rolled up from; None for that of all keys."""
    asked: bool
    """Whether queries group by it."""


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
    sets: tuple[KeySet, ...] = ()
    """What the queries group by, where that is several things; a set stands behind the one it is made from."""

    @property
    def counts_rows(self) -> bool:
        """Whether positions are row numbers instead of times."""
        return self.time_type == "bigint"

    @property
    def takes_every_row(self) -> bool:
        """Whether some query wants rows that pass none of `filters`."""
        return not self.filters.places or any(query.where is None for query in self.queries.values())

    def lively(self, tables: Mapping[ex.Expression, str], compared: Mapping[ex.Column, str]) -> Root:
        """The same root for queries that come and go: it counts rows, and has room for filters that come later."""
        rows = Partial("rows", None)
        kept = self.partials if rows in self.partials else (*self.partials, rows)
        filters = self.filters if self.common_filter is None else signatures([self.common_filter])
        return replace(self, partials=kept, common_filter=None, filters=filters.with_late(tables, compared))

    def keys_of(self, query: Query) -> int | None:
        """Which set of keys a query groups by; None where there is only one."""
        if not self.sets:
            return None
        keys = tuple(sorted(self.keys.index(key) for key in query.group_by))
        return next(number for number, each in enumerate(self.sets) if each.keys == keys)

    def place(self, query: Query) -> Place | None:
        """Where the query's filter has its bit; None where it takes every row that the root reads."""
        return None if query.where is None else self.filters.places.get(query.where)


def roots(df: DataFrame, plan: Plan, time: str | None) -> list[Root]:
    """What reads the events, for a plan over a DataFrame."""
    trees = plan.trees
    if df.isStreaming or plan.feed == "slices":
        trees = tuple(part for tree in trees for part in (_by_keys(plan, tree) if tree.sets else (tree,)))
    if plan.feed == "events":
        return [_root(df, plan, (tree,), time) for tree in trees]
    kin: dict[object, list[Tree]] = {}
    for tree in trees:
        query = plan.workload[int(tree.queries[0])]
        clock_of = (query.window.unit, query.where if query.window.unit == "rows" else None)
        kin.setdefault((frozenset(query.group_by), query.time or plan.workload.time, clock_of), []).append(tree)
    return [_root(df, plan, tuple(trees), time) for trees in kin.values()]


def _root(df: DataFrame, plan: Plan, trees: tuple[Tree, ...], time: str | None) -> Root:
    queries = {int(position): plan.workload[int(position)] for tree in trees for position in tree.queries}
    first = next(iter(queries.values()))
    keys = plan.group_by(trees[0]) if trees[0].sets else first.group_by
    wheres = list(dict.fromkeys(query.where for query in queries.values()))
    edges = {edge for query in queries.values() for edge in execution_classes(plan.slicing, query.window)}
    at, type_ = _time(df, plan, first, time)
    return Root(
        trees,
        queries,
        keys,
        at,
        type_ if first.window.unit == "time" else "bigint",
        wheres[0] if len(wheres) == 1 else None,
        signatures([where for where in wheres if where is not None] if len(wheres) > 1 else []),
        clock.executable(reduced(edges)),
        tuple(dict.fromkeys(p for q in queries.values() for aggregate in q.aggregates for p in partials(aggregate))),
        _sets(trees[0], keys, queries.values()),
    )


def _sets(tree: Tree, keys: tuple[ex.Expression, ...], queries: Iterable[Query]) -> tuple[KeySet, ...]:
    """The tree's sets of keys, by their places among all keys."""
    place = {ex.to_sql(key): number for number, key in enumerate(keys)}
    asked = {frozenset(map(ex.to_sql, query.group_by)) for query in queries}
    return tuple(
        KeySet(tuple(sorted(place[key] for key in each.keys)), each.source, frozenset(each.keys) in asked)
        for each in tree.sets
    )


def _by_keys(plan: Plan, tree: Tree) -> tuple[Tree, ...]:
    """The tree as one for each set of keys that its queries group by."""
    found: dict[frozenset[ex.Expression], list[int]] = {}
    for position in tree.queries.tolist():
        found.setdefault(frozenset(plan.workload[position].group_by), []).append(position)
    return tuple(replace(tree, queries=np.array(positions), sets=()) for positions in found.values())


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
