"""apply: DataFrame in, DataFrame out.

    events -> slices, aggregated in the JVM -> answers, in Python workers over Arrow -> the long form -> HAVING

One pass over the events per root of the plan. A call plans and touches nothing; the job runs when somebody asks for
the rows, on their own session.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from functools import reduce
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from weft.errors import BadRequest
from weft.plans.plan import Plan
from weft.queries import durations
from weft.queries import expressions as ex
from weft.spark import having, jobs, wide
from weft.spark.answers import answering
from weft.spark.binding import bind, first_queries, types_metadata
from weft.spark.bundles import packed, unpacked
from weft.spark.emitting import Emission
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
    late: str | Path | None = None,
    idle: str | timedelta | None = None,
    output: str = "long",
    emit: str = "final",
    empty: bool = False,
) -> DataFrame:
    """All answers of all queries of a plan over a DataFrame, in the long form; `weft.view` has those of one query.

    With `output="wide"` there is one row for each group and instant, with a column for each measure. With
    `emit="changed"` only answers go out that differ from the one before, with `empty=True` also a record when a window
    of a group that had an answer holds no row any more.

    `time` names the event-time column for queries that do not name one themselves. On a stream, `watermark` is how late
    an event may be (10 minutes, unless the stream has a watermark already), and one that is further ahead of the clock
    than `future` is set aside: it is counted, and does not move the watermark. A batch has no use for either, as it has
    none for Spark's `withWatermark`. In the folder `late` a stream keeps what came too late or from too far ahead.
    With `idle` the clock moves the watermark as well: it is never further behind than `idle` and `watermark` together,
    so windows close although no event comes, and an event that is older than that is late.
    """
    if not isinstance(plan, Plan):
        raise BadRequest(f"{plan!r} is no plan", field="plan", remedy="Make one with weft.optimize(workload)")
    if not isinstance(df, DataFrame):
        raise BadRequest(f"{type(df).__name__} is no DataFrame", field="df", remedy="Pass a Spark DataFrame")
    delay, ahead = _lateness(df, watermark), _micros(future, "future")
    for field, given, rule in (("late", late, "nothing is late in a batch"), ("idle", idle, "a batch never waits")):
        if given is not None and not df.isStreaming:
            raise BadRequest(rule, field=field, remedy="Leave it out")
    if idle is not None and delay is None:
        raise BadRequest("the stream has a watermark already", field="idle", remedy="Leave one of the two out")
    rest = None if idle is None else _micros(idle, "idle")
    emission = _emission(plan, output, emit, empty)
    if output == "wide":
        plan = replace(plan, feed="slices")  # one pass, so that all of a row's answers meet
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
    if output == "wide":
        schemas = [wide.schema(plan.workload, binding, schemas[0], empty)]
    elif empty:
        schemas = [jobs.emptied(schema) for schema in schemas]
    made = [
        jobs.emitting(job, plan, binding, root, schema, emission)
        for job, root, schema in zip(made, found, schemas, strict=True)
    ]
    whole = schemas[0] if output == "wide" else jobs.joined(schemas, binding)
    if df.isStreaming:
        parts = [weave(df, plan, found, made, whole, delay, ahead, _folder(late), rest)]
    else:
        parts = [
            unpacked(slices(df, root, binding.types).mapInArrow(answering(job), packed(schema)), schema)
            for root, schema, job in zip(found, schemas, made, strict=True)
        ]
    if output == "wide":
        return wide.measured(parts[0], plan.workload, binding, empty)
    if len(parts) == 1 and not numbered:
        return parts[0]  # in order already; a select that changes nothing would copy every row once more
    results = reduce(lambda left, right: left.unionByName(right, allowMissingColumns=True), parts)
    if numbered:
        results = having.kept(results, plan.workload, binding)
    return results.select(
        F.col("query").alias("query", metadata=metadata),
        *(
            F.col(ex.quoted(name))
            for name in jobs.joined(schemas, binding).names
            if name not in ("query", "query_number")
        ),
    )


def _emission(plan: Plan, output: str, emit: str, empty: bool) -> Emission:
    """What goes out, if that can be."""
    for field, value, known in (("output", output, ("long", "wide")), ("emit", emit, ("final", "changed"))):
        if value not in known:
            raise BadRequest(f"{value!r} is none", field=field, remedy=f"Use one of {', '.join(known)}")
    if output == "wide":
        wide.refuse(plan.workload, empty)
    if output == "wide" or emit == "changed" or empty:
        for query in first_queries(plan.workload):
            if query.having is not None:
                asked = "output" if output == "wide" else "emit" if emit == "changed" else "empty"
                raise BadRequest(
                    "which answers go out is decided before HAVING is",
                    query=query.id,
                    field=asked,
                    remedy="Leave HAVING out, and filter what comes out",
                )
            if query.window.unit == "rows":
                raise BadRequest(
                    "a window of rows follows another at no certain time",
                    query=query.id,
                    field="output" if output == "wide" else "emit",
                    remedy="Use a window of time",
                )
    return Emission(((0, 0),) if output == "wide" else (), emit == "changed", empty)


def _lateness(df: DataFrame, watermark: str | timedelta | None) -> int | None:
    """How late events may be, in microseconds; None where the stream says so itself."""
    if any("spark.watermarkDelayMs" in field.metadata for field in df.schema.fields):
        if watermark is not None:
            raise BadRequest("the stream has a watermark already", field="watermark", remedy="Leave one of the two out")
        return None
    return _micros("10 minutes" if watermark is None else watermark, "watermark")


def _folder(late: str | Path | None) -> str | None:
    """The side folder, so that any worker finds it."""
    if late is None or "://" in str(late) or str(late).startswith("file:"):
        return None if late is None else str(late)
    return str(Path(late).absolute())


def _micros(duration: str | timedelta, field: str) -> int:
    try:
        return durations.microseconds(duration)
    except BadRequest as error:
        raise error.within(field=field) from None
