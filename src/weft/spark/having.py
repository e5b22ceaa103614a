"""HAVING: which answers are rows at all.

A condition is evaluated in the JVM over the long form. Queries whose conditions differ in nothing but their constants
share one expression, which looks its constants up by the query's number, so ten thousand thresholds cost as much per
row as one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from weft.queries import expressions as ex
from weft.queries.query import Query
from weft.queries.workload import Workload
from weft.spark import constants
from weft.spark.binding import Binding, slot
from weft.spark.results import ends, slot_name


def over_results(
    expression: ex.Expression,
    query: Query,
    types: Mapping[ex.Expression, str],
    keys: Mapping[ex.Expression, str],
    columns: Callable[[ex.Aggregate], str] | None = None,
) -> ex.Expression:
    """An expression over aggregates, keys and the window, as one over the columns of the long form, or of others."""
    start, end = ends(query.window)

    def change(node: ex.Expression) -> ex.Expression | None:
        if node in query.group_by:
            return ex.Column((keys[node],))
        match node:
            case ex.Aggregate():
                name = slot_name(*slot(types, query, node)) if columns is None else columns(node)
                return ex.Cast(ex.Column((name,)), types[node])
            case ex.WindowField("start"):
                return ex.Column((start,))
            case ex.WindowField("end"):
                return ex.Column((end,))
            case _:
                return None

    return ex.rewrite(expression, change)


def kept(results: DataFrame, workload: Workload, binding: Binding) -> DataFrame:
    """The rows that pass the HAVING of their query."""
    shapes: dict[ex.Expression, list[constants.Row | None]] = {}
    for position, number in enumerate(workload.prototype.tolist()):
        condition = workload.prototypes[number].having
        if condition is not None:
            over = over_results(condition, workload[position], binding.types, binding.keys)
            shape, row = constants.blanked(over)
            if shape not in shapes:
                shapes[shape] = [None] * len(workload)
            shapes[shape][position] = row
    shape_of = {position: number for number, rows in enumerate(shapes.values()) for position in _filled(rows)}
    which = _at_query([(str(shape_of[i]),) if i in shape_of else None for i in range(len(workload))], ["int"])[0]
    passes = F.when(which.isNull(), F.lit(True))
    for number, (shape, rows) in enumerate(shapes.items()):
        passes = passes.when(which == number, constants.filled(shape, _at_query(rows, constants.types(shape))))
    return results.where(passes)


def _filled(rows: list[constants.Row | None]) -> list[int]:
    return [position for position, row in enumerate(rows) if row is not None]


def _at_query(rows: list[constants.Row | None], of: list[str]) -> list[Column]:
    """The constants of the row's query, by its number."""
    if not of:
        return []
    row = F.get(constants.table(rows, of), F.col("query_number"))
    return [row[f"c{number}"] for number in range(len(of))]
