"""Measuring: samples, medians, the workers' memory, and results on disk."""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from typing import Any

from pyspark.sql import DataFrame, SparkSession

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / ".cache" / "bench"
RESULTS = Path(__file__).resolve().parent / "results"


def session(cores: int) -> SparkSession:
    """A local session as a user would start it, quiet."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    return (
        SparkSession.builder.master(f"local[{cores}]")
        .appName("weft bench")
        .config("spark.driver.memory", "6g")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.log.level", "ERROR")
        .config("spark.sql.session.timeZone", "UTC")
        .getOrCreate()
    )


def noop(df: DataFrame) -> float:
    """Seconds to compute every row of a DataFrame and write it nowhere."""
    begin = time.perf_counter()
    df.write.format("noop").mode("overwrite").save()
    return time.perf_counter() - begin


def side_by_side(
    jobs: Mapping[str, Callable[[], float]], runs: int, say: Callable[[str], None], warm: bool = False
) -> dict[str, list[float]]:
    """Samples of each job, taken in turns, so that a slow minute slows all of them; a warm-up before, unless `warm`."""
    samples: dict[str, list[float]] = {name: [] for name in jobs}
    for turn in range(1 if warm else 0, runs + 1):
        for name, job in jobs.items():
            seconds = job()
            say(f"  {'warm-up' if turn == 0 else f'run {turn}'}  {name:<24} {seconds:8.2f} s")
            if turn:
                samples[name].append(seconds)
    return samples


def ratio(samples: Mapping[str, list[float]], name: str, to: str) -> float:
    """The median of one job's time over another's, turn by turn."""
    return median(mine / theirs for mine, theirs in zip(samples[name], samples[to], strict=True))


def worker_peaks() -> list[int]:
    """The peak memory, in bytes, of every Python worker of Spark alive on this machine (Linux only)."""
    peaks = []
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            command = (status.parent / "cmdline").read_bytes()
            found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text())
        except OSError:
            continue
        if b"pyspark.daemon" in command and found:
            peaks.append(int(found[1]) * 1024)
    return peaks


def save(name: str, result: dict[str, Any], whole: bool = True) -> Path:
    """Keep a result with what it takes to read it later; not beside the others where it is of another size."""
    folder = RESULTS if whole else CACHE / "results"
    folder.mkdir(parents=True, exist_ok=True)
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.strip()
    path = folder / f"{name}.json"
    path.write_text(
        json.dumps({"commit": commit, "machine": platform.processor() or platform.machine(), **result}, indent=1) + "\n"
    )
    return path
