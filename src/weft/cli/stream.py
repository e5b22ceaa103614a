"""weft run --stream: events in as they come, answers out as windows close, until somebody says stop.

1  refuse all that can be seen to be wrong without Spark
2  a session with a state store, and as many shards as the checkpoint has, or processors
3  the plan of the checkpoint, or a new one, left there before the first micro-batch
4  watch (`live.py`) until the events are used up, Ctrl-C is pressed, or something fails
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import weft
from weft.cli import checkpoint as checkpoints
from weft.cli import console, planning
from weft.cli.progress import step
from weft.cli.registry import opened
from weft.cli.run import Request, rate_and_keys
from weft.cli.session import session
from weft.errors import BadRequest
from weft.plans import explain
from weft.queries import durations

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

AVAILABLE = "available-now"
KAFKA, RATE, CONSOLE = "kafka", "rate", "console"
"""What --from and --to say where they do not name a folder; a folder of such a name is ./kafka."""
USUAL = "parquet"
"""What files of answers are, where nothing else is said."""
_RATE, _KEYS = 5_000, 1_000
_OUTPUTS, _EMITS = ("long", "wide"), ("final", "changed")


@dataclass(frozen=True)
class Options:
    """The options that only a stream has."""

    checkpoint: str | None
    trigger: str | None
    watermark: str | None
    future: str | None
    late: str | None
    idle: str | None
    emit: str | None
    empty: bool
    schema: str | None
    to_format: str | None
    from_option: Mapping[str, str]
    to_option: Mapping[str, str]

    def refuse(self) -> None:
        """Say that --stream is missing."""
        for field in fields(self):
            if getattr(self, field.name):
                name = f"--{field.name.replace('_', '-')}"
                raise BadRequest("it is for streams", field=name, remedy="Add --stream, or leave it out")


def run(asked: Request, own: Options) -> None:
    """Plan, start, watch."""
    checkpoint = _check(asked, own)
    registry = _registry(asked) if asked.queries.is_dir() else None
    workload = weft.Workload.from_file(asked.queries) if registry is None else registry.plan().workload
    plan = planning.saved(asked.plan, workload, asked.queries) if asked.plan else None
    before = checkpoints.begun(checkpoint)
    checkpoints.sound(checkpoint)
    same: dict[str, Any] = {
        "to": asked.to,
        "to_format": own.to_format or USUAL,
        "output": asked.output,
        "emit": own.emit or "final",
        "empty": own.empty,
        "time": asked.time,
        "idle": own.idle,
        "planned": {**asked.choices, "rate": asked.rate, "keys": asked.keys},
        "registry": None if registry is None else str(registry.path.resolve()),
    }
    if before is not None:
        plan = checkpoints.refuse(before, same, workload, plan)
    if registry is not None:
        plan = registry.plan()
    from weft.cli import live, sinks, sources
    from weft.cli.events import is_local

    sources.check(asked.source, own.from_option, own.schema, asked.format)
    sinks.check(asked.to, asked.source, own.to_format, own.to_option, checkpoints.has_run(checkpoint))
    if own.late is not None:
        sinks.check_aside(own.late, (asked.source, asked.to, checkpoint), checkpoints.has_run(checkpoint))
    with session(asked.master, asked.conf, _usual(before)) as running:
        spark = running.spark if running.tasks is not None else _sibling(running.spark, before)
        columns = sources.columns(spark, asked.source, own.schema or (before.schema if before else None), asked.format)
        events = sources.read(spark, asked.source, own.from_option, columns, asked.format, asked.types)
        if plan is None:
            files = sources.files(spark, asked.source, columns, asked.format, asked.types)
            plan = _planned(asked, events, files, workload)
        results = weft.apply(
            events,
            registry or plan,
            time=asked.time,
            watermark=own.watermark,
            future=own.future or "1 day",
            late=own.late,
            idle=own.idle,
            output=asked.output,
            emit=own.emit or "final",
            empty=own.empty,
        )
        console.say(planning.brief(plan))
        if before is None and is_local(checkpoint):
            shards = int(str(spark.conf.get("spark.sql.shuffle.partitions")))
            schema = None if columns is None else columns.json()
            checkpoints.Begun(plan=plan.to_json(), schema=schema, shards=shards, **same).write(checkpoint)
        sinks.remember(plan, asked.to, own.to_format, asked.output)
        writer = sinks.writer(results, asked.to, own.to_format, own.to_option)
        writer = writer.option("checkpointLocation", checkpoint).trigger(**_trigger(own.trigger))
        live.watch(writer, asked.to, checkpoint, len(workload))


def _registry(asked: Request) -> weft.Registry:
    """The registry that is named in the place of a file of queries."""
    for option, given in (("--plan", asked.plan), ("--rate", asked.rate), ("--keys", asked.keys)):
        if given is not None:
            raise BadRequest("a registry has its own", field=option, remedy="Leave it out, or give it to weft register")
    if asked.choices:
        raise BadRequest(
            "a registry is planned as it was begun",
            field=f"--{next(iter(asked.choices))}",
            remedy="Leave it out, or give it to weft.Registry",
        )
    return opened(asked.queries)


def _check(asked: Request, own: Options) -> str:
    """Refuse what the options alone say; the checkpoint's folder."""
    emit = own.emit or "final"
    for option, value, known in (("--output", asked.output, _OUTPUTS), ("--emit", emit, _EMITS)):
        if value not in known:
            raise BadRequest(f"there is no '{value}' on a stream", field=option, remedy=f"Use {' or '.join(known)}")
    for option, given in (("--check", asked.check), ("--mode", asked.mode != "error")):
        if given:
            raise BadRequest("it is for batches", field=option, remedy="Leave it out, or --stream")
    for option, duration in (("--watermark", own.watermark), ("--future", own.future), ("--idle", own.idle)):
        if duration is not None:
            _duration(duration, option)
    _trigger(own.trigger)
    places = {"--from": asked.source, "--to": asked.to}
    return checkpoints.check(own.checkpoint, {k: v for k, v in places.items() if v not in (KAFKA, RATE, CONSOLE)})


def _trigger(given: str | None) -> dict[str, Any]:
    if given is None:
        return {"processingTime": "0 seconds"}
    if given == AVAILABLE:
        return {"availableNow": True}
    return {"processingTime": f"{_duration(given, '--trigger') // 1000} milliseconds"}


def _duration(given: str, option: str) -> int:
    try:
        return durations.microseconds(given)
    except BadRequest as error:
        raise error.within(field=option) from None


def _usual(before: checkpoints.Begun | None) -> dict[str, str]:
    """What a stream asks of a session: the state store, and the shards that the checkpoint has, or processors."""
    from weft.spark.stream.pipeline import ROCKSDB

    shards = str(before.shards if before else os.cpu_count() or 2)
    return {
        "spark.sql.streaming.stateStore.providerClass": ROCKSDB,
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
        "spark.sql.shuffle.partitions": shards,
    }


def _sibling(spark: SparkSession, before: checkpoints.Begun | None) -> SparkSession:
    """A session beside the active one, which stays as it is."""
    own = spark.newSession()
    for name, value in _usual(before).items():
        own.conf.set(name, value)
    return own


def _planned(asked: Request, df: DataFrame, measurable: DataFrame | None, workload: weft.Workload) -> weft.Plan:
    """A plan for the rate and the keys that are given, or of the files that are there, or as in `weft explain`."""
    from weft.cli import events

    rate, keys = (asked.rate, asked.keys) if measurable is None else rate_and_keys(asked, workload, measurable)
    stats = weft.Stats(rate or _RATE, keys or _KEYS, types=events.types(df))
    if not (rate and keys):
        said = explain.keys(stats)
        console.note(f"Planned for {float(stats.rate):,g} rows/s and {said}: --rate and --keys say otherwise.")
    with step("planning"):
        return weft.optimize(workload, stats, **asked.choices)
