"""The batch benchmark: a thousand queries against one.

10 M rows of 1,000 keys over two hours; 1,000 queries, sum or max of a double by key, slides of 60 to 600 s in whole
minutes, ranges from the slide up to 3,600 s. Timed side by side, writing to Spark's `noop` sink:

    tumbling   one native tumbling aggregate by key at the finest slice (60 s), sum and max
    weft       all 1,000 queries
    sliding    one native sliding window of 60 slices (3,600 s every 60 s), sum and max

and then Weft alone over 1, 10, 100, 1,000 and 10,000 queries. Sampled answers are compared with `weft.native`.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import measure
import weft

ROWS, KEYS, HOURS = 10_000_000, 1_000, 2
CURVE = (1, 10, 100, 1_000, 10_000)


def events(spark: SparkSession, rows: int) -> DataFrame:
    """The rows, generated once and kept as Parquet."""
    path = measure.CACHE / f"batch-{rows}"
    if not (path / "_SUCCESS").exists():
        step = HOURS * 3_600_000_000 // rows
        start = 1_700_000_000_000_000 // 60_000_000 * 60_000_000
        (
            spark.range(rows)
            .select(
                F.timestamp_micros(F.lit(start) + F.col("id") * step).alias("ts"),
                F.concat(F.lit("key-"), (F.rand(1) * KEYS).cast("int").cast("string")).alias("key"),
                (F.rand(2) * 100).alias("x"),
            )
            .repartition(8)
            .write.mode("overwrite")
            .parquet(str(path))
        )
    return spark.read.parquet(str(path))


def workload(count: int) -> weft.Workload:
    """Queries of different windows, every other one a sum; the first one asks for the finest slice."""
    rng = np.random.default_rng(7)
    slides = rng.integers(1, 11, count)
    slides[0] = 1
    ranges = [int(rng.integers(slide, 61)) for slide in slides]
    return weft.Workload(
        weft.Query(
            f"{'sum' if number % 2 else 'max'}_{number}",
            "sum(x)" if number % 2 else "max(x)",
            weft.Window.of(ranges[number] * 60_000_000, int(slides[number]) * 60_000_000),
            group_by="key",
            time="ts",
        )
        for number in range(count)
    )


def checked(df: DataFrame, results: DataFrame, plan: weft.Plan, sample: int) -> int:
    """How many sampled queries give the rows of Spark's own window(), over a few keys; raises where one does not."""
    few = [f"key-{number}" for number in (0, 17, 503)]
    rng = np.random.default_rng(11)
    mine, own = results.where(F.col("key").isin(few)).cache(), df.where(F.col("key").isin(few)).cache()
    positions = rng.choice(len(plan.workload), min(sample, len(plan.workload)), replace=False)
    for position in positions.tolist():
        query = plan.workload[position]
        left = sorted(map(tuple, weft.view(mine, plan, query.id).collect()))
        right = sorted(map(tuple, weft.native(own, query).collect()))
        same = len(left) == len(right) and all(
            a[:-1] == b[:-1] and abs(a[-1] - b[-1]) <= 1e-9 * abs(b[-1]) for a, b in zip(left, right, strict=True)
        )
        if not same:
            raise weft.RunFailed("the answers differ from Spark's own window()", query=query.id)
    mine.unpersist()
    own.unpersist()
    return len(positions)


def main(rows: int = ROWS, runs: int = 3, cores: int = 2, say: Callable[[str], None] = print) -> dict[str, Any]:
    """Run it all and return the numbers."""
    spark = measure.session(cores)
    df = events(spark, rows)
    stats = weft.Stats(rate=rows / (HOURS * 3600), keys=KEYS, types={"x": "double"})
    plan = weft.optimize(workload(1_000), stats)
    results = weft.apply(df, plan)

    def native(size: int, slide: int) -> DataFrame:
        window = F.window("ts", f"{size} seconds", f"{slide} seconds")
        return df.groupBy("key", window).agg(F.sum("x"), F.max("x"))

    say(f"{rows:,} rows, {KEYS:,} keys, local[{cores}], {runs} runs after a warm-up")
    samples = measure.side_by_side(
        {
            "tumbling": lambda: measure.noop(native(60, 60)),
            "weft": lambda: measure.noop(results),
        },
        runs,
        say,
    )
    peak = max(measure.worker_peaks(), default=0)
    samples |= measure.side_by_side({"sliding": lambda: measure.noop(native(3_600, 60))}, runs, say, warm=True)
    count = checked(df, results, plan, 20)
    answers = results.count()
    curve = {}
    for queries in CURVE:
        part = weft.apply(df, weft.optimize(workload(queries), stats))
        times = measure.side_by_side(
            {f"weft, {queries:,} queries": lambda part=part: measure.noop(part)}, runs, say, warm=True
        )
        curve[queries] = median(next(iter(times.values())))
    result = {
        "rows": rows,
        "answers": answers,
        "samples": samples,
        "weft over tumbling": measure.ratio(samples, "weft", "tumbling"),
        "sliding over weft": measure.ratio(samples, "sliding", "weft"),
        "peak worker bytes": peak,
        "seconds by queries": curve,
    }
    say("")
    say(f"answers                  {answers:,}; {count} of {count} sampled queries equal Spark's own window()")
    say(f"weft / tumbling          {result['weft over tumbling']:.2f}   (1,000 queries against one)")
    say(f"sliding / weft           {result['sliding over weft']:.1f}   (one query against 1,000)")
    say(f"peak of a Python worker  {peak / 2**20:,.0f} MiB")
    for queries, seconds in curve.items():
        say(f"{queries:>7,} queries          {seconds:6.2f} s   {seconds / queries * 1e3:10.3f} ms each")
    say(f"kept in {measure.save('batch', result, rows == ROWS and runs >= 3).relative_to(measure.ROOT)}")
    return result
