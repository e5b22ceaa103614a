"""A job whose Python worker dies once, in the middle of a batch of rows, by itself: see test_lost_worker.

    python -m tests.differential.dying events|answers MARKER

`events` dies where the events come from, `answers` in Weft's own worker, with answers on their way. MARKER is a file
that says that somebody has died.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pyarrow as pa

import weft
from tests.session import started

Batches = Iterable[pa.RecordBatch]


def dying(marker: str, work: Callable[[Batches], Iterator[pa.RecordBatch]]) -> Callable[[Batches], Iterator[Any]]:
    """The work of a worker that dies after its first batch, if nobody has died before."""

    def once(batches: Batches) -> Iterator[Any]:
        for batch in work(batches):
            yield batch
            try:
                os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                continue
            os._exit(1)

    return once


def main(where: str, marker: str) -> None:
    """Run it, and compare with Spark's own answers."""
    session = started("local[2,4]")
    session.sparkContext.setLogLevel("OFF")
    count = 200
    events = session.createDataFrame(
        pa.table(
            {
                "ts": pa.array([n * 1_000_000 for n in range(count)], pa.timestamp("us", "UTC")),
                "k": pa.array(["abc"[n % 3] for n in range(count)]),
                "x": pa.array(range(count)),
            }
        )
    )
    query = weft.Query("q", ["sum(x) AS s", "max(x) AS m"], weft.Window("20 s", "3 s"), group_by="k", time="ts")
    plan = weft.optimize(weft.Workload([query]))
    shaky = events
    if where == "events":
        shaky = events.mapInArrow(dying(marker, iter), events.schema)
    else:
        runtime: Any = importlib.import_module("weft.spark.apply")  # weft.spark.apply itself is the function
        answering = runtime.answering
        runtime.answering = lambda job: dying(marker, answering(job))
    mine = weft.view(weft.apply(shaky, plan), plan, "q").collect()
    assert os.path.exists(marker), "nobody died"
    assert sorted(mine) == sorted(weft.native(events, query).collect()), "other answers"
    print("same", len(mine))


if __name__ == "__main__":
    main(*sys.argv[1:])
