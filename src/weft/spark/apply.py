"""apply: DataFrame in, DataFrame out.

    events -> slices, aggregated in the JVM -> answers, in Python workers over Arrow -> the long form -> HAVING

One pass over the events per root of the plan. A call plans and touches nothing; the job runs when somebody asks for
the rows, on their own session.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from datetime import timedelta
from functools import reduce
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from weft.errors import BadRequest, shown
from weft.plans.plan import Plan
from weft.queries import durations
from weft.queries import expressions as ex
from weft.registry import Registry
from weft.spark import having, jobs, wide
from weft.spark.answers import answering
from weft.spark.binding import bind, first_queries, key_columns, lively, types_metadata
from weft.spark.bundles import packed, unpacked
from weft.spark.emitting import Emission
from weft.spark.roots import roots
from weft.spark.slices import slices
from weft.spark.stream import Following, weave
from weft.spark.stream.latecomers import compared_columns, late_shapes, table_of


def apply(
    df: DataFrame,
    plan: Plan | Registry,
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

    With a `weft.Registry` in place of a plan, a stream follows it: queries come, change and go while it runs. Every row
    then says in `complete` whether it is of all events of its window, or the query is too young for that. A batch takes
    the registry as it is.
    """
    registry = plan if isinstance(plan, Registry) else None
    version = 0 if registry is None else registry.version
    if isinstance(plan, Registry):
        for file, why in plan.broken.items():
            told = f"{file}: {why}. The version before it counts. Change the queries again, which makes another."
            warnings.warn(told, stacklevel=2)
        plan = plan.plan(version or None)  # of that very version, though another may come meanwhile
    live = registry is not None and isinstance(df, DataFrame) and df.isStreaming
    if not isinstance(plan, Plan):
        raise BadRequest(f"{shown(plan)} is no plan", field="plan", remedy="Make one with weft.optimize(workload)")
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
    if live:
        _refuse_live(plan, output)
    if output == "wide" or live:
        plan = replace(plan, feed="slices")  # one pass: all of a row's answers meet, a new query finds all that is kept
    binding = bind(df, plan)
    ansi = df.sparkSession.conf.get("spark.sql.ansi.enabled") == "true"
    numbered = any(prototype.having is not None for prototype in plan.workload.prototypes)
    found = roots(df, plan, time)
    if live:
        compared = compared_columns(df, found)
        tables = {shape: table_of(number) for number, shape in enumerate(late_shapes(found, compared))}
        found = [root.lively(tables, compared) for root in found]
        binding = lively(df, binding, {partial for root in found for partial in root.partials})
    metadata = types_metadata(binding, plan)
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
        following = None if registry is None else Following(registry, version, binding, tuple(schemas), compared)
        parts = [weave(df, plan, found, made, whole, delay, ahead, _folder(late), rest, following)]
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


def _refuse_live(plan: Plan, output: str) -> None:
    """What a registry cannot do on a stream."""
    if output == "wide":
        raise BadRequest(
            "a wide row has a column for each query, and Spark's columns do not change while a stream runs",
            field="output",
            remedy='Use output="long" with a registry, or a plan',
        )
    for key, name in key_columns(plan.workload).items():
        if name.lower() == jobs.COMPLETE:
            raise BadRequest(
                f"the group key {ex.to_sql(key)} has the name of the column that says whether a row is complete",
                field="group_by",
                remedy="Rename the column before weft.apply",
            )


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
