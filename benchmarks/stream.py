"""The stream benchmark: a thousand queries against one, micro-batch by micro-batch.

The batch benchmark's rows in time order, as files that a stream reads a few at a time: 10 M rows of 1,000 keys over two
hours, four micro-batches of 2.5 M rows. 1,000 queries, sum or max of a double by key. Each of these is a stream of its
own, run to the end with `availableNow` and Spark's `noop` sink, in turns; what counts is the median of the time that its
micro-batches took, those with rows, after the first:

    tumbling   one native streaming tumbling aggregate by key at the finest slice (60 s), sum and max
    weft       all 1,000 queries
    sliding    one native streaming sliding window of 60 slices (3,600 s every 60 s), sum and max

The same again with micro-batches of 500 k rows and of 5,000 rows, and with 100,000 keys and 100 queries.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from statistics import median
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import batch
import measure
import weft

ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
SETTINGS = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.streaming.stateStore.providerClass": ROCKSDB,
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
}
START = 1_700_000_000_000_000 // 60_000_000 * 60_000_000


def events(spark: SparkSession, rows: int, keys: int, files: int) -> str:
    """The rows in time order, cut into files; generated once."""
    path = measure.CACHE / f"stream-{rows}-{keys}-{files}"
    if not (path / "_SUCCESS").exists():
        step = batch.HOURS * 3_600_000_000 // 10_000_000
        (
            spark.range(0, rows, 1, files)
            .select(
                F.timestamp_micros(F.lit(START) + F.col("id") * step).alias("ts"),
                F.concat(F.lit("key-"), (F.rand(1) * keys).cast("int").cast("string")).alias("key"),
                (F.rand(2) * 100).alias("x"),
            )
            .write.mode("overwrite")
            .parquet(str(path))
        )
    return str(path)


def stream(spark: SparkSession, path: str, files: int) -> DataFrame:
    """The rows as a stream, so many files a micro-batch."""
    schema = spark.read.parquet(path).schema
    return spark.readStream.schema(schema).option("maxFilesPerTrigger", files).parquet(path)


def times(results: DataFrame, name: str) -> list[float]:
    """Seconds that each micro-batch with rows took, but the first, from beginning to end."""
    checkpoint = measure.CACHE / "checkpoints" / name
    shutil.rmtree(checkpoint, ignore_errors=True)
    query = (
        results.writeStream.format("noop")
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    took = [p["durationMs"]["triggerExecution"] / 1e3 for p in query.recentProgress if p["numInputRows"]]
    return took[1:]


def native(df: DataFrame, size: int, slide: int) -> DataFrame:
    """One query by Spark's own streaming window()."""
    window = F.window("ts", f"{size} seconds", f"{slide} seconds")
    return df.withWatermark("ts", "10 minutes").groupBy("key", window).agg(F.sum("x"), F.max("x"))


def main(rows: int = 10_000_000, runs: int = 3, cores: int = 2, say: Callable[[str], None] = print) -> dict[str, Any]:
    """Run it all and return the numbers."""
    spark = measure.session(cores)
    for name, value in SETTINGS.items():
        spark.conf.set(name, value)
    result: dict[str, Any] = {"rows": rows}

    def compare(title: str, queries: int, keys: int, total: int, files: int, each: int, others: bool) -> None:
        path = events(spark, total, keys, files)
        stats = weft.Stats(rate=10_000_000 / (batch.HOURS * 3600), keys=keys, types={"x": "double"})
        plan = weft.optimize(batch.workload(queries), stats)
        df = stream(spark, path, each)
        jobs = {"tumbling": native(df, 60, 60), "weft": weft.apply(df, plan)}
        if others:
            jobs["sliding"] = native(df, 3_600, 60)
        say(f"{title}: {total // files * each:,} rows a micro-batch, {keys:,} keys, {queries:,} queries")
        samples: dict[str, list[float]] = {name: [] for name in jobs}
        for turn in range(runs + 1):
            for name, job in jobs.items():
                if name == "sliding" and turn != 1:
                    continue
                took = times(job, name)
                say(
                    f"  {'warm-up' if turn == 0 else f'run {turn}'}  {name:<24} {median(took):8.2f} s   {[round(t, 2) for t in took]}"
                )
                if turn:
                    samples[name].append(median(took))
        result[title] = {"samples": samples, "weft over tumbling": measure.ratio(samples, "weft", "tumbling")}
        say(
            f"  weft / tumbling {result[title]['weft over tumbling']:.2f}, peak worker {max(measure.worker_peaks(), default=0) / 2**20:,.0f} MiB"
        )

    compare("large", 1_000, 1_000, rows, 16, 4, False)
    return result


if __name__ == "__main__":
    main(runs=2)
