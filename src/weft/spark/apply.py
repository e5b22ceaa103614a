"""apply: DataFrame in, DataFrame out.

    events -> slices, aggregated in the JVM -> answers, in Python workers over Arrow -> the long form -> HAVING

One pass over the events per root of the plan. A call plans and touches nothing; the job runs when somebody asks for
the rows, on their own session.
"""

from __future__ import annotations

from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from weft.errors import BadRequest
from weft.plans.plan import Plan
from weft.queries import expressions as ex
from weft.spark import having, jobs
from weft.spark.answers import answering
from weft.spark.binding import bind, types_metadata
from weft.spark.bundles import bundled, unrolled
from weft.spark.results import slot_name
from weft.spark.roots import roots
from weft.spark.slices import slices


def apply(df: DataFrame, plan: Plan, *, time: str | None = None) -> DataFrame:
    """All answers of all queries of a plan over a DataFrame, in the long form; `weft.view` has those of one query.

    `time` names the event-time column for queries that do not name one themselves.
    """
    if not isinstance(plan, Plan):
        raise BadRequest(f"{plan!r} is no plan", field="plan", remedy="Make one with weft.optimize(workload)")
    if not isinstance(df, DataFrame):
        raise BadRequest(f"{type(df).__name__} is no DataFrame", field="df", remedy="Pass a Spark DataFrame")
    if df.isStreaming:
        raise BadRequest(
            "this is a stream, and apply runs batches", field="df", remedy="Call it inside foreachBatch, or on a table"
        )
    binding = bind(df, plan)
    ansi = df.sparkSession.conf.get("spark.sql.ansi.enabled") == "true"
    numbered = any(prototype.having is not None for prototype in plan.workload.prototypes)
    metadata = types_metadata(binding, plan)
    parts = []
    found = roots(df, plan, time)
    clocks = sorted({root.time_type for root in found} - {"bigint"})
    if len(clocks) > 1:
        raise BadRequest(f"the time columns are of types {', '.join(clocks)}", field="time", remedy="Cast one of them")
    for root in found:
        schema = jobs.schema(df, root, binding, numbered, metadata)
        job = jobs.job(root, plan, binding, schema, ansi)
        slots = len(job.shape.slots)
        bundles = slices(df, root, binding.types).mapInArrow(answering(job), bundled(schema, slots))
        parts.append(unrolled(bundles, slots))
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
