"""native: one query by Spark's own `window()`, as it would run without Weft. The oracle of every comparison.

Two things Spark's window() does not do itself are said in its terms: a range shorter than the slide is a tumbling
window over the slide, less the rows in the gap; a window of rows is a window() over row numbers taken as microseconds.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import Window as Over
from pyspark.sql import functions as F
from pyspark.sql import types as T

from weft.errors import BadRequest
from weft.queries import expressions as ex
from weft.queries.query import Query
from weft.spark import clock, columns


def native(df: DataFrame, query: Query, *, time: str | None = None) -> DataFrame:
    """The rows of a query, computed by Spark alone."""
    named = query.time or clock.named(time)
    if named is None:
        raise BadRequest("nobody says which column is the time", query=query.id, field="time", remedy="Pass time=")
    at, window = columns.column(named), query.window
    if query.where is not None:
        df = df.where(columns.column(query.where))
    if window.unit == "rows":
        df = df.where(at.isNotNull())
        order = Over.partitionBy(*(columns.column(key) for key in query.group_by)).orderBy(at)
        df = df.withColumn("__weft_row", F.row_number().over(order).cast("bigint") - 1)
        at = F.timestamp_micros(F.col("__weft_row"))
    elif window.delay:
        at = _later(at, window.delay, df.select(at).schema[0].dataType)
    df = df.withColumn("__weft_at", at)
    offset = window.offset % window.slide
    size = window.range
    if size < window.slide:
        ticks = clock.microseconds(F.col("__weft_at"), df.select("__weft_at").schema[0].dataType)
        df = df.where(F.pmod(ticks - F.lit(offset), F.lit(window.slide)) < size)
        size = window.slide
    spans = [f"{micros} microseconds" for micros in (size, window.slide, offset)]
    keys = [columns.column(key).alias(f"__key_{number}") for number, key in enumerate(query.group_by)]
    grouped = df.groupBy(*keys, F.window("__weft_at", *spans).alias("__window")).agg(
        *(columns.column(aggregate).alias(f"__value_{number}") for number, aggregate in enumerate(query.aggregates))
    )
    start = F.col("__window.start")
    end = _later(start, window.range, grouped.select(start).schema[0].dataType)
    if window.unit == "rows":
        start, end = F.unix_micros(start), F.unix_micros(end)

    def resolve(node: ex.Expression) -> Column | None:
        if node in query.group_by:
            return F.col(f"__key_{query.group_by.index(node)}")
        match node:
            case ex.Aggregate():
                return F.col(f"__value_{query.aggregates.index(node)}")
            case ex.WindowField("start"):
                return start
            case ex.WindowField("end"):
                return end
            case ex.WindowField():
                return F.struct(start.alias("start"), end.alias("end"))
            case _:
                return None

    if query.having is not None:
        grouped = grouped.where(columns.column(query.having, resolve))
    return grouped.select(*(columns.column(c.expression, resolve).alias(c.name) for c in query.output))


def _later(time: Column, micros: int, type_: T.DataType) -> Column:
    """The instant so many microseconds later. Added as an interval, a day would be of 23 hours in spring."""
    if isinstance(type_, T.TimestampNTZType):
        return time + F.make_dt_interval(secs=F.lit(micros).cast("decimal(20,0)") / F.lit(1_000_000))
    return F.timestamp_micros(F.unix_micros(time.cast("timestamp")) + F.lit(micros))
