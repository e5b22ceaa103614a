"""weft run --stream, end to end: from a folder to a folder and on from there, and what can be wrong with a request."""

from __future__ import annotations

import io
import json
import shutil
import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import weft as library
from tests.cli.conftest import Weft
from weft.cli import check, live
from weft.spark.stream.observing import MicroBatch

PROGRAM = "from weft.cli import main; main()"
SAME = ("--trigger", "available-now", "--watermark", "1 minute", "--rate", "1", "--keys", "4")


@pytest.fixture
def arriving(events: Path, tmp_path: Path) -> tuple[Path, list[Path]]:
    """A folder with the first of the events' files, and the rest of the files."""
    folder = tmp_path / "arriving"
    folder.mkdir()
    first, *rest = sorted(events.iterdir())
    shutil.copy(first, folder)
    return folder, rest


@pytest.mark.spark
def test_from_a_folder_to_a_folder_and_on_from_there(
    weft: Weft, spark: Any, queries: Path, events: Path, tmp_path: Path, arriving: tuple[Path, list[Path]]
) -> None:
    folder, rest = arriving
    to, checkpoint = tmp_path / "out", tmp_path / "checkpoint"
    command = ("run", queries, "--stream", "--from", folder, "--to", to, "--checkpoint", checkpoint, *SAME)
    told = weft(*command)
    assert (told.exit_code, told.exception) == (0, None), told.stderr
    assert "All events that were there have been taken in. 750 rows in" in told.stdout
    assert "batch 0  " in told.stderr
    for file in rest:
        shutil.copy(file, folder)
    told = weft(*command)
    assert told.exit_code == 0, told.stderr
    assert "2,250 rows in" in told.stdout

    df, workload = spark.read.parquet(str(events)), library.Workload.from_file(queries)
    shown = weft("view", to, "--query", "high", "--limit", 2)
    assert [line.split()[0] for line in shown.stdout.splitlines()] == ["symbol", "S0000", "S0000"]
    plan = library.Plan.from_json((to / "_weft_plan.json").read_text())
    found = spark.read.parquet(str(to))
    newest = df.selectExpr("max(ts) - INTERVAL 1 MINUTE AS at").collect()[0].at.replace(microsecond=0)
    for id_, end in (("high", "end"), ("vwap/all day", "window.end")):
        alone = library.native(df, workload[id_]).where(f"{end} <= '{newest}'")
        assert check.difference(alone.schema, alone.toArrow(), library.view(found, plan, id_)) is None

    for more, message in (
        (("--emit", "changed"), "--emit: the stream of this checkpoint was begun with --emit final"),
        (("--planner", "no_share"), "begun with another plan"),
        (("--output", "wide"), "was begun with --output long"),
        (("--to-format", "json"), "was begun with --to-format parquet"),
    ):
        told = weft(*command, *more)
        assert told.exit_code == 2
        assert message in told.stderr
    other = tmp_path / "other.sql"
    other.write_text("SELECT count(*) FROM trades [RANGE 1 MIN ON ts]")
    told = weft("run", other, *command[2:])
    assert told.exit_code == 2
    assert "--checkpoint: it was begun with other queries" in told.stderr
    (checkpoint / "_weft_stream.json").write_text('{"format": 9}')
    assert "has format 9, and this Weft reads format 1" in weft(*command).stderr
    assert spark.conf.get("spark.sql.shuffle.partitions") == "4", "the active session stays as it was"


@pytest.mark.spark
def test_a_registry_in_the_place_of_queries(
    weft: Weft, spark: Any, tmp_path: Path, arriving: tuple[Path, list[Path]]
) -> None:
    """The same command takes in what has been registered meanwhile."""
    folder, rest = arriving
    query, registry, to = tmp_path / "q.sql", tmp_path / "registry", tmp_path / "out"
    high = "-- name: high\nSELECT symbol, max(price) FROM trades GROUP BY symbol, window(ts, '4 minutes', '2 minutes')"
    query.write_text(high)
    weft("register", registry, query)
    more = ("--trigger", "available-now", "--watermark", "1 minute")
    command = ("run", registry, "--stream", "--from", folder, "--to", to, "--checkpoint", tmp_path / "c", *more)
    told = weft(*command)
    assert told.exit_code == 0, told.stderr
    query.write_text(high.replace("high", "low").replace("max", "min"))
    assert "waits for a restart: the stream does not keep min(price)" in weft("register", registry, query).stdout
    shutil.copy(rest[0], folder)
    told = weft(*command)
    assert told.exit_code == 0, told.stderr
    found = spark.read.parquet(str(to))
    assert {row.query for row in found.select("query").distinct().collect()} == {"high", "low"}
    assert {row.query for row in found.where("NOT complete").select("query").distinct().collect()} == {"low"}
    for wrong, message in (
        ((*command, "--rate", "5"), "--rate: a registry has its own"),
        ((*command, "--planner", "shared"), "--planner: a registry is planned as it was begun"),
        ((command[0], query, *command[2:]), "--checkpoint: it was begun with the registry"),
    ):
        told = weft(*wrong)
        assert told.exit_code == 2
        assert message in told.stderr


@pytest.mark.spark
def test_wide_rows_that_changed_as_json(
    weft: Weft, spark: Any, tmp_path: Path, arriving: tuple[Path, list[Path]]
) -> None:
    query = tmp_path / "q.sql"
    query.write_text(
        "-- name: top\nSELECT symbol, max(price) FROM trades GROUP BY symbol, window(ts, '4 minutes', '2 minutes')"
    )
    to = tmp_path / "out"
    more = ("--output", "wide", "--emit", "changed", "--empty", "--to-format", "json")
    told = weft(
        "run", query, "--stream", "--from", arriving[0], "--to", to, "--checkpoint", tmp_path / "c", *SAME, *more
    )
    assert told.exit_code == 0, told.stderr
    rows = [json.loads(line) for file in to.glob("*.json") for line in file.read_text().splitlines()]
    assert len(rows) > 4
    assert set(rows[0]) == {"symbol", "window_end", "empty", "top"}


@pytest.mark.spark
def test_what_is_wrong_with_a_stream_is_told_before_it_starts(
    weft: Weft, spark: Any, queries: Path, events: Path, tmp_path: Path
) -> None:
    out, checkpoint, full = tmp_path / "out", tmp_path / "checkpoint", tmp_path / "full"
    full.mkdir()
    (full / "notes.txt").write_text("hello")
    broker = ("--from-option", "kafka.bootstrap.servers=localhost:1")
    kafka = (*broker, "--from-option", "SUBSCRIBE=trades")
    columns = ("--schema", "ts timestamp, symbol string, price double, volume bigint")

    def told(source: object, to: object, *more: object, at: object = checkpoint) -> str:
        where = () if at is None else ("--checkpoint", at)
        result = weft("run", queries, "--stream", "--from", source, "--to", to, *where, *more)
        assert result.exit_code == 2, result.output
        assert len([line for line in result.stderr.splitlines() if line.startswith("weft:")]) == 1
        return result.stderr

    assert "--checkpoint: a stream that is stopped goes on from its checkpoint" in told(events, out, at=None)
    assert "holds something else" in told(events, out, at=full)
    assert "hold each other" in told(events, out, at=events / "c")
    assert "hold each other" in told(events, events / "out")
    assert "holds something, and the stream begins anew" in told(events, full)
    assert "there is no folder" in told(tmp_path / "gone", out)
    assert "there is no folder" in told(next(events.iterdir()), out)
    assert "--from-option: kafka needs kafka.bootstrap.servers" in told("kafka", out)
    assert "kafka needs subscribe or subscribePattern or assign" in told("kafka", out, *broker)
    assert "--schema: a record's value is text" in told("kafka", out, *kafka)
    assert "kafka has no files" in told("kafka", out, *kafka, *columns, "--format", "json")
    assert "the rate source has its own columns" in told("rate", out, *columns)
    assert "--to-option: kafka needs topic" in told(events, "kafka", "--to-option", "kafka.bootstrap.servers=x:1")
    assert "console has no files" in told(events, "console", "--to-format", "json")
    assert "'avro' is no format" in told(events, out, "--to-format", "avro")
    assert "there is no 'views' on a stream" in told(events, out, "--output", "views")
    assert "there is no 'complete' on a stream" in told(events, out, "--emit", "complete")
    assert "--check: it is for batches" in told(events, out, "--check", 1)
    assert "--mode: it is for batches" in told(events, out, "--mode", "overwrite")
    assert "--trigger" in told(events, out, "--trigger", "now")
    assert "--watermark" in told(events, out, "--watermark", "soon")
    assert "--late: '" in told(events, out, "--late", events / "late")
    assert "holds something already" in told(events, out, "--late", full)
    assert "no key=value" in told(events, out, "--from-option", "subscribe")
    assert "time: there is no column 'ts'. The stream has timestamp, value" in told("rate", out)
    assert "spark.jars.packages=org.apache.spark:spark-sql-kafka-0-10_2.13:" in told("kafka", out, *kafka, *columns)
    assert "is no list of columns" in told("kafka", out, *kafka, "--schema", "ts timestamps")
    result = weft("run", queries, "--from", events, "--to", out, "--trigger", "available-now")
    assert result.exit_code == 2
    assert "--trigger: it is for streams" in result.stderr
    assert not out.exists()
    assert not checkpoint.exists()


def test_ctrl_c_stops_it(tmp_path: Path) -> None:
    """A process of its own, so that there are signals, and a session of its own."""
    query = tmp_path / "q.sql"
    query.write_text("SELECT count(*) AS n FROM s [RANGE 2 SEC SLIDE 1 SEC ON timestamp]")
    command = [
        sys.executable,
        "-c",
        PROGRAM,
        "run",
        str(query),
        "--stream",
        "--from",
        "rate",
        "--to",
        str(tmp_path / "o"),
    ]
    command += ["--checkpoint", str(tmp_path / "c"), "--from-option", "rowsPerSecond=50", "--watermark", "0 seconds"]
    command += ["--conf", "spark.sql.shuffle.partitions=1", "--master", "local[1]", "--trigger", "1 second"]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert running.stderr is not None
    for line in running.stderr:
        if line.startswith("batch ") and "  rows 0  " not in line:
            break
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert running.returncode == 0, err
    assert "Stopped. The same command goes on from here." in out
    assert "Traceback" not in err
    assert (tmp_path / "c" / "commits" / "0").exists()


def test_the_table_shows_the_last_micro_batches() -> None:
    at = datetime(2025, 1, 2, 8, tzinfo=UTC)
    batch = MicroBatch("id", 7, at, 1.25, 50_000, 49_999, 1_234, 5, 1, at, 600, 72_000, 90_000, True)
    shown = io.StringIO()
    Console(file=shown, width=160).print(live.table([batch], 3, [100_000, 2_000]))
    text = shown.getvalue()
    for part in ("1,234", "50,000", "40,000", "72.0 kB", "3 queries", "100,000 rows in", "2,000 answers out", "Ctrl-C"):
        assert part in text
    assert batch.lag == 0
    assert batch.bytes_per_partial == 120


def test_what_no_shard_has_told_is_not_zero() -> None:
    """Where no query wants any event no shard is called, and what is retained is as it was, whatever that is."""
    progress = {
        "id": "id", "batchId": 7, "timestamp": "2025-01-02T08:00:00.000Z", "numInputRows": 3, "stateOperators": [],
        "durationMs": {"addBatch": 1, "triggerExecution": 2}, "eventTime": {},
        "observedMetrics": {"weft_1": dict.fromkeys(("answers", "events", "partials", "state_bytes")), "other": {}},
    }  # fmt: skip
    batch = library.micro_batch(progress)
    assert batch is not None
    assert (batch.answers, batch.events, batch.partials, batch.state_bytes) == (0, 0, None, None)
    assert batch.bytes_per_partial is None
    assert "partials -" in live.line(batch)
