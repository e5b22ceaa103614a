"""State: what a checkpoint holds, read from outside, by shard, by tree and by query.

    weft.state(spark, "checkpoint/")

It reads the heads and the counts of all shards as of the last micro-batch that was committed, through Spark's own
`statestore` source, and no block: so it is quick however much there is, and the stream may be running or not.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from weft.errors import BadRequest, RunFailed
from weft.spark.stream import tally
from weft.spark.stream.keeping import Entry, Head


@dataclass(frozen=True)
class Retained:
    """Some blocks of partials."""

    blocks: int
    partials: int
    bytes: int
    oldest: datetime | None
    """The first slice begins."""
    newest: datetime | None
    """The last slice begins."""

    @property
    def bytes_per_partial(self) -> float | None:
        """Bytes of state for each retained partial."""
        return self.bytes / self.partials if self.partials else None


@dataclass(frozen=True)
class ShardState:
    """A shard: what it retains, up to where its windows are answered, and what it has counted."""

    partition: int
    retained: Retained
    answered: datetime | None
    late: int
    ahead: int


@dataclass(frozen=True)
class Count:
    """What a query, or a tree as a whole, has taken in and given out since the stream began."""

    events: int
    """Events that pass the filter, late or not."""
    answers: int
    late: int
    """Events that came after every window that takes them had been answered."""


@dataclass(frozen=True)
class TreeState:
    """Trees that share a pass: what is retained for them, and their queries."""

    queries: tuple[str, ...]
    retained: Retained
    count: Count


@dataclass(frozen=True)
class State:
    """What a checkpoint holds after a micro-batch."""

    batch: int
    watermark: datetime | None
    """As the shards know it; windows that end by it have been answered."""
    shards: tuple[ShardState, ...]
    trees: tuple[TreeState, ...]
    queries: Mapping[str, Count]
    retained: Retained
    late: int
    ahead: int
    version: int | None = None
    """Of the query set that the shards have taken in, where they follow a registry."""
    broken: tuple[str, ...] = ()
    """Word of versions that came and could not be read."""

    @property
    def lag(self) -> float:
        """How many seconds the shard that is furthest behind has yet to answer up to the watermark."""
        answered = [shard.answered for shard in self.shards if shard.answered is not None]
        return (self.watermark - min(answered)).total_seconds() if answered and self.watermark else 0.0

    def to_json(self) -> str:
        """All of it."""
        return json.dumps(asdict(self), default=datetime.isoformat, indent=1)


def state(spark: SparkSession, checkpoint: str | Path, batch: int | None = None) -> State:
    """What a checkpoint holds, after its last micro-batch or another one that Spark still keeps."""
    path = str(checkpoint)
    try:
        kept = (
            spark.read.format("state-metadata").load(path).select("operatorId", "operatorName", "maxBatchId").collect()
        )
        # a stream may have other stateful operators before ours, as dropDuplicates is
        operator = next((row.operatorId for row in kept if row.operatorName.startswith("transformWithState")), 0)
        if batch is None:
            batch = max((int(row.maxBatchId) for row in kept), default=0)
        heads = _variable(spark, path, operator, "head", batch)
        tallies = _variable(spark, path, operator, "tally", batch)
        rows = heads.join(tallies, "partition").orderBy("partition").toArrow()
    except PySparkException as error:
        said = str(error).strip().splitlines()[0].split(" SQLSTATE")[0].rstrip(".")
        raise BadRequest(
            f"there is no state of Weft's in '{path}' ({said})",
            field="checkpoint",
            remedy="Give the checkpoint folder of a stream that has done a micro-batch",
        ) from None
    parts = [row.as_py() for row in rows["partition"]]
    return _state(
        batch,
        {part: Head.from_bytes(row.as_py()) for part, row in zip(parts, rows["head"], strict=True)},
        [tally.read(row.as_py()) for row in rows["tally"]],
    )


def _variable(spark: SparkSession, path: str, operator: int, name: str, batch: int) -> DataFrame:
    """A state variable of all shards: partition and value."""
    where = {"path": path, "operatorId": str(operator), "stateVarName": name, "batchId": str(batch)}
    reader = spark.read.format("statestore").options(**where)
    return reader.load().select(F.col("partition_id").alias("partition"), F.col("value.value").alias(name))


def _state(batch: int, heads: Mapping[int, Head], tallies: Iterable[pa.RecordBatch]) -> State:
    told = {head.told for head in heads.values()}
    if len(told) != 1:
        raise RunFailed(
            "its shards belong to several streams, or there are none",
            field="checkpoint",
            remedy="Give the checkpoint folder of one stream that has taken in an event",
        )
    counts = pa.Table.from_batches(tallies).group_by(["root", "query"], use_threads=False)
    summed = counts.aggregate([("events", "sum"), ("answers", "sum")]).to_pylist()
    late: dict[str, int] = {}
    for head in heads.values():
        for query, count in head.late_by_query.items():
            late[query] = late.get(query, 0) + count
    queries: dict[str, Count] = {}
    trees = []
    for root in sorted({row["root"] for row in summed}):
        mine = [row for row in summed if row["root"] == root]
        names = [row["query"] for row in mine if row["query"] is not None]
        queries |= {
            row["query"]: Count(row["events_sum"], row["answers_sum"], late.get(row["query"], 0))
            for row in mine
            if row["query"] is not None
        }
        whole = next(row for row in mine if row["query"] is None)
        trees.append(
            TreeState(
                tuple(names),
                _retained(entry for head in heads.values() for entry in head.entries if entry.root == root),
                Count(whole["events_sum"], whole["answers_sum"], max((late.get(name, 0) for name in names), default=0)),
            )
        )
    timers = [head.timer for head in heads.values() if head.timer is not None and head.timer > 1]
    return State(
        batch,
        _instant((max(timers) - 1) * 1000) if timers else None,
        tuple(
            ShardState(partition, _retained(head.entries), _instant(head.upto), head.late, head.ahead)
            for partition, head in heads.items()
        ),
        tuple(trees),
        queries,
        _retained(entry for head in heads.values() for entry in head.entries),
        sum(head.late for head in heads.values()),
        sum(head.ahead for head in heads.values()),
        max((head.version for head in heads.values() if head.version is not None), default=None),
        tuple(dict.fromkeys(word for head in heads.values() for word in head.broken)),
    )


def _retained(entries: Iterable[Entry]) -> Retained:
    entries = list(entries)
    return Retained(
        len(entries),
        sum(entry.rows for entry in entries),
        sum(entry.bytes for entry in entries),
        _instant(min((entry.oldest for entry in entries), default=None)),
        _instant(max((entry.newest for entry in entries), default=None)),
    )


def _instant(micros: int | None) -> datetime | None:
    return None if micros is None else datetime.fromtimestamp(micros / 1_000_000, UTC)
