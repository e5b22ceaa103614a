"""apply: DataFrame in, DataFrame out.

    events -> slices, aggregated in the JVM -> answers, in Python workers over Arrow -> the long form -> HAVING

One pass over the events per root of the plan. A call plans and touches nothing; the job runs when somebody asks for
the rows, on their own session.
"""

from __future__ import annotations

from datetime import timedelta
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from weft.errors import BadRequest
from weft.plans.plan import Plan
from weft.queries import durations
from weft.queries import expressions as ex
from weft.spark import having, jobs
from weft.spark.answers import answering
from weft.spark.binding import bind, types_metadata
from weft.spark.bundles import bundled, unrolled
from weft.spark.results import slot_name
from weft.spark.roots import roots
from weft.spark.slices import slices
from weft.spark.stream import weave


def apply(
    df: DataFrame,
    plan: Plan,
    *,
    time: str | None = None,
    watermark: str | timedelta | None = None,
    future: str | timedelta = "1 day",
) -> DataFrame:
    """All answers of all queries of a plan over a DataFrame, in the long form; `weft.view` has those of one query.

    `time` names the event-time column for queries that do not name one themselves. On a stream, `watermark` is how late
    an event may be (10 minutes, unless the stream has a watermark already), and one that is further ahead of the clock
    than `future` is set aside: it is counted, and does not move the watermark. A batch has no use for either, as it has
    none for Spark's `withWatermark`.
    """
    if not isinstance(plan, Plan):
        raise BadRequest(f"{plan!r} is no plan", field="plan", remedy="Make one with weft.optimize(workload)")
    if not isinstance(df, DataFrame):
        raise BadRequest(f"{type(df).__name__} is no DataFrame", field="df", remedy="Pass a Spark DataFrame")
    delay, ahead = _lateness(df, watermark), _micros(future, "future")
    binding = bind(df, plan)
    ansi = df.sparkSession.conf.get("spark.sql.ansi.enabled") == "true"
    numbered = any(prototype.having is not None for prototype in plan.workload.prototypes)
    metadata = types_metadata(binding, plan)
    found = roots(df, plan, time)
    clocks = sorted({root.time_type for root in found} - {"bigint"})
    if len(clocks) > 1:
        raise BadRequest(f"the time columns are of types {', '.join(clocks)}", field="time", remedy="Cast one of them")
    schemas = [jobs.schema(df, root, binding, numbered, metadata) for root in found]
    made = [jobs.job(root, plan, binding, schema, ansi) for root, schema in zip(found, schemas, strict=True)]
    if df.isStreaming:
        parts = [weave(df, plan, found, made, jobs.joined(schemas, binding), delay, ahead)]
    else:
        parts = [
            unrolled(
                slices(df, root, binding.types).mapInArrow(answering(job), bundled(schema, len(job.shape.slots))),
                len(job.shape.slots),
            )
            for root, schema, job in zip(found, schemas, made, strict=True)
        ]
    if len(parts) == 1 and not numbered:
        return parts[0]  # in order already; a select that changes nothing would copy every row once more
    results = reduce(lambda left, right: left.unionByName(right, allowMissingColumns=True), parts)
    if numbered:
        results = having.kept(results, plan.workload, binding)
    ends = [name for name in ("window_start", "window_end", "row_start", "row_end") if name in results.columns]
    values = [slot_name(kind, number) for kind, number in binding.slots]
    return results.select(
        F.col("query").alias("query", metadata=metadata),
        *(F.col(ex.quoted(name)) for name in (*binding.keys.values(), *ends, *values)),
    )


def _lateness(df: DataFrame, watermark: str | timedelta | None) -> int | None:
    """How late events may be, in microseconds; None where the stream says so itself."""
    if any("spark.watermarkDelayMs" in field.metadata for field in df.schema.fields):
        if watermark is not None:
            raise BadRequest("the stream has a watermark already", field="watermark", remedy="Leave one of the two out")
        return None
    return _micros("10 minutes" if watermark is None else watermark, "watermark")


def _micros(duration: str | timedelta, field: str) -> int:
    try:
        return durations.microseconds(duration)
    except BadRequest as error:
        raise error.within(field=field) from None
