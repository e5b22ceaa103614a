"""When no events come: what is answered all the same, and what waits."""

from __future__ import annotations

import time
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import weft
from tests.stream.streaming import Folder, answers, run, session

pytestmark = pytest.mark.spark
START = 1_600_000_000


def table(start: float, *rows: tuple[int, str]) -> pa.Table:
    seconds, keys = zip(*rows, strict=True)
    at = [int((start + second) * 1_000_000) for second in seconds]
    return pa.table({"ts": pa.array(at, pa.timestamp("us", "UTC")), "k": pa.array(keys)})


@pytest.fixture(scope="module")
def own(spark: Any) -> Any:
    return session(spark)


def plan() -> weft.Plan:
    queries = [
        weft.Query("each", "count(*) AS n", weft.Window("10 s"), group_by="k", time="ts"),
        weft.Query("all", "count(*) AS n", weft.Window("5 s"), time="ts"),
    ]
    return weft.optimize(weft.Workload(queries))


def test_what_the_last_event_closes_is_answered_and_the_rest_waits(own: Any, tmp_path: Path) -> None:
    """Also of keys that have no event any more: Spark runs a micro-batch without rows, and the shards have timers."""
    folder, made = Folder(tmp_path / "in"), plan()
    folder.put(table(START, *((1, key) for key in "abcdefgh")))
    folder.put(table(START, (26, "a")))
    schema = own.read.parquet(str(folder.path)).schema
    results = weft.apply(folder.stream(own, schema), made, watermark="10 seconds")

    def answered() -> list[tuple[str, str | None, int]]:
        rows = answers(results, tmp_path).selectExpr("query", "k", "unix_seconds(window_end) - 1600000000 AS at")
        return sorted((row.query, row.k or "", row["at"]) for row in rows.collect())

    reports = run(results, tmp_path)
    assert [report["numInputRows"] for report in reports] == [8, 1, 0]
    assert answered() == [("all", "", 5), *(("each", key, 10) for key in "abcdefgh")]
    assert [report["numInputRows"] for report in run(results, tmp_path) if report["numInputRows"]] == []
    assert len(answered()) == 9, "time stands still"
    folder.put(table(START, (60, "b")))
    run(results, tmp_path)
    assert answered()[1:2] == [("all", "", 30)]
    assert ("each", "a", 30) in answered()


def test_with_idle_the_clock_closes_windows(own: Any, tmp_path: Path) -> None:
    """Nothing of the clock is counted, and a stream that is stopped meanwhile goes on."""
    folder, made = Folder(tmp_path / "in"), plan()
    now = time.time()
    folder.put(table(now, *((0, key) for key in "abcd"), (-2, "a")))
    schema = own.read.parquet(str(folder.path)).schema
    results = weft.apply(folder.stream(own, schema), made, watermark="1 second", idle="3 seconds")
    for _ in range(2):
        query = (
            results.writeStream.format("parquet")
            .options(path=str(tmp_path / "out"), checkpointLocation=str(tmp_path / "checkpoint"))
            .trigger(processingTime="1 second")
            .start()
        )
        until = time.monotonic() + 120
        while not _closed(query, now + 10):
            assert query.isActive
            assert time.monotonic() < until
            time.sleep(0.2)
        query.stop()
    found = answers(results, tmp_path)
    df = own.read.schema(schema).parquet(str(folder.path))
    for name in ("each", "all"):
        alone = sorted(map(str, weft.native(df, made.workload[name]).collect()))
        assert sorted(map(str, weft.view(found, made, name).collect())) == alone
    late = folder.stream(own, schema).withWatermark("ts", "1 second")
    with pytest.raises(weft.BadRequest, match="idle: the stream has a watermark already"):
        weft.apply(late, made, idle="1 second")
    with pytest.raises(weft.BadRequest, match="idle: a batch never waits"):
        weft.apply(df, made, idle="1 second")


def _closed(query: Any, at: float) -> bool:
    """Whether a micro-batch has run with a watermark past an instant."""
    last = query.lastProgress
    told = None if last is None else last["eventTime"].get("watermark")
    return told is not None and datetime.fromisoformat(told).timestamp() >= at
