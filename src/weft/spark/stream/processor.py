"""Processor: the one stateful operator. Blocks of a shard come in, answers go out, partials stay.

In a micro-batch each shard hears of its events once (`handleInputRows`), and whenever the watermark has moved, once
more or instead (`handleExpiredTimer`): its timer always stands a millisecond after the watermark it has seen. So a
shard answers the windows that fell due although none of its keys had an event, and it knows, as Spark's own windows do,
which watermark the micro-batch before had: an event is late by that one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

from weft.errors import RunFailed
from weft.spark.bundles import unbundled
from weft.spark.stream.arriving import BROKEN, VERSION
from weft.spark.stream.aside import ASIDE, Aside
from weft.spark.stream.blocks import from_bytes, together
from weft.spark.stream.closing import Closing, closed, late, retained
from weft.spark.stream.keeping import Head, Shard
from weft.spark.stream.live import Fabric
from weft.spark.stream.observing import report
from weft.spark.stream.roster import Arrived, opened, settled
from weft.spark.stream.tally import Tally
from weft.techniques.windows import ALWAYS

FOLLOWS = "follows-"
"""How the fingerprint of a stream begins that follows a registry."""


class Weaving(StatefulProcessor):
    """Keeps the partials of shards and answers the windows that fall due."""

    def __init__(
        self, what: tuple[Closing, ...] | Fabric, told: str, answered: pa.Schema, aside: Aside | None = None
    ) -> None:
        self._what, self._told, self._answered, self._aside = what, told, answered, aside

    def init(self, handle: Any) -> None:
        """Called by Spark: the state variables."""
        self._handle = handle
        self._head = handle.getValueState("head", "value binary")
        self._tally = handle.getValueState("tally", "value binary")
        self._store = handle.getMapState("blocks", "id bigint", "value binary")

    def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[pd.DataFrame]:  # noqa: N802, N803
        """Called by Spark: what the tasks sent to this shard."""
        arrived = Arrived()
        for frame in rows:
            arrived.ahead += int(frame["ahead"].sum())
            for root, data in zip(frame["root"], frame["block"], strict=True):
                if data is None:
                    continue
                if root == VERSION:
                    arrived.versions.append(bytes(data))
                elif root == BROKEN:
                    arrived.broken.append(bytes(data).decode())
                elif root == ASIDE:
                    arrived.aside.append(bytes(data))
                else:
                    told, block = from_bytes(bytes(data))
                    arrived.blocks.setdefault(int(root), []).append(block)
                    self._check(told["told"])
                    arrived.late.append(told.get("late", {}))
        yield from self._moved(key, arrived, timerValues)

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[pd.DataFrame]:  # noqa: N802, N803
        """Called by Spark: the watermark has moved since the shard last saw it."""
        yield from self._moved(key, Arrived(), timerValues)

    def _moved(self, key: Any, arrived: Arrived, timer: Any) -> Iterator[pd.DataFrame]:
        watermark = timer.getCurrentWatermarkInMs()
        head = self._begun()
        closings, live = self._what, None
        if isinstance(closings, Fabric):
            live = opened(closings, head, self._store, arrived, watermark)
            closings = live.closings
        shard = Shard(head, self._store, closings)
        upto = watermark * 1000 if watermark > 0 else None  # before the first event Spark's watermark is 1970
        after = ALWAYS if head.upto is None else head.upto
        head.ahead += arrived.ahead
        head.calls += 1
        if self._aside is not None:
            self._aside.ahead(f"{key[0]}-{head.calls}", arrived.aside)
        tally, late_before = self._counts(closings), head.late
        for root, blocks in arrived.blocks.items():
            what = closings[root]
            block = together(blocks, what.layout, what.job.ansi)
            tally.arrived(root, block)
            if head.upto is not None:
                missed = late(what, block, after)
                head.late += missed.count
                for number, rows in missed.by_query.items():
                    name = what.job.shape.ids[number]
                    head.late_by_query[name] = head.late_by_query.get(name, 0) + int(missed.events[rows].sum())
                if self._aside is not None and missed.count:
                    self._aside.late(f"{key[0]}-{head.calls}-{root}", what, block, missed)
                block = retained(what, block, after)
            if block.count:
                shard.add(root, block)
        if upto is not None and upto > after:
            for root, what in enumerate(closings):
                last = shard.last(root)
                for batch, kept in closed(what, shard.whole(root), after, upto, last):
                    if batch is not None and batch.num_rows:
                        tally.answered(root, batch)
                        yield _framed(unbundled(batch, what.job.shape), self._answered)
                    last = kept
                shard.remember(root, last)
            head.upto = upto
            shard.expire()
            if live is not None:
                settled(head, live)
        self._set_timer(head, watermark)
        shard.leave()
        self._head.update((head.to_bytes(),))
        self._tally.update((tally.to_bytes(),))
        yield _framed(report(tally, head, head.late - late_before, arrived.ahead), self._answered)

    def _begun(self) -> Head:
        value = self._head.get()
        head = Head(self._told) if value is None else Head.from_bytes(bytes(value[0]))
        self._check(head.told)
        return head

    def _counts(self, closings: tuple[Closing, ...]) -> Tally:
        value = self._tally.get()
        return Tally(closings, None if value is None else bytes(value[0]))

    def _check(self, told: str) -> None:
        if told == self._told:
            return
        (shards, what), (wanted, mine) = told.split(), self._told.split()
        if shards != wanted:
            raise RunFailed(
                f"it keeps its state in {shards} shards, and the stream has {wanted}",
                field="checkpoint",
                remedy=f"Set spark.sql.shuffle.partitions to {shards}, as it was when the checkpoint was begun",
            )
        if what.startswith(FOLLOWS) and mine.startswith(FOLLOWS):
            return  # what is retained is refitted
        raise RunFailed(
            "it belongs to other queries, or to the same ones cut into other slices",
            field="checkpoint",
            remedy="Start with a new checkpoint folder, or with the plan that it was begun with",
        )

    def _set_timer(self, head: Head, watermark: int) -> None:
        wanted = max(watermark, 0) + 1
        if head.timer != wanted:
            if head.timer is not None:
                self._handle.deleteTimer(head.timer)
            self._handle.registerTimer(wanted)
            head.timer = wanted


def _framed(answers: pa.RecordBatch, schema: pa.Schema) -> pd.DataFrame:
    """Answers for pandas to hand on, as Arrow has them: nothing converts a value; columns not there are null."""
    names, count = answers.schema.names, answers.num_rows
    return pd.DataFrame(
        {
            field.name: pd.arrays.ArrowExtensionArray(
                pa.chunked_array([answers[field.name] if field.name in names else pa.nulls(count, field.type)])
            )
            for field in schema
        },
        copy=False,
    )
