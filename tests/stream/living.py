"""A stream in a process of its own, to be killed: `python -m tests.stream.living FOLDER`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import weft
from tests.session import started
from tests.stream.streaming import run, session


def plan() -> weft.Plan:
    """A few queries, of which the last answers depend on the ones before."""
    windows = {"short": ("20 s", "10 s"), "long": ("100 s", "20 s"), "tumbling": ("30 s", "30 s")}
    queries = [
        weft.Query(id_, ["sum(x) AS s", "max(x) AS m"], weft.Window(*window), group_by="k", time="ts")
        for id_, window in windows.items()
    ]
    return weft.optimize(weft.Workload([*queries, weft.Query("all", "count(*) AS n", weft.Window("10 s"), time="ts")]))


def go(own: Any, at: Path) -> None:
    """Run the stream over the files that are there."""
    schema = own.read.parquet(str(at / "in")).schema
    events = own.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(at / "in"))
    run(weft.apply(events, plan(), watermark="10 seconds", late=at / "aside"), at)


if __name__ == "__main__":
    go(session(started()), Path(sys.argv[1]))
