"""Observing: what a micro-batch did, in one value, from the progress that Spark reports of it.

    query   key   window_start ...   __weft_report
    high    AAPL  8:00               null
                                     120 3000 0 0 450 36000     answers, events, late, ahead, partials, bytes

After a shard's answers, the stateful operator sends a row that is none: its report. Spark adds the reports up as they
pass (`DataFrame.observe`) and hands the sums to whoever asks for a query's progress; then they are taken out. So
nothing is read again, and it works over Spark Connect as well. For each query by itself, read the state (`state.py`).
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.streaming.listener import StreamingQueryListener

from weft.spark.stream.keeping import Head
from weft.spark.stream.tally import Tally

_NAME = "weft_"
_REPORT = "__weft_report"
_SUMS = ("answers", "events", "late", "ahead", "partials", "state_bytes")
_HELD = ("partials", "state_bytes")


@dataclass(frozen=True)
class MicroBatch:
    """What a micro-batch of a stream did, and what the stream retains after it."""

    query: str
    """The stream's id, the same after a restart."""
    number: int
    at: datetime
    """When it began."""
    seconds: float
    rows: int
    """Rows that came from the source."""
    events: int
    """Events taken in, once for each set of group keys that has a query for them."""
    answers: int
    late: int
    """Events that came after a window that takes them had been answered, for some query."""
    ahead: int
    """Events set aside because they were too far in the future."""
    watermark: datetime | None
    """Windows that end by it have been answered."""
    partials: int | None
    """Retained partials, over all shards; None where no shard was called, as when no query wants any of the events."""
    state_bytes: int | None
    """Of the blocks that hold them."""
    store_bytes: int
    """What Spark says that the state store takes, of memory and disk."""

    ran: bool
    """Whether there was a micro-batch at all: Spark reports of a waiting stream too."""

    @property
    def rows_per_second(self) -> float:
        """How fast it was."""
        return self.rows / self.seconds if self.seconds else 0.0

    @property
    def lag(self) -> float | None:
        """How many seconds the answers are behind the clock."""
        return None if self.watermark is None else (self.at - self.watermark).total_seconds()

    @property
    def bytes_per_partial(self) -> float | None:
        """Bytes of state for each retained partial."""
        return self.state_bytes / self.partials if self.partials and self.state_bytes is not None else None


def with_reports(form: T.StructType) -> T.StructType:
    """What the operator sends, for answers of this form."""
    return T.StructType([*form.fields, T.StructField(_REPORT, T.StringType())])


def report(tally: Tally, head: Head, late: int, ahead: int) -> pa.RecordBatch:
    """A shard's row that is no answer: what this micro-batch brought, and what is retained after it."""
    held = sum(entry.rows for entry in head.entries), sum(entry.bytes for entry in head.entries)
    said = " ".join(map(str, (tally.given, tally.taken, late, ahead, *held)))
    return pa.RecordBatch.from_pydict({_REPORT: pa.array([said])})


def observed(rows: DataFrame) -> DataFrame:
    """The answers among the operator's rows, with the sums of the reports observed."""
    told = F.split(F.col(_REPORT), " ")
    sums = [F.sum(F.get(told, F.lit(at)).cast("bigint")).alias(name) for at, name in enumerate(_SUMS)]
    rows = rows.observe(f"{_NAME}{uuid.uuid4().hex[:8]}", *sums)
    return rows.where(F.col(_REPORT).isNull()).drop(_REPORT)


def micro_batch(progress: Mapping[str, Any]) -> MicroBatch | None:
    """What Spark's progress report says, of a stream that `weft.apply` made; None of any other."""
    metrics = progress["observedMetrics"]
    found = [_named(row) for name, row in metrics.items() if name.startswith(_NAME)]
    if not found:
        return None
    sums: dict[str, Any] = {name: sum(int(row.get(name) or 0) for row in found) for name in _SUMS}
    if all(row.get("partials") is None for row in found):
        sums.update(dict.fromkeys(_HELD))
    watermark = progress["eventTime"].get("watermark")
    operators = progress["stateOperators"]
    return MicroBatch(
        query=str(progress["id"]),
        number=int(progress["batchId"]),
        at=_instant(progress["timestamp"]),
        seconds=int(progress["durationMs"].get("triggerExecution", 0)) / 1000,
        rows=int(progress["numInputRows"]),
        watermark=None if watermark is None or watermark.startswith("1970-01-01") else _instant(watermark),
        ran="addBatch" in progress["durationMs"],
        store_bytes=sum(int(operator["memoryUsedBytes"]) for operator in operators),
        **sums,
    )


class StreamListener(StreamingQueryListener):
    """Hands each micro-batch of Weft's streams to a function: `spark.streams.addListener(StreamListener(print))`."""

    def __init__(self, tell: Callable[[MicroBatch], None]) -> None:
        self._tell = tell

    def onQueryStarted(self, event: Any) -> None:  # noqa: N802
        """Called by Spark."""

    def onQueryProgress(self, event: Any) -> None:  # noqa: N802
        """Called by Spark."""
        told = micro_batch(event.progress)
        if told is not None:
            self._tell(told)

    def onQueryIdle(self, event: Any) -> None:  # noqa: N802
        """Called by Spark."""

    def onQueryTerminated(self, event: Any) -> None:  # noqa: N802
        """Called by Spark."""


def _named(row: Any) -> Mapping[str, Any]:
    named: Mapping[str, Any] = row.asDict() if hasattr(row, "asDict") else row
    return named


def _instant(said: str) -> datetime:
    return datetime.fromisoformat(said.replace("Z", "+00:00")).astimezone(UTC)
