"""view: from the long form back to the rows and columns that one query alone would have given."""

from __future__ import annotations

import json
import re

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from weft.errors import BadRequest
from weft.plans.plan import Plan
from weft.queries import expressions as ex
from weft.queries.query import Query
from weft.registry import Registry
from weft.spark import columns
from weft.spark.binding import LIVE, key_columns
from weft.spark.having import over_results
from weft.spark.results import ends
from weft.spark.wide import EMPTY

_TYPE = re.compile(r"[a-z_]+(\(\d+,\d+\))?")


def view(results: DataFrame, plan: Plan | Registry, id: str) -> DataFrame:
    """The rows of one query, in its own columns, out of the results of `weft.apply` (or what was saved of them).

    Of a registry, the query is taken as it is now. Rows that are not complete are among them: leave them out before,
    with `results.where("complete")`.
    """
    known: dict[str, str] = {}
    if isinstance(plan, Registry):
        grain, plan = plan.grain(), plan.plan()  # rows may have been written before the stream's last start
        known = {} if grain is None else {ex.to_sql(made): type_ for made, (type_, _) in grain.aggregates.items()}
    query = plan.workload[id]
    metadata = _metadata(results, plan)
    types = _types(metadata, known, query)
    keys = _keys(metadata, query) if metadata["weft_workload"] == LIVE else key_columns(plan.workload)
    start, end = ends(query.window)

    def whole_window(node: ex.Expression) -> Column | None:
        if node == ex.WINDOW:
            return F.struct(F.col(start).alias("start"), F.col(end).alias("end"))
        return None

    rows = results.where(F.col("query") == id)
    if EMPTY in results.columns and EMPTY not in keys.values():
        rows = rows.where(~F.col(EMPTY))  # Spark says nothing of a window without a row
    return rows.select(
        *(
            columns.column(over_results(column.expression, query, types, keys), whole_window).alias(column.name)
            for column in query.output
        )
    )


def _keys(metadata: dict[str, str], query: Query) -> dict[ex.Expression, str]:
    """The columns of a query's group keys, in rows of a registry's stream."""
    names = json.loads(metadata["weft_keys"])
    return {key: names.get(ex.to_sql(key), ex.label(key)) for key in query.group_by}


def _types(metadata: dict[str, str], known: dict[str, str], query: Query) -> dict[ex.Expression, str]:
    """The Spark types of a query's aggregates, as they were when the results were made."""
    try:
        texts = {**json.loads(metadata["weft_types"]), **known}
        types: dict[ex.Expression, str] = {aggregate: texts[ex.to_sql(aggregate)] for aggregate in query.aggregates}
    except (ValueError, KeyError, TypeError):
        types = {}
    if not types or not all(isinstance(type_, str) and _TYPE.fullmatch(type_) for type_ in types.values()):
        raise BadRequest(
            "the metadata of column 'query' is damaged", query=query.id, field="results", remedy="Run again"
        )
    return types


def _metadata(results: DataFrame, plan: Plan) -> dict[str, str]:
    found = next((field.metadata for field in results.schema.fields if field.name == "query"), {})
    if "weft_types" not in found:
        raise BadRequest(
            "this DataFrame is none that weft.apply gave, or its column 'query' has lost its metadata",
            field="results",
            remedy="Pass what weft.apply returned, or what was saved of it as Parquet",
        )
    if found["weft_workload"] not in (LIVE, plan.workload.fingerprint()):
        raise BadRequest(
            "these results are those of another workload", field="plan", remedy="Pass the plan that they were made with"
        )
    return found
