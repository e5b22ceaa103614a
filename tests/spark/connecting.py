"""apply, view and native over Spark Connect, against what Spark answers to the same SQL: see test_connect.

python -m tests.spark.connecting
"""

from __future__ import annotations

import pyarrow as pa
import pytest
from pyspark.sql import functions as F

import weft
from tests.session import started

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
    print("same")


if __name__ == "__main__":
    main()
