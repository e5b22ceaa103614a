"""Slices: the events' only pass. One row per key, slice and signature, aggregated in the JVM.

    events -> keys, slice start, signature, arguments -> groupBy().agg(partials) -> sorted by key and slice

The signature has a bit per filter that the event passes (see `signatures.py`), so queries with different filters share
a pass; where all filters fit one column, an event that passes none is dropped. Column names: key_0.., slice,
signature_0.., partial_0.., and rank, the row's number within its key.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import Window as Over
from pyspark.sql import functions as F

from weft.algebra.partials import Partial
from weft.queries import expressions as ex
from weft.registry.grain import calm
from weft.spark import clock, columns
from weft.spark.rollups import rolled_up
from weft.spark.roots import Root
from weft.spark.series import may_overflow

_LOW_HALF = 0xFFFF_FFFF


def slices(df: DataFrame, root: Root, types: Mapping[ex.Expression, str]) -> DataFrame:
    """The slices of a root over a DataFrame of events."""
    time = columns.column(root.time)
    df = df.where(time.isNotNull())
    if root.common_filter is not None:
        df = df.where(columns.column(root.common_filter))
    at = clock.microseconds(time, df.select(time).schema[0].dataType)
    if root.counts_rows:
        numbered = Over.partitionBy(*(columns.column(key) for key in root.keys)).orderBy(time)
        df = df.withColumn("__weft_row", F.row_number().over(numbered).cast("bigint") - 1)
        at = F.col("__weft_row")
    marks = root.filters.names
    df = df.withColumns(dict(zip(marks, root.filters.columns(), strict=True))) if marks else df
    if len(marks) == 1 and not root.takes_every_row:
        # with more columns Spark would take the filters apart to push them down, which exhausts its memory
        df = df.where(F.col(marks[0]) != 0)
    keys = [column.alias(f"key_{number}") for number, column in enumerate(_keys(root))]
    values = arguments(root)
    events = df.select(
        *keys,
        clock.slice_start(at, root.classes).alias("slice"),
        *(F.col(mark).alias(f"signature_{number}") for number, mark in enumerate(marks)),
        *(value.alias(f"argument_{number}") for number, value in enumerate(values.values())),
    )
    by = [f"key_{number}" for number in range(len(keys))]
    at_hand = {argument: F.col(f"argument_{number}") for number, argument in enumerate(values)}
    made = [column for partial in root.partials for column in partial_columns(partial, at_hand, types)]
    sliced = events.groupBy(*by, "slice", *(f"signature_{number}" for number in range(len(marks)))).agg(
        *(column.alias(f"partial_{number}") for number, column in enumerate(made))
    )
    if root.sets:
        return rolled_up(sliced, root, types)
    if not by:
        return sliced.repartition(1).sortWithinPartitions("slice").withColumn("rank", F.lit(2))
    return sliced.withColumn("rank", F.row_number().over(Over.partitionBy(*by).orderBy("slice")))


def arguments(root: Root) -> dict[ex.Expression, Column]:
    """What the partials aggregate, once per event, and only computed where one of its queries wants the event.

    A query that divides by what its own filter keeps from being zero must not meet the rows of the others.
    """
    wanted: dict[ex.Expression, set[ex.Expression | None]] = {}
    for query in root.queries.values():
        for aggregate in query.aggregates:
            if aggregate.argument is not None:
                wanted.setdefault(aggregate.argument, set()).add(query.where if root.filters.places else None)
    return {argument: _where_wanted(root, argument, wheres) for argument, wheres in wanted.items()}


def _keys(root: Root) -> list[Column]:
    """What is grouped by, also computed only where a query that groups by it wants the event.

    Of queries with other keys, the rest of the rows would have a null there, which their signatures tell from a key.
    """
    wanted: dict[ex.Expression, set[ex.Expression | None]] = {}
    for query in root.queries.values():
        for key in query.group_by:
            wanted.setdefault(key, set()).add(query.where if root.filters.places else None)
    return [_where_wanted(root, key, wanted[key]) for key in root.keys]


def _where_wanted(root: Root, expression: ex.Expression, wheres: set[ex.Expression | None]) -> Column:
    """An expression, null for events that pass none of the filters."""
    value = columns.column(expression)
    if None in wheres or isinstance(expression, (ex.Column, ex.Literal)):
        return value
    wanted_by = root.filters.passes(where for where in wheres if where is not None)
    if root.filters.late and calm(expression):
        wanted_by |= F.col(root.filters.names[-1]) != 0  # of whom it may be is not known yet
    return F.when(wanted_by, value)


def partial_columns(
    partial: Partial, at_hand: Mapping[ex.Expression, Column], types: Mapping[ex.Expression, str]
) -> list[Column]:
    """A partial's columns, as `series.py` expects them."""
    if partial.argument is None:
        return [F.count(F.lit(1))]
    argument, type_ = at_hand[partial.argument], types[partial.argument]
    match partial.kind:
        case "count":
            return [F.count(argument)]
        case "min":
            return [F.min(argument)]
        case "max":
            return [F.max(argument)]
        case "moments":
            number = argument.cast("double")
            return [F.count(argument), F.avg(number), F.var_pop(number)]
        case "sum" if type_ == "bigint":
            # two halves, so that a slice's sum cannot overflow before the window's does
            return [F.sum(argument.bitwiseAND(F.lit(_LOW_HALF))), F.sum(F.shiftright(argument, 32))]
        case "sum" if type_ in ("float", "double"):
            return [F.sum(argument.cast("double"))]
        case "sum" if may_overflow("sum", type_):
            return [F.sum(argument), F.count(argument)]
        case "sum":
            return [F.sum(argument)]
    raise AssertionError(partial)
