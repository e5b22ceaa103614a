"""Pipeline: what Spark runs for a plan over a stream."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import types as T

from weft.errors import BadRequest
from weft.plans.plan import Plan
from weft.queries import expressions as ex
from weft.spark import columns
from weft.spark.answers import Job
from weft.spark.keys import plain
from weft.spark.roots import Root
from weft.spark.stream.arriving import arriving
from weft.spark.stream.aside import aside
from weft.spark.stream.closing import Closing, closing, events_source
from weft.spark.stream.folding import FORM, Fold, folding
from weft.spark.stream.latecomers import Latecomers, late_shapes
from weft.spark.stream.live import Fabric, Following, grain_of
from weft.spark.stream.observing import observed, with_reports
from weft.spark.stream.processor import FOLLOWS, Weaving
from weft.spark.stream.reading import read
from weft.spark.stream.shards import labels

ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


def weave(
    df: DataFrame,
    plan: Plan,
    roots: Sequence[Root],
    jobs: Sequence[Job],
    form: T.StructType,
    watermark: int | None,
    future: int,
    late: str | None = None,
    idle: int | None = None,
    following: Following | None = None,
) -> DataFrame:
    """The answers of all roots, in this form. Durations are in microseconds; `late` is the side folder."""
    _refuse(df, plan, roots)
    shards = labels(int(str(df.sparkSession.conf.get("spark.sql.shuffle.partitions"))))
    ansi, emission = jobs[0].ansi, jobs[0].emission
    counted = [events_source(job.sources) for job in jobs]
    latecomers, grain = None, None
    if following is not None:
        grain = grain_of(roots, following.binding, following.compared)
        if shapes := late_shapes(roots, following.compared):
            path = str(following.registry.path.resolve())
            latecomers = Latecomers(path, grain, following.version, shapes, following.compared)
            df = latecomers.joined(df)
    events, folds = read(df, roots, [sources for sources, _ in counted], watermark, future, late is not None, idle)
    layouts, counting = tuple(fold.layout for fold in folds), tuple(column for _, column in counted)
    what: tuple[Closing, ...] | Fabric
    if following is None or grain is None:
        cut = [root.classes for root in roots]
        told = _told(f"{plan.workload.fingerprint()} {cut} {emission} {folds}", len(shards))
        what = tuple(closing(*each) for each in zip(jobs, layouts, counting, strict=True))
    else:
        told = _told(f"{grain.to_json()} {form.json()} {emission} {ansi}", len(shards), FOLLOWS)
        bare = tuple(replace(root, queries={}, trees=()) for root in roots)
        patience = _patience(df) if watermark is None else watermark
        what = Fabric(
            told, grain, bare, layouts, counting, following.schemas, following.binding, ansi, emission, patience,
            _argument_types(events, folds),
        )  # fmt: skip
        following.registry.begin(grain, following.version)
    blocks = events.mapInArrow(folding(folds, tuple(shards), told, ansi, latecomers), FORM)
    if following is not None:
        blocks = blocks.union(arriving(df.sparkSession, following.registry.folder, tuple(shards)))
    reporting = with_reports(form)
    answered = df.sparkSession.createDataFrame([], reporting).toArrow().schema
    rows = blocks.groupBy("shard").transformWithStateInPandas(
        statefulProcessor=Weaving(what, told, answered, None if late is None else aside(late, jobs, answered)),
        outputStructType=reporting,
        outputMode="append",
        timeMode="EventTime",
    )
    return observed(rows)


def _refuse(df: DataFrame, plan: Plan, roots: Sequence[Root]) -> None:
    """What cannot be done on a stream, before anything starts."""
    for root in roots:
        query = next(iter(root.queries.values()))
        if root.counts_rows:
            raise BadRequest(
                "a window of rows numbers them in time order, and on a stream an earlier row may still come",
                query=query.id,
                field="window",
                remedy="Use a window of time, or run it over a batch",
            )
        if root.time != roots[0].time:
            raise BadRequest(
                f"its time is {ex.to_sql(root.time)}, other queries have {ex.to_sql(roots[0].time)}, and a stream has "
                "one watermark",
                query=query.id,
                field="time",
                remedy="Run them as two streams",
            )
        nested = df.select(*(columns.column(key) for key in root.keys)).schema
        for key, field in zip(root.keys, nested, strict=True):
            if isinstance(field.dataType, (T.StructType, T.ArrayType)):
                raise BadRequest(
                    f"'{ex.to_sql(key)}' is {field.dataType.simpleString()}, and a stream's keys are single values",
                    query=query.id,
                    field="group_by",
                    remedy="Group by its fields",
                )
    store = str(df.sparkSession.conf.get("spark.sql.streaming.stateStore.providerClass"))
    if not store.endswith("RocksDBStateStoreProvider"):
        raise BadRequest(
            f"the state store is {store.rsplit('.', 1)[-1]}, and Spark keeps this kind of state in RocksDB only",
            field="spark.sql.streaming.stateStore.providerClass",
            remedy=f'Call spark.conf.set("spark.sql.streaming.stateStore.providerClass", "{ROCKSDB}") before the start',
        )


def _told(what: str, shards: int, kind: str = "") -> str:
    """What every block and every shard says about whose it is: the number of shards, and a fingerprint."""
    return f"{shards} {kind}{hashlib.sha256(what.encode()).hexdigest()[:32]}"


def _patience(df: DataFrame) -> int:
    """How late an event may be, in microseconds, on a stream that has a watermark."""
    delays = [field.metadata.get("spark.watermarkDelayMs", 0) for field in df.schema.fields]
    return int(max(delays)) * 1_000


def _argument_types(events: DataFrame, folds: Sequence[Fold]) -> tuple[tuple[pa.DataType | None, ...], ...]:
    """The Arrow type of what each partial of each root is over."""
    shape = events.sparkSession.createDataFrame([], events.schema).toArrow().schema
    return tuple(
        tuple(None if name is None else plain(pa.nulls(0, shape.field(name).type)).type for name in fold.arguments)
        for fold in folds
    )
