"""Weft from Python: plan some queries, run them as one, look at one of them, and compare it with Spark's own window().

Run: python examples/quickstart.py
"""

import os
import sys
from datetime import datetime, timedelta

from pyspark.sql import SparkSession

import weft

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
spark = SparkSession.builder.master("local[2]").config("spark.sql.shuffle.partitions", "4").getOrCreate()

begin = datetime(2025, 1, 2, 8)
rows = [
    (begin + timedelta(seconds=n), ("AAPL", "MSFT", "NVDA")[n % 3], 100.0 + n % 17, 10 + n % 90) for n in range(3600)
]
trades = spark.createDataFrame(rows, "ts timestamp, symbol string, price double, volume bigint")

workload = weft.Workload.from_sql("""
    -- name: high
    SELECT symbol, max(price) AS high, window.end FROM trades GROUP BY symbol, window(ts, '10 minutes', '2 minutes');

    -- name: vwap
    SELECT sum(price * volume) / sum(volume) AS vwap FROM trades [RANGE 5 MIN SLIDE 2 MIN ON ts] GROUP BY symbol;

    -- name: busy
    SELECT count(*) AS trades FROM trades [RANGE 90 S SLIDE 1 MIN ON ts] GROUP BY symbol HAVING count(*) > 20;
""")
plan = weft.optimize(workload, weft.Stats(rate=1, keys=3, types={"price": "double", "volume": "bigint"}))
print(plan.explain())

results = weft.apply(trades, plan).cache()
high = weft.view(results, plan, "high")
high.orderBy("end", "symbol").show(6)

for query in workload:
    ours = weft.view(results, plan, query.id)
    spark_alone = weft.native(trades, query)
    print(f"{query.id}: {ours.count()} rows, {spark_alone.count()} by Spark's own window()")
    if query.id != "vwap":  # floats are summed in another order, so only nearly equal
        assert not ours.exceptAll(spark_alone).count()
spark.stop()
