"""Session: the Spark session that is active, or one of our own for as long as a verb runs.

Our own is quiet: what the JVM says goes to a file, from its first line on, and is shown to nobody unless the run fails.
It keeps an event log, from which the progress bar is drawn. A session that was there before is used as it is.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from weft.cli import console
from weft.cli.progress import step
from weft.cli.tasklog import TaskLog
from weft.errors import BadRequest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OLDEST_JAVA = 17
LOG = "spark.log"
_KEPT = 200_000
_GIB = 1 << 30
_INSTALL_JAVA = "Install a JDK, 17 or newer (Debian: openjdk-17-jre-headless), and point JAVA_HOME at it"
_said = ""


@dataclass(frozen=True)
class Session:
    """A Spark session, and the log of its tasks where it is our own."""

    spark: SparkSession
    tasks: TaskLog | None


@contextmanager
def session(
    master: str | None = None, conf: Mapping[str, str] | None = None, usual: Mapping[str, str] | None = None
) -> Iterator[Session]:
    """The active session, or a new local one that ends with the block. Errors are told once, in words.

    `conf` is what the user asks for, `usual` what the verb does where the user has not.
    """
    try:
        from weft.spark.binding import quietly
    except ImportError:
        raise BadRequest("PySpark is not installed", remedy="Run: pip install 'weft[spark]'") from None
    with quietly(), _running(master, conf or {}, usual or {}) as running:
        yield running


@contextmanager
def _running(master: str | None, conf: Mapping[str, str], usual: Mapping[str, str]) -> Iterator[Session]:
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        if master or conf:
            console.note("A Spark session is running already: --master and --conf do not change it.")
        yield Session(active, None)
        return
    check_java()
    scratch = Path(tempfile.mkdtemp(prefix="weft-spark-"))
    global _said
    try:
        spark = _started(SparkSession, scratch, master or "local[*]", {**usual, **conf})
        tasks = TaskLog(scratch / "events")
        try:
            with _interruptible():
                yield Session(spark, tasks)
        finally:
            tasks.close()
            spark.stop()
    finally:
        log = scratch / LOG
        _said = log.read_text(encoding="utf-8", errors="replace")[-_KEPT:] if log.exists() else ""
        shutil.rmtree(scratch, ignore_errors=True)


def last_words() -> str:
    """What the JVM of our own last session said, for the file that a failure leaves."""
    return _said


def _started(kind: type[SparkSession], scratch: Path, master: str, conf: Mapping[str, str]) -> SparkSession:
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    events = scratch / "events"
    events.mkdir()
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": f"{_memory() // (1 << 20)}m",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": events.as_uri(),
        "spark.eventLog.rolling.enabled": "false",
        "spark.eventLog.compress": "false",
        "spark.eventLog.buffer.kb": "1",
        **conf,
    }
    builder = kind.builder.master(master).appName("weft")
    for name, value in settings.items():
        builder = builder.config(name, value)
    with step("starting Spark"), _stderr_to(scratch / LOG):
        return builder.getOrCreate()


@contextmanager
def _stderr_to(log: Path) -> Iterator[None]:
    """A JVM that is started meanwhile inherits the file as its stderr, and keeps it. Only ours comes back."""
    sys.stderr.flush()
    ours = os.dup(2)
    with log.open("wb") as file:
        os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(ours, 2)
        os.close(ours)


@contextmanager
def _interruptible() -> Iterator[None]:
    """Ctrl-C ends the wait for a job, and stopping the session ends the job.

    PySpark's own handler talks to the JVM in the middle of another talk, and both log at length how that went.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(*_: object) -> None:
        logging.disable(logging.CRITICAL)
        raise KeyboardInterrupt

    before, level = signal.signal(signal.SIGINT, interrupt), logging.root.manager.disable
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        logging.disable(level)


def _memory() -> int:
    """Half of the machine, from 1 to 8 GiB."""
    try:
        machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        machine = 4 * _GIB
    return min(max(machine // 2, _GIB), 8 * _GIB)


def check_java() -> None:
    """Refuse to go on where there is no Java that Spark runs on."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else "java"
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False).stderr
    except (OSError, subprocess.TimeoutExpired):
        where = f"under JAVA_HOME ({home})" if home else "on the PATH"
        raise BadRequest(f"Spark needs Java, and there is none {where}", remedy=_INSTALL_JAVA) from None
    version = java_version(said)
    if version is None or version < OLDEST_JAVA:
        shown = f"Java {version}" if version else "no Java that tells its version"
        raise BadRequest(f"Spark needs Java {OLDEST_JAVA} or newer, and this is {shown} ({java})", remedy=_INSTALL_JAVA)


def java_version(said: str) -> int | None:
    """The major version in what `java -version` says.

    >>> java_version('openjdk version "17.0.15" 2025-04-15'), java_version('java version "1.8.0_401"')
    (17, 8)
    """
    match = re.search(r'version "(?:1\.)?(\d+)', said)
    return int(match[1]) if match else None
