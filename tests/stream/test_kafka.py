"""From topic to topic: a real broker, a hundred queries, a stream that is killed and started again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import functions as F

import weft
from tests.stream.broker import CONNECTOR, MISSING, Broker
from weft.cli import trades
from weft.cli.check import difference
from weft.spark.clock import WHOLE

pytestmark = [pytest.mark.spark, pytest.mark.skipif(MISSING is not None, reason=MISSING or "")]
PROGRAM = "from weft.cli import main; main()"
SCHEMA = "ts timestamp, symbol string, venue string, price double, volume bigint"
ROWS = 4_000


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    with Broker(tmp_path / "kafka") as running:
        yield running


def test_a_hundred_queries_from_topic_to_topic(spark: Any, broker: Broker, tmp_path: Path) -> None:
    own = spark.newSession()
    for jar in CONNECTOR.split(","):
        own.sql(f"ADD JAR '{jar}'")
    trades.write(tmp_path / "trades", ROWS, keys=4, seed=3)
    events = own.read.parquet(str(tmp_path / "trades")).withColumn("volume", F.col("volume").cast("bigint"))
    workload = trades.workload(100, seed=5)
    (tmp_path / "queries.yaml").write_text(workload.to_yaml())
    servers = {"kafka.bootstrap.servers": broker.servers}

    def produce(rows: Any) -> None:
        rows.select(F.to_json(F.struct("*"), WHOLE).alias("value")).write.format("kafka").options(
            **servers, topic="trades"
        ).save()

    middle = events.selectExpr("percentile(unix_micros(ts), 0.5) AS at").collect()[0].at
    end = events.selectExpr("max(unix_micros(ts)) AS at").collect()[0].at
    produce(events.where(F.unix_micros("ts") <= middle))
    with running(tmp_path, broker) as (process, _):
        wait(lambda: len(list((tmp_path / "checkpoint" / "commits").glob("[0-9]*"))) >= 2, process)
        produce(events.where(F.unix_micros("ts") > middle))
    last = events.orderBy(F.desc("ts")).limit(1).withColumn("ts", F.expr("ts + INTERVAL 6 HOURS"))
    produce(last)
    with running(tmp_path, broker, "--trigger", "available-now") as (process, log):
        assert process.wait(240) == 0, log.read_text()[-3000:]
    plan = weft.Plan.from_json(json.loads((tmp_path / "checkpoint" / "_weft_stream.json").read_text())["plan"])
    assert plan.workload.fingerprint() == workload.fingerprint()

    expected = weft.apply(events, plan)
    records = own.read.format("kafka").options(**servers, subscribe="answers").load()
    value = F.from_json(F.col("value").cast("string"), expected.schema)
    found = records.select(F.col("key").cast("string").alias("key"), value.alias("answer"))
    assert found.where("key <> answer.query").count() == 0
    answers = found.select("answer.*").distinct().where(F.unix_micros("window_end") <= end)
    whole = expected.where(F.unix_micros("window_end") <= end)
    assert difference(whole.schema, whole.toArrow(), own.createDataFrame(answers.toArrow(), whole.schema)) is None
    assert whole.select("query").distinct().count() > 60
    names = {row.query for row in whole.select("query").distinct().collect()}
    query = next(q for q in workload if q.having is None and q.id in names)
    alone = weft.native(events, query)
    view = weft.view(own.createDataFrame(answers.toArrow(), expected.schema), plan, query.id)
    ends = "window.end" if "window" in alone.columns else "window_end"
    alone = alone.where(F.unix_micros(ends) <= end)
    assert difference(alone.schema, alone.toArrow(), view) is None


@contextmanager
def running(at: Path, broker: Broker, *more: str) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    """`weft run --stream` in a process of its own, killed with its JVM at the end of the block if it still runs."""
    command = [sys.executable, "-c", PROGRAM, "run", str(at / "queries.yaml"), "--stream"]
    command += ["--from", "kafka", "--from-option", f"kafka.bootstrap.servers={broker.servers}"]
    command += ["--from-option", "subscribe=trades", "--from-option", "startingOffsets=earliest", "--schema", SCHEMA]
    command += ["--to", "kafka", "--to-option", f"kafka.bootstrap.servers={broker.servers}", "--to-option"]
    command += ["topic=answers", "--checkpoint", str(at / "checkpoint"), "--watermark", "10 seconds"]
    command += ["--from-option", f"maxOffsetsPerTrigger={ROWS // 4}"]
    command += ["--conf", f"spark.jars={CONNECTOR}", "--conf", "spark.sql.shuffle.partitions=2", *more]
    log = at / "log"
    with log.open("ab") as file:
        process = subprocess.Popen(command, stdout=file, stderr=file, start_new_session=True)
    try:
        yield process, log
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def wait(done: Any, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + 180
    while not done():
        assert process.poll() is None
        assert time.monotonic() < until
        time.sleep(0.3)
