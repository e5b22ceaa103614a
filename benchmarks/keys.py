"""The keys benchmark: two dozen queries with eight different GROUP BYs.

2 M rows over four hours, of 300 symbols, 8 venues, 2 sides and 20 sectors; 24 queries, sums, maxima and averages,
ranges of 10, 30 and 60 minutes every minute or two. Timed side by side, writing to Spark's `noop` sink:

    across    trees may hold queries of several GROUP BYs (`Stats(keys={...})`)
    apart     a tree at least for each GROUP BY (`Stats(keys=300)`)
    native    the queries one after the other by Spark's own window(), once, their rows counted and added up

Every query's rows and their sum are compared with Spark's under both kinds of plan.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import measure
import weft

ROWS, HOURS = 2_000_000, 4
COUNTS = {"symbol": 300, "venue": 8, "side": 2, "sector": 20}
SETS = (("symbol",), ("venue",), ("side",), ("sector",), ("symbol", "side"), ("venue", "side"), ("venue", "sector"), ())
TYPES = {"price": "double", "volume": "int"}


def events(spark: SparkSession, rows: int) -> DataFrame:
    """The rows, generated once and kept as Parquet."""
    path = measure.CACHE / f"keys-{rows}"
    if not (path / "_SUCCESS").exists():
        step = HOURS * 3_600_000_000 // rows
        keys = (F.concat(F.lit(n), (F.rand(i) * c).cast("int")).alias(n) for i, (n, c) in enumerate(COUNTS.items()))
        at = F.timestamp_micros(F.lit(1_700_000_000_000_000) + F.col("id") * step).alias("ts")
        price, volume = (F.rand(7) * 100).alias("price"), (F.rand(8) * 1_000).cast("int").alias("volume")
        spark.range(0, rows, 1, 4).select(at, *keys, price, volume).write.mode("overwrite").parquet(str(path))
    return spark.read.parquet(str(path))


def workload() -> weft.Workload:
    """Three queries of each GROUP BY."""
    measures = ("sum(volume) AS a", "max(price) AS a", "avg(price) AS a")
    return weft.Workload(
        weft.Query(
            f"q{number}",
            measures[number % 3],
            weft.Window(f"{(10, 30, 60)[number // 8]} min", f"{1 + number % 2} min"),
            group_by=SETS[number % 8],
            time="ts",
        )
        for number in range(24)
    )


def summed(rows: DataFrame) -> tuple[int, float]:
    """How many answers there are, and their sum."""
    count, total = rows.agg(F.count("*"), F.sum("a")).collect()[0]
    return int(count), float(total)


def summed_by_query(results: DataFrame) -> dict[str, tuple[int, float]]:
    """The same of every query's answers; each has one, in the column of its type."""
    answer = F.coalesce("value_double", F.col("value_bigint").cast("double"))
    rows = results.groupBy("query").agg(F.count("*"), F.sum(answer)).collect()
    return {query: (int(count), float(total)) for query, count, total in rows}


def main(rows: int = ROWS, runs: int = 3, cores: int = 2, say: Callable[[str], None] = print) -> dict[str, Any]:
    """Run it all and return the numbers."""
    spark = measure.session(cores)
    df, asked, rate = events(spark, rows), workload(), rows / HOURS / 3_600
    plans = {
        "across": weft.optimize(asked, weft.Stats(rate, COUNTS, TYPES)),
        "apart": weft.optimize(asked, weft.Stats(rate, COUNTS["symbol"], TYPES)),
    }
    for name, plan in plans.items():
        say(f"{name}: {plan.passes} passes, {float(plan.cost):,.0f} operations/s")
    jobs = {name: lambda p=plan: measure.noop(weft.apply(df, p)) for name, plan in plans.items()}
    samples = measure.side_by_side(jobs, runs, say)
    begin = time.perf_counter()
    right = {query.id: summed(weft.native(df, query)) for query in asked}
    samples["native"] = [time.perf_counter() - begin]
    found = {
        "apart over across": measure.ratio(samples, "apart", "across"),
        "native over across": samples["native"][0] / median(samples["across"]),
    }
    for name, ratio in found.items():
        say(f"  {name:<20} {ratio:.2f}")
    for name, plan in plans.items():
        answers = summed_by_query(weft.apply(df, plan))
        for id_, (wanted, whole) in right.items():
            count, total = answers[id_]
            assert count == wanted, (name, id_, count, wanted)
            assert abs(total - whole) <= 1e-9 * abs(whole), (name, id_, total, whole)
    say(f"  {len(asked)} queries give Spark's rows and sums under both plans")
    result = {"rows": rows, "samples": samples, **found}
    say(f"kept in {measure.save('keys', result, rows == ROWS).relative_to(measure.ROOT)}")
    return result
