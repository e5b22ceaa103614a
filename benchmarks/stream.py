"""The stream benchmark: a thousand queries against one, micro-batch by micro-batch.

10 M rows of 1,000 keys in time order, in files that a stream reads a few at a time; 1,000 queries, sum or max of a
double by key, slides of 1 to 10 min, ranges up to an hour, as in the batch benchmark. Each contender is a stream of its
own, run to the end with `availableNow` into Spark's `noop` sink, in turns; what counts is the median time of its
micro-batches with rows, less the first one, from planning to the commit of the state:

    tumbling   one native streaming tumbling aggregate by key at the finest slice (60 s), sum and max
    handed     the events to Python workers and nothing done with them: what any work of Python's costs before it begins
    weft       all 1,000 queries
    sliding    one native streaming sliding window of 60 slices (3,600 s every 60 s), sum and max

How much time of the events a micro-batch holds says how many windows it closes. `live` rows come 8,333 a second, so
that 2.5 M rows are five minutes; `catching up` is the batch benchmark's own stream, where they are half an hour, and
ten million answers go out. How many answers sampled queries gave is compared with Spark's own windows over the same
events; the answers themselves are in `tests/stream`.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow as pa
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


def events(spark: SparkSession, rows: int, keys: int, files: int, minutes: int) -> str:
    """The rows in time order over so many minutes, cut into files; generated once."""
    path = measure.CACHE / f"stream-{rows}-{keys}-{files}-{minutes}"
    if not (path / "_SUCCESS").exists():
        step = minutes * 60_000_000 // rows
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
    return df.withWatermark("ts", "1 minute").groupBy("key", window).agg(F.sum("x"), F.max("x"))


def handed(df: DataFrame) -> DataFrame:
    """Events as Weft's workers get them, counted."""

    def count(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield pa.RecordBatch.from_pydict({"n": pa.array([sum(batch.num_rows for batch in batches)])})

    start = F.unix_micros("ts") - F.pmod(F.unix_micros("ts"), F.lit(60_000_000))
    return df.select("key", start.alias("slice"), "x").mapInArrow(count, "n bigint")


def checked(spark: SparkSession, path: str, plan: weft.Plan, checkpoint: Path) -> int:
    """How many sampled queries have given as many answers as Spark has windows that end by the watermark."""
    state, df = weft.state(spark, checkpoint), spark.read.parquet(path)
    sample = plan.workload.ids[:: max(1, len(plan.workload) // 5)]
    for id_ in sample:
        due = weft.native(df, plan.workload[id_]).where(F.col("window.end") <= F.lit(state.watermark))
        assert state.queries[id_].answers == due.count(), id_
    return len(sample)


def main(rows: int = 10_000_000, runs: int = 3, cores: int = 2, say: Callable[[str], None] = print) -> dict[str, Any]:
    """Run it all and return the numbers."""
    spark = measure.session(cores)
    for name, value in SETTINGS.items():
        spark.conf.set(name, value)
    result: dict[str, Any] = {"rows": rows}

    def compare(
        title: str, queries: int, keys: int, minutes: int, files: int, total: int = rows, slow: bool = False
    ) -> None:
        """Sixteen files, so many a micro-batch."""
        path = events(spark, total, keys, 16, minutes)
        plan = weft.optimize(
            batch.workload(queries), weft.Stats(rate=total / minutes / 60, keys=keys, types={"x": "double"})
        )
        df = stream(spark, path, files)
        jobs = {
            "tumbling": native(df, 60, 60),
            "handed": handed(df),
            "weft": weft.apply(df, plan, watermark="1 minute"),
        }
        say(f"{title}: {total // 16 * files:,} rows a micro-batch, {keys:,} keys, {queries:,} queries")

        def timed(name: str, job: DataFrame) -> float:
            return median(times(job, name))

        samples = measure.side_by_side(
            {name: lambda n=name, j=job: timed(n, j) for name, job in jobs.items()}, runs, say
        )
        found: dict[str, Any] = {
            "samples": samples,
            "weft over tumbling": measure.ratio(samples, "weft", "tumbling"),
            "weft over handed": measure.ratio(samples, "weft", "handed"),
            "handed over tumbling": measure.ratio(samples, "handed", "tumbling"),
        }
        say(f"  weft / tumbling          {found['weft over tumbling']:.2f}")
        say(f"  handed / tumbling        {found['handed over tumbling']:.2f}")
        if slow:
            samples["sliding"] = [timed("sliding", native(df, 3_600, 60))]
            found["sliding over weft"] = samples["sliding"][0] / median(samples["weft"])
            say(f"  sliding / weft           {found['sliding over weft']:.1f}")
        found["peak worker bytes"] = max(measure.worker_peaks(), default=0)
        found["state bytes"] = state_bytes("weft")
        found["bytes per partial"] = weft.state(
            spark, measure.CACHE / "checkpoints" / "weft"
        ).retained.bytes_per_partial
        say(f"  peak of a Python worker  {found['peak worker bytes'] / 2**20:,.0f} MiB")
        say(f"  checkpoint               {found['state bytes'] / 2**20:,.1f} MiB")
        say(f"  retained                 {found['bytes per partial']:.1f} bytes a partial")
        right = checked(spark, path, plan, measure.CACHE / "checkpoints" / "weft")
        say(f"  {right} sampled queries gave as many answers as Spark's windows")
        result[title] = found

    compare("live", 1_000, 1_000, 20, 4, slow=True)
    compare("live, smaller micro-batches", 1_000, 1_000, 4, 4, rows // 5)
    compare("catching up", 1_000, 1_000, 120, 4)
    compare("many keys", 100, 100_000, 20, 4)
    compare("small micro-batches", 1_000, 1_000, 2, 1, 80_000)
    kept = measure.save("stream", result, rows == 10_000_000 and runs >= 3)
    say(f"kept in {kept.relative_to(measure.ROOT)}")
    return result


def state_bytes(name: str) -> int:
    """What a stream's checkpoint keeps of its state, all versions that Spark holds on to together."""
    folder = measure.CACHE / "checkpoints" / name / "state"
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
