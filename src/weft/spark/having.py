"""HAVING: which answers are rows at all.

A condition is evaluated in the JVM over the long form. Queries whose conditions differ in nothing but their constants
share one expression, which looks its constants up by the query's number, so ten thousand thresholds cost as much per
row as one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from weft.queries import expressions as ex
from weft.queries.query import Query
from weft.queries.workload import Workload
from weft.spark import columns
from weft.spark.binding import Binding, slot
from weft.spark.results import slot_name


def over_results(
    expression: ex.Expression,
    query: Query,
    types: Mapping[ex.Expression, str],
    keys: Mapping[ex.Expression, str],
) -> ex.Expression:
    """An expression over aggregates, keys and the window, as one over the columns of the long form."""
    start, end = ("window_start", "window_end") if query.window.unit == "time" else ("row_start", "row_end")

    def change(node: ex.Expression) -> ex.Expression | None:
        if node in keys:
            return ex.Column((keys[node],))
        match node:
            case ex.Aggregate():
                return ex.Cast(ex.Column((slot_name(*slot(types, query, node)),)), types[node])
            case ex.WindowField("start"):
                return ex.Column((start,))
            case ex.WindowField("end"):
                return ex.Column((end,))
            case _:
                return None

    return ex.rewrite(expression, change)


def kept(results: DataFrame, workload: Workload, binding: Binding) -> DataFrame:
    """The rows that pass the HAVING of their query."""
    shapes: dict[ex.Expression, int] = {}
    shape_of: list[int | None] = [None] * len(workload)
    constants: dict[int, list[list[str | None]]] = {}
    for position, number in enumerate(workload.prototype.tolist()):
        condition = workload.prototypes[number].having
        if condition is None:
            continue
        shape, found = _without_constants(over_results(condition, workload[position], binding.types, binding.keys))
        known = shapes.setdefault(shape, len(shapes))
        shape_of[position] = known
        columns_of = constants.setdefault(known, [[None] * len(workload) for _ in found])
        for values, literal in zip(columns_of, found, strict=True):
            values[position] = literal.value
    passes = F.lit(True)
    which = _lookup(shape_of, "int")
    for shape, known in shapes.items():
        holes = [_lookup(values, hole.type) for values, hole in zip(constants[known], _holes(shape), strict=True)]
        passes = F.when(which == known, columns.column(shape, _filler(holes))).otherwise(passes)
    return results.where(passes)


def _without_constants(expression: ex.Expression) -> tuple[ex.Expression, list[ex.Literal]]:
    """The expression with its constants blanked, and the constants in order."""
    found: list[ex.Literal] = []

    def blank(node: ex.Expression) -> ex.Expression | None:
        if isinstance(node, ex.Literal) and node.value is not None:
            found.append(node)
            return ex.Literal("", node.type)
        return None

    return ex.rewrite(expression, blank), found


def _holes(shape: ex.Expression) -> list[ex.Literal]:
    return [node for node in ex.walk(shape) if isinstance(node, ex.Literal) and node.value is not None]


def _filler(holes: list[Column]) -> columns.Resolve:
    """Put the looked-up constants back, in order."""
    rest = iter(holes)
    return lambda node: next(rest) if isinstance(node, ex.Literal) and node.value is not None else None


def _lookup(values: list[int | None] | list[str | None], type_: str) -> Column:
    """The value at the query's number: one constant array, however many queries there are."""
    text = json.dumps([None if value is None else str(value) for value in values])
    array = F.from_json(F.lit(text), "array<string>").cast(f"array<{type_}>")
    return F.get(array, F.col("query_number"))
