"""Whatever the queries, the data and the micro-batches: a stream gives what Spark gives over the same events."""

from __future__ import annotations

import os
import random
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

import weft
from tests.differential.frames import Frame, frames
from tests.differential.oracle import agree
from tests.differential.test_any_workload import fails
from tests.differential.workloads import Choice, choices, columns_read, workloads
from tests.stream.streaming import session, streamed

pytestmark = pytest.mark.spark
EXAMPLES = 150 if os.environ.get("WEFT_PROFILE") == "deep" else 4
LATER = 1_600_000_000_000_000
"""Frames begin around 1970, where a stream's watermark begins, too."""
PATIENCE = 10_000_000
FLUSH = LATER + 10**14


@st.composite
def cases(draw: st.DrawFn) -> tuple[weft.Workload, Frame, Choice, int, int, int]:
    workload = draw(workloads(10))
    timed = [query for query in workload if query.window.unit == "time"]
    assume(timed)
    workload = weft.Workload(timed)
    frame = draw(frames(columns_read(workload), 120))
    return workload, frame, draw(choices), draw(st.integers(1, 4)), draw(st.integers(0, 4)), draw(st.integers(0, 99))


@pytest.fixture(scope="module")
def brisk(spark: Any) -> Any:
    return session(spark)


# an example takes seconds, so a failing one is shown as it is
@settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck), phases=[Phase.generate])
@given(case=cases())
def test_a_stream_gives_what_spark_gives_at_once(
    brisk: Any, case: tuple[weft.Workload, Frame, Choice, int, int, int]
) -> None:
    workload, frame, choice, files, restart, seed = case
    time = "ntz" if "ntz" in frame.columns and any(str(q.time.path[0]) == "ntz" for q in workload if q.time) else "ts"
    frame = Frame({**frame.columns, time: [None if at is None else at + LATER for at in frame.columns[time]]})
    df = frame.on(brisk)
    assume(not any(fails(weft.native(df, query)) for query in workload))
    plan = choice.plan(workload)
    parts = arrivals(frame.table(), time, files, seed)
    with tempfile.TemporaryDirectory() as at:
        out = streamed(
            brisk, Path(at), plan, df.schema, [parts[:restart], [*parts[restart:], flush(frame, time)]],
            watermark="10 seconds",
        )  # fmt: skip
        for query in workload:
            agree(out, plan, df, query.id)


def arrivals(table: pa.Table, time: str, files: int, seed: int) -> list[pa.Table]:
    """The rows in as many files, in an order in which none is more than ten seconds behind."""
    rng = random.Random(seed)
    times = table[time].cast(pa.int64()).to_pylist()
    order = sorted(range(len(times)), key=lambda row: (times[row] or LATER) + rng.uniform(0, PATIENCE))
    cuts = sorted(rng.randint(0, len(order)) for _ in range(files - 1))
    return [table.take(order[a:b]) for a, b in zip([0, *cuts], [*cuts, len(order)], strict=True)]


def flush(frame: Frame, time: str) -> pa.Table:
    """One row long after all others, which lets every window of theirs close, and none of its own."""
    return Frame({name: [FLUSH if name == time else None] for name in frame.columns}).table()
