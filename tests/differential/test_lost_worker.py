"""A Python worker that dies in the middle of a job: Spark starts its task again, and no answer is lost or doubled."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.spark
SCRIPT = """
import os
import sys

import pyarrow as pa
from pyspark.sql import SparkSession

import weft

session = (
    SparkSession.builder.master("local[2,4]")
    .config("spark.ui.enabled", "false")
    .config("spark.ui.showConsoleProgress", "false")
    .config("spark.sql.shuffle.partitions", "3")
    .config("spark.sql.session.timeZone", "UTC")
    .getOrCreate()
)
session.sparkContext.setLogLevel("OFF")
marker = sys.argv[1]


def dies_once(batches):
    for batch in batches:
        yield batch
        try:
            os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            continue
        os._exit(1)


count = 200
rows = pa.table({
    "ts": pa.array([n * 1_000_000 for n in range(count)], pa.timestamp("us", "UTC")),
    "k": pa.array(["abc"[n % 3] for n in range(count)]),
    "x": pa.array(range(count)),
})
df = session.createDataFrame(rows)
query = weft.Query("q", ["sum(x) AS s", "max(x) AS m"], weft.Window("20 s", "3 s"), group_by="k", time="ts")
plan = weft.optimize(weft.Workload([query]))
shaky = df.mapInArrow(dies_once, df.schema)
mine = weft.view(weft.apply(shaky, plan), plan, "q").collect()
assert os.path.exists(marker), "nobody died"
theirs = weft.native(df, query).collect()
assert sorted(mine) == sorted(theirs), "other answers"
print("same", len(mine))
"""


def test_a_worker_that_dies_once(tmp_path: Path) -> None:
    script = tmp_path / "job.py"
    script.write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path / "died")],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PYSPARK_PYTHON": sys.executable},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.startswith("same ")
