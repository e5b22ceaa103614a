"""apply, view and native over Spark Connect, against what Spark answers to the same SQL: see test_connect.

python -m tests.spark.connecting
"""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import functions as F

import weft
from tests.session import started
from tests.stream.streaming import ROCKSDB, Folder, answers, run
from weft.queries.workload import Workload

EVER = datetime(2020, 1, 1, tzinfo=UTC)

KEYED = """
    SELECT k, sum(x) AS s, avg(x) AS a, max(name) AS m FROM events WHERE x > 3
    GROUP BY k, window(ts, '10 seconds', '4 seconds') HAVING sum(x) > 10
"""
WHOLE = "SELECT window, count(*) AS n FROM events GROUP BY window(ts, '10 seconds', '4 seconds')"


def main() -> None:
    """Run it."""
    session = started(remote=True)
    count = 100
    columns = {
        "ts": pa.array([n * 1_000_000 for n in range(count)], pa.timestamp("us", "UTC")),
        "k": pa.array([n % 3 for n in range(count)]),
        "x": pa.array(range(count)),
        "name": pa.array([f"n{n % 4}" for n in range(count)]),
    }
    events = session.createDataFrame(pa.table(columns))
    events.createOrReplaceTempView("events")
    plan = weft.optimize(weft.Workload.from_sql(f"{KEYED}; {WHOLE}"))
    results = weft.apply(events, plan)
    assert type(results).__module__.startswith("pyspark.sql.connect"), type(results)
    for id_, text in (("q1", KEYED), ("q2", WHOLE)):
        says = sorted(map(str, session.sql(text).collect()))
        assert len(says) > 20
        assert sorted(map(str, weft.view(results, plan, id_).collect())) == says
        assert sorted(map(str, weft.native(events, plan.workload[id_]).collect())) == says
    with pytest.raises(weft.BadRequest, match="needs a number"):
        weft.apply(events.select("ts", F.col("name").alias("x"), "k", "name"), plan)
    with tempfile.TemporaryDirectory() as at:
        a_stream(session, events, plan, Path(at))
    print("same")


def a_stream(session: Any, events: Any, plan: weft.Plan, at: Path) -> None:
    """The same plan over the same events as files, one a micro-batch, by way of the server."""
    session.conf.set("spark.sql.streaming.stateStore.providerClass", ROCKSDB)
    session.conf.set("spark.sql.shuffle.partitions", "2")
    folder, table = Folder(at / "in"), events.toArrow()
    for begin in range(0, table.num_rows, 50):
        folder.put(table.slice(begin, 50))
    folder.put(pa.table({name: [EVER if name == "ts" else None] for name in table.column_names}, table.schema))
    streaming = Workload([query for query in plan.workload if query.having is None])
    plan = weft.optimize(streaming)
    results = weft.apply(folder.stream(session, events.schema), plan)
    assert type(results).__module__.startswith("pyspark.sql.connect"), type(results)
    run(results, at)
    came = answers(results, at)
    for query in streaming:
        expected = sorted(map(str, weft.native(events, query).collect()))
        assert sorted(map(str, weft.view(came, plan, query.id).collect())) == expected


if __name__ == "__main__":
    main()
