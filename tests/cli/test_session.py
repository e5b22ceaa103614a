"""The session of our own: Java is looked for first, tasks are counted, and a program leaves by its exit code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Weft
from weft.cli import answers, events, planning, session
from weft.cli.failures import line
from weft.cli.tasklog import TaskLog
from weft.errors import BadRequest

PROGRAM = "from weft.cli import main; main()"


def test_java_versions() -> None:
    assert session.java_version('openjdk version "21" 2023-09-19') == 21
    assert session.java_version('java version "1.8.0_401"') == 8
    assert session.java_version("command not found") is None


@pytest.mark.parametrize(
    ("script", "message"),
    [
        (None, "there is none under JAVA_HOME"),
        ("echo 'java version \"1.8.0_401\"' >&2", "this is Java 8"),
        ("exit 1", "no Java that tells its version"),
    ],
)
def test_without_a_good_java_nothing_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str | None, message: str
) -> None:
    if script is not None:
        java = tmp_path / "bin" / "java"
        java.parent.mkdir()
        java.write_text(f"#!/bin/sh\n{script}\n")
        java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(BadRequest, match=message):
        session.check_java()


def test_without_java_the_program_exits_with_2(queries: Path, events: Path, tmp_path: Path) -> None:
    told = subprocess.run(
        [sys.executable, "-c", PROGRAM, "run", str(queries), "--from", str(events), "--to", str(tmp_path / "out")],
        env={**os.environ, "JAVA_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert told.returncode == 2
    assert told.stderr.startswith("weft: Spark needs Java")
    assert len(told.stderr.splitlines()) == 1


def test_tasks_are_counted_as_the_log_grows(tmp_path: Path) -> None:
    log, tasks = tmp_path / "local-1.inprogress", TaskLog(tmp_path)
    tasks.read()
    stage = '{"Stage ID":%d,"Number of Tasks":%d}'
    begun = f'{{"Event":"SparkListenerJobStart","Stage Infos":[{stage % (0, 9)},{stage % (1, 4)}]}}\n'
    submitted = f'{{"Event":"SparkListenerStageSubmitted","Stage Info":{stage}}}\n'
    finished = '{"Event":"SparkListenerTaskEnd","Stage ID":1}\n'
    with log.open("w") as file:
        file.write(begun + submitted % (1, 4) + finished + finished[:30])
        file.flush()
        tasks.read()
        assert (tasks.finished, tasks.known) == (1, 4)
        file.write(finished[30:] + submitted % (2, 3) + '{"Event":"SparkListenerJobStart"\n')
        file.flush()
        tasks.read()
        assert (tasks.finished, tasks.known) == (2, 7)
        tasks.restart()
        assert (tasks.finished, tasks.known) == (0, 0)
        file.write(finished)
        file.flush()
        tasks.read()
        assert tasks.finished == 1
    tasks.close()


def test_names_of_folders_differ_on_any_file_system() -> None:
    ids = ("a", "A", "a-2", "..", "/", "_", "x" * 300, "x" * 301, "ü", "a=b", "CON.parquet")
    names = answers.folders(ids)
    assert len({name.lower() for name in names.values()}) == len(ids)
    assert all(name[0].isalnum() and len(name) < 120 and "=" not in name for name in names.values())


def test_paths() -> None:
    assert events.is_local("file:///data/trades")
    assert events.is_local("file:/data")
    assert events.is_local("data/trades")
    assert not events.is_local("s3a://bucket/x")
    assert events.local("file:///data/trades") == Path("/data/trades")


def test_pairs_and_settings() -> None:
    assert planning.pairs("a=map<string,int>,b=decimal(10,2)", "--types") == {
        "a": "map<string,int>",
        "b": "decimal(10,2)",
    }
    assert planning.pairs(None, "--types") == {}
    assert planning.settings(["spark.a=b=c"]) == {"spark.a": "b=c"}


def test_the_line_that_matters() -> None:
    worker = (
        "Job aborted due to stage failure: Task 0 failed 1 times (TID 3): "
        "org.apache.spark.api.python.PythonException: Traceback (most recent call last):\n"
        '  File "answers.py", line 3, in answer\n'
        "OverflowError: [ARITHMETIC_OVERFLOW] sum of query q1\n\n"
        "\tat org.apache.spark.api.python.BasePythonRunner.x(PythonRunner.scala:1)\n"
        "Caused by: java.lang.Exception: never shown\n"
    )
    assert line(RuntimeError(worker)) == "[ARITHMETIC_OVERFLOW] sum of query q1"
    assert line(ValueError("")) == "ValueError"


def test_demo_refuses_nothing_to_do(weft: Weft) -> None:
    assert weft("demo", "--rows", 0).exit_code == 2
    assert weft("demo", "--seed", -1).exit_code == 2
