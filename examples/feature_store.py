"""Features for a store: counts over 1, 12 and 24 hours of each user, in one wide row, and only the rows that changed.

    python examples/feature_store.py

A stream of clicks comes in as files, here made up: two days, one file an hour. Every quarter of an hour each user's
three counts are worked out again, from slices that the three windows share, and a row goes out if one of them differs
from the row before. When a user's last click is more than a day old, a row with nothing but nulls says so, and Weft
forgets the user. Replace the `parquet` sink by `foreachBatch` to merge the rows into a table, or to push them to an
online store.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import weft

HOURS, FIRST = 48, 1_700_000_000 // 86_400 * 86_400


def workload() -> weft.Workload:
    """Three queries that differ in nothing but their range."""
    return weft.Workload(
        weft.Query(f"clicks_{hours}h", "count(*)", weft.Window(f"{hours} h", "15 min"), group_by="user", time="at")
        for hours in (1, 12, 24)
    )


def clicks(spark: SparkSession, folder: Path) -> DataFrame:
    """Clicks of a few users, some of whom sleep at night, as a stream of hourly files."""
    for hour in range(HOURS):
        seconds = spark.range(3_600).select((F.col("id") + FIRST + hour * 3_600).alias("second"))
        seconds = seconds.where(F.rand(hour) < 0.05)
        user = (F.rand(hour + 1_000) * (20 if 7 <= hour % 24 < 23 else 3)).cast("int")
        made = seconds.select(F.timestamp_seconds("second").alias("at"), F.concat(F.lit("user-"), user).alias("user"))
        made.coalesce(1).write.mode("append").parquet(str(folder))
    schema = spark.read.parquet(str(folder)).schema
    return spark.readStream.schema(schema).option("maxFilesPerTrigger", 6).parquet(str(folder))


def main() -> None:
    """Run the stream over all files, and show the features of one user."""
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
    plan = weft.optimize(workload(), weft.Stats(rate=0.05, keys=20))
    print(plan.explain())
    with tempfile.TemporaryDirectory() as folder:
        events = clicks(spark, Path(folder) / "clicks")
        features = weft.apply(events, plan, watermark="10 minutes", output="wide", emit="changed", empty=True)
        query = (
            features.writeStream.format("parquet")
            .options(path=f"{folder}/features", checkpointLocation=f"{folder}/checkpoint")
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        rows = spark.read.parquet(f"{folder}/features")
        print(f"{rows.count():,} changed rows of {rows.select('user').distinct().count()} users")
        rows.where("user = 'user-7'").orderBy("window_end").show(12)
    spark.stop()


if __name__ == "__main__":
    main()
