"""Queries that come and go while a stream runs, and a stream that is started again with others.

    python examples/live_queries.py

A stream of trades comes in as files, here made up, ten minutes each. It follows a registry. Between two files somebody
registers two queries from elsewhere, as `weft register registry/ queries.sql` does. One is answered from what the
stream keeps anyway; the other one needs a maximum that nobody has asked for yet, is told so at once, and is answered
when the stream is started again. Look at `complete`: it is false as long as a window began before there was all that
its query reads.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import weft

FIRST = 1_700_000_000 // 86_400 * 86_400
VOLUME = """
-- name: volume
-- owner: desk
SELECT symbol, sum(volume) AS volume FROM trades GROUP BY symbol, window(ts, '5 minutes', '1 minute')
"""
LATER = """
-- name: volume_10
SELECT symbol, sum(volume) AS volume, count(*) AS trades FROM trades
GROUP BY symbol, window(ts, '10 minutes', '2 minutes');
-- name: largest
SELECT symbol, window.end, max(volume) AS largest FROM trades GROUP BY symbol, window(ts, '5 minutes', '1 minute');
"""


def trades(spark: SparkSession, folder: Path, part: int) -> None:
    """Ten minutes of trades in three symbols, one a second."""
    made = spark.range(600).select(
        F.timestamp_seconds(F.col("id") + FIRST + part * 600).alias("ts"),
        F.concat(F.lit("S"), F.col("id") % 3).alias("symbol"),
        (F.rand(part) * 100).cast("bigint").alias("volume"),
    )
    made.coalesce(1).write.mode("append").parquet(str(folder))


def run(results: DataFrame, at: Path) -> None:
    """Take in all files that are new."""
    sink = results.writeStream.format("parquet").options(path=f"{at}/out", checkpointLocation=f"{at}/checkpoint")
    sink.trigger(availableNow=True).start().awaitTermination()


def main() -> None:
    """Register, run, register more, run, start again."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.log.level", "ERROR")
        .config(
            "spark.sql.streaming.stateStore.providerClass",
            "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
        )
        .getOrCreate()
    )
    with tempfile.TemporaryDirectory() as folder:
        at = Path(folder)
        registry = weft.Registry(at / "registry", weft.Stats(rate=1, keys=3))
        registry.add(VOLUME, reason="the first one")
        trades(spark, at / "trades", 0)
        schema = spark.read.parquet(f"{at}/trades").schema
        results = weft.apply(spark.readStream.schema(schema).parquet(f"{at}/trades"), registry, watermark="5 seconds")
        run(results, at)
        for line in registry.add(LATER, owner="research", reason="have a look"):
            print(line)
        trades(spark, at / "trades", 1)
        run(results, at)
        results = weft.apply(spark.readStream.schema(schema).parquet(f"{at}/trades"), registry, watermark="5 seconds")
        trades(spark, at / "trades", 2)
        run(results, at)
        answers = spark.read.parquet(f"{at}/out")
        answers.groupBy("query").agg(
            F.count_if("complete").alias("complete"),
            F.count_if(~F.col("complete")).alias("incomplete"),
            F.min("window_end").alias("first"),
            F.max("window_end").alias("last"),
        ).orderBy("query").show(truncate=False)
        weft.view(answers.where("complete AND symbol = 'S1'"), registry, "largest").orderBy("end").show(3)
    spark.stop()


if __name__ == "__main__":
    main()
