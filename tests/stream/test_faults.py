"""Faults: a killed driver, workers that die and swap shards, damaged files, a full disk, a state of another format.

Whatever it was, every answer is there once in the end, or the stream says why it cannot go on.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark import cloudpickle
from pyspark.errors import StreamingQueryException

import weft
from tests.cli.conftest import Weft
from tests.stream import living
from tests.stream.streaming import Folder, answers, session
from weft.cli.check import difference
from weft.spark.stream import pipeline
from weft.spark.stream.processor import Weaving
from weft.spark.stream.shards import labels

pytestmark = pytest.mark.spark
START = 1_600_000_000
FILES = 12
KILLS = 25 if os.environ.get("WEFT_PROFILE") == "deep" else 3


def table(begin: int, end: int, *late: int) -> pa.Table:
    """A row a second, its second for value, and some that come late."""
    seconds = [*range(begin, end), *late]
    return pa.table(
        {
            "ts": pa.array([(START + second) * 1_000_000 for second in seconds], pa.timestamp("us", "UTC")),
            "k": pa.array(["abcdefg"[second % 7] for second in seconds]),
            "x": pa.array(seconds, pa.int64()),
        }
    )


def filled(at: Path, files: int = FILES) -> Folder:
    folder = Folder(at / "in")
    for number in range(files):
        folder.put(table(number * 25, number * 25 + 25))
    folder.put(table(files * 25, files * 25 + 1, 3, 4, 5))
    return folder


def complete(own: Any, at: Path, files: int = FILES) -> None:
    """Every answer once, by Spark's own windows; and each late event aside once, by its queries."""
    plan, upto = living.plan(), START + files * 25 - 10
    schema = own.read.parquet(str(at / "in")).schema
    results = weft.apply(own.readStream.schema(schema).parquet(str(at / "in")), plan)
    found = answers(results, at).cache()
    events = own.read.parquet(str(at / "in")).where(f"unix_seconds(ts) > {START + 5} OR x = unix_seconds(ts) - {START}")
    events = events.dropDuplicates(["x"])  # the late ones came before as well
    for query in plan.workload:
        alone = weft.native(events, query)
        alone = alone.where(f"unix_seconds(window.end) <= {upto}")
        assert difference(alone.schema, alone.toArrow(), weft.view(found, plan, query.id)) is None, query.id
    kept = own.read.parquet(str(at / "aside" / "late"))
    missed = {row[0]: row[1] for row in kept.selectExpr("explode(queries) AS q", "events").groupBy("q").sum().collect()}
    state = weft.state(own, at / "checkpoint")
    assert missed == {id_: count.late for id_, count in state.queries.items()} == dict.fromkeys(plan.workload.ids, 3)
    told = {id_: count.answers for id_, count in state.queries.items()}
    assert told == {row["query"]: row["count"] for row in found.groupBy("query").count().collect()}


@pytest.fixture(scope="module")
def own(spark: Any) -> Any:
    return session(spark)


def test_a_driver_that_is_killed_at_any_moment(own: Any, tmp_path: Path) -> None:
    filled(tmp_path)
    offsets, draw = tmp_path / "checkpoint" / "offsets", random.Random(os.environ.get("WEFT_PROFILE"))
    for _ in range(KILLS):
        before = count(offsets)
        process = begun(tmp_path)
        while count(offsets) <= before and process.poll() is None:
            time.sleep(0.02)
        time.sleep(draw.uniform(0, 2))
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert begun(tmp_path).wait(300) == 0, (tmp_path / "log").read_text()[-3000:]
    complete(own, tmp_path)


def begun(at: Path) -> subprocess.Popen[bytes]:
    with (at / "log").open("ab") as log:
        command = [sys.executable, "-m", "tests.stream.living", str(at)]
        root = Path(__file__).parents[2]
        return subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True, cwd=root)


def count(folder: Path) -> int:
    return len([file for file in folder.iterdir() if file.name.isdigit()]) if folder.is_dir() else 0


class Restless(Weaving):
    """Notes which process serves which shard, and sometimes dies, before its work or after it."""

    notes: Path
    deaths = ((0, 2, "before"), (1, 3, "after"), (2, 5, "after"))
    """Which shard's process, at which call, and when."""

    def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[Any]:  # noqa: N802, N803
        notes = self.notes / str(key[0])
        with notes.open("a") as file:
            file.write(f"{os.getpid()}\n")
        calls, shard = len(notes.read_text().split()), labels(4).index(key[0])
        if (shard, calls, "before") in self.deaths:
            os.kill(os.getpid(), signal.SIGKILL)
        yield from super().handleInputRows(key, rows, timerValues)
        if (shard, calls, "after") in self.deaths:
            os.kill(os.getpid(), signal.SIGKILL)


def test_workers_that_die_and_serve_any_shard(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four shards, two tasks at a time: who serves a shard has others' memories, or its own of long ago, or none."""
    own, notes = session(spark, partitions=4), tmp_path / "notes"
    notes.mkdir()
    filled(tmp_path, 6)
    by_value(monkeypatch, type("Noting", (Restless,), {"notes": notes}))
    failures = 0
    while True:
        try:
            living.go(own, tmp_path)
            break
        except StreamingQueryException:
            failures += 1
            assert failures <= len(Restless.deaths)
    monkeypatch.undo()
    assert failures > 0
    served = [file.read_text().split() for file in notes.iterdir()]
    assert len(served) == 4
    assert any(a != b for shard in served for a, b in itertools.pairwise(shard)), "a shard went to another"
    complete(own, tmp_path, 6)


def by_value(monkeypatch: pytest.MonkeyPatch, kind: type[Weaving]) -> None:
    """Streams made from now on have this operator, which workers need not be able to import."""
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    monkeypatch.setattr(pipeline, "Weaving", kind)


class Older(Weaving):
    """Writes the state of an older Weft."""

    def init(self, handle: Any) -> None:
        super().init(handle)
        update = self._head.update
        self._head.update = lambda value: update((bytes(value[0]).replace(b'"format": 1', b'"format": 0'),))


def test_a_state_of_an_older_format_is_told(own: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = filled(tmp_path, 2)
    by_value(monkeypatch, Older)
    with pytest.raises(StreamingQueryException, match="its state has format 0, and this Weft reads format 1"):
        living.go(own, tmp_path)
    with pytest.raises(weft.RunFailed, match="format 0"):
        weft.state(own, tmp_path / "checkpoint")
    assert folder.path.exists()


QUERY = "-- name: q\nSELECT k, sum(x) AS s FROM t GROUP BY k, window(ts, '20 seconds', '10 seconds')"


def command(at: Path) -> tuple[object, ...]:
    (at / "q.sql").write_text(QUERY)
    started = (
        "run",
        at / "q.sql",
        "--stream",
        "--from",
        at / "in",
        "--to",
        at / "out",
        "--checkpoint",
        at / "disk" / "c",
    )
    return *started, "--trigger", "available-now", "--watermark", "10 seconds", "--rate", "1", "--keys", "7"


def same_as_batch(own: Any, at: Path, upto: int) -> None:
    query = weft.Workload.from_sql(QUERY)["q"]
    alone = weft.native(own.read.parquet(str(at / "in")), query).where(f"unix_seconds(window.end) <= {upto}")
    plan = weft.Plan.from_json((at / "out" / "_weft_plan.json").read_text())
    found = weft.view(own.read.parquet(str(at / "out")), plan, "q")
    assert difference(alone.schema, alone.toArrow(), found) is None


def test_damaged_files_are_told_with_the_way_back(weft_: Weft, own: Any, tmp_path: Path) -> None:
    folder, checkpoint = Folder(tmp_path / "in"), tmp_path / "disk" / "c"
    folder.put(table(0, 50))
    assert weft_(*command(tmp_path)).exit_code == 0
    folder.put(table(50, 100))
    assert weft_(*command(tmp_path)).exit_code == 0
    folder.put(table(100, 150))

    last = max(int(file.name) for file in (checkpoint / "commits").iterdir() if file.name.isdigit())
    states = {file: file.read_bytes() for file in checkpoint.glob(f"state/0/*/{last + 1}.*")}
    assert states
    for file in states:
        damage(file)
    told = weft_(*command(tmp_path))
    assert told.exit_code == 1
    assert f"weft: --checkpoint: the state after micro-batch {last} cannot be read. Start with a copy" in told.stderr
    assert "Traceback" not in told.output
    for file, data in states.items():
        file.write_bytes(data)
    told = weft_(*command(tmp_path))
    assert told.exit_code == 0, told.output
    same_as_batch(own, tmp_path, START + 139)

    commit = max(
        (file for file in (checkpoint / "commits").iterdir() if file.name.isdigit()), key=lambda f: int(f.name)
    )
    damage(commit)
    told = weft_(*command(tmp_path))
    assert told.exit_code == 1
    assert f"'commits/{commit.name}' is damaged. Remove {commit}: " in told.stderr
    commit.unlink()
    folder.put(table(150, 200))
    assert weft_(*command(tmp_path)).exit_code == 0
    same_as_batch(own, tmp_path, START + 189)
    damage(checkpoint / "offsets" / str(int(commit.name) + 2))
    assert "is damaged. Start with a copy of the checkpoint" in weft_(*command(tmp_path)).stderr


def damage(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    (file.parent / f".{file.name}.crc").unlink(missing_ok=True)


@pytest.fixture
def weft_(spark: Any) -> Weft:
    from click.testing import Result
    from typer.testing import CliRunner

    from weft.cli.app import app

    def call(*arguments: object) -> Result:
        return CliRunner().invoke(app, [str(argument) for argument in arguments])

    return call


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of two megabytes."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(disk)], capture_output=True)
    if mounted.returncode:
        pytest.skip("no small file system can be mounted here: that takes root")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)


def test_a_full_disk_fails_the_stream_and_no_answer(weft_: Weft, own: Any, small_disk: Path, tmp_path: Path) -> None:
    folder, ballast = Folder(tmp_path / "in"), small_disk / "ballast"
    folder.put(table(0, 50))
    assert weft_(*command(tmp_path)).exit_code == 0
    folder.put(table(50, 100))
    with ballast.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(4096))
    told = weft_(*command(tmp_path))
    assert told.exit_code == 1
    assert "No space left on device" in told.stderr
    assert "Traceback" not in told.output
    ballast.unlink()
    assert weft_(*command(tmp_path)).exit_code == 0
    same_as_batch(own, tmp_path, START + 89)
