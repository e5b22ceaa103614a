"""Oracle: an answer of Weft is right when Spark, asked the same by itself, gives the same rows of the same types.

Rows are multisets. Everything is compared exactly but the results of floating-point sums, for which no order of
addition is the right one: those may differ by 1e-9 of themselves, or by a few roundings of the data *of their own
window*. So an outlier that has left a window excuses nothing, which is where subtracted sums give themselves away.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame

import weft
from weft.queries import expressions as ex

RELATIVE = 1e-9
ROUNDINGS = 64 * 2.0**-52
_SUMS = ("sum", "avg")
_SPREADS = ("var_pop", "var_samp", "stddev_pop", "stddev_samp")


@dataclass(frozen=True)
class Column:
    """How a column of an answer is compared: exactly, or up to roundings, of its square where it is a deviation."""

    name: str
    floating: bool
    squared: bool
    scales: tuple[str, ...]
    """The columns that hold what may have been rounded; their sum is what a rounding is relative to."""


def agree(results: DataFrame, plan: weft.Plan, df: DataFrame, id: str, time: str | None = None) -> None:
    """The view of a query is what Spark gives for it."""
    query = plan.workload[id]
    graded, columns = _graded(query, weft.native(df, query, time=time))
    same_rows(weft.view(results, plan, id), weft.native(df, graded, time=time), columns, ex_sql(query))


def ex_sql(query: weft.Query) -> str:
    """What a failed comparison shows of a query."""
    measures = ", ".join(ex.to_sql(measure.expression) for measure in query.measures)
    where = "" if query.where is None else f" where {ex.to_sql(query.where)}"
    having = "" if query.having is None else f" having {ex.to_sql(query.having)}"
    keys = ", ".join(map(ex.to_sql, query.group_by))
    return f"{query.id}: {measures}{where} by [{keys}]{having} over {query.window}"


def same_types(actual: DataFrame, expected: DataFrame, columns: int | None = None) -> None:
    """Both have the same columns, by name and by type."""
    told = [[(field.name, field.dataType.simpleString()) for field in df.schema] for df in (actual, expected)]
    assert told[0] == told[1][:columns]


def same_rows(actual: DataFrame, expected: DataFrame, columns: tuple[Column, ...], what: str) -> None:
    """Both have the same rows; `expected` may have columns of scales besides those of `columns`."""
    same_types(actual, expected, len(columns))
    found, wanted = _by_exact_part(actual, columns), _by_exact_part(expected, columns)
    counts = [{key: len(rows) for key, rows in side.items()} for side in (found, wanted)]
    assert counts[0] == counts[1], f"{what}\nonly here {_less(counts, 0)}\nonly in Spark {_less(counts, 1)}"
    for key, rows in wanted.items():
        for row, mine in zip(sorted(rows, key=_order), sorted(found[key], key=_order), strict=True):
            for number, column in enumerate(column for column in columns if column.floating):
                scale = math.fsum(abs(part) for part in row.scales[number]) if _finite(row.scales[number]) else 0.0
                assert _near(mine.floats[number], row.floats[number], scale, column.squared), (
                    f"{what}\n{column.name} of {key}: {mine.floats[number]!r}, Spark has {row.floats[number]!r}"
                )


def exact_columns(df: DataFrame) -> tuple[Column, ...]:
    """Compare floats by their relative difference alone: for data without anything to round away."""
    return tuple(
        Column(field.name, field.dataType.simpleString() in ("double", "float"), False, ()) for field in df.schema
    )


def _graded(query: weft.Query, spark_says: DataFrame) -> tuple[weft.Query, tuple[Column, ...]]:
    """The query with the scales of its floating-point columns as further measures."""
    columns, scales = [], []
    for number, (column, field) in enumerate(zip(query.output, spark_says.schema, strict=True)):
        summed = [aggregate for aggregate in ex.aggregates(column.expression) if aggregate.function in _SUMS + _SPREADS]
        floating = bool(summed) and field.dataType.simpleString() in ("double", "float")
        names = []
        for aggregate in summed if floating else ():
            assert aggregate.argument is not None
            size = ex.Operation("abs", (ex.Cast(aggregate.argument, "double"),))
            scale: ex.Expression = ex.Aggregate(aggregate.function, size)
            if aggregate.function in _SPREADS:
                largest = ex.Aggregate("max", size)
                scale = ex.Operation("*", (largest, largest))
            names.append(f"scale_{number}_{len(names)}")
            scales.append(weft.Measure(names[-1], scale))
        squared = any(aggregate.function.startswith("stddev") for aggregate in summed)
        columns.append(Column(column.name, floating, squared, tuple(names)))
    graded = weft.Query(
        query.id,
        (*query.measures, *scales),
        query.window,
        query.where,
        query.group_by,
        query.having,
        query.time,
        query.source,
        (*query.output, *scales),
    )
    return graded, tuple(columns)


@dataclass(frozen=True)
class _Row:
    """The floating-point part of a row, and what its columns may have rounded."""

    floats: tuple[float | None, ...]
    scales: tuple[tuple[float | None, ...], ...]


def _by_exact_part(df: DataFrame, columns: tuple[Column, ...]) -> dict[tuple[Any, ...], list[_Row]]:
    rows: dict[tuple[Any, ...], list[_Row]] = defaultdict(list)
    for row in df.toArrow().to_pylist():
        exact = tuple(_plain(row[column.name]) for column in columns if not column.floating)
        floats = tuple(row[column.name] for column in columns if column.floating)
        scales = tuple(tuple(row.get(name) for name in column.scales) for column in columns if column.floating)
        rows[exact].append(_Row(floats, scales))
    return rows


def _plain(value: Any) -> Any:
    """The value as one that equals itself and has a place in a dictionary; 0.0 and -0.0 are one to Spark."""
    if isinstance(value, dict):
        return tuple(_plain(part) for part in value.values())
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else value + 0.0
    return value


def _order(row: _Row) -> tuple[tuple[int, float], ...]:
    return tuple((0, 0.0) if x is None else (2, 0.0) if math.isnan(x) else (1, x) for x in row.floats)


def _finite(scales: tuple[float | None, ...]) -> bool:
    return all(scale is not None and math.isfinite(scale) for scale in scales)


def _near(mine: float | None, theirs: float | None, scale: float, squared: bool) -> bool:
    if mine is None or theirs is None:
        return mine is theirs
    if math.isnan(mine) or math.isnan(theirs):
        return math.isnan(mine) and math.isnan(theirs)
    if mine == theirs:
        return True
    if squared:
        mine, theirs = mine * mine, theirs * theirs
    return abs(mine - theirs) <= max(RELATIVE * abs(theirs), ROUNDINGS * scale)


def _less(counts: list[dict[tuple[Any, ...], int]], side: int) -> list[Any]:
    def missing() -> Iterator[Any]:
        for key, count in counts[side].items():
            if counts[1 - side].get(key, 0) < count:
                yield key

    return list(missing())[:5]
