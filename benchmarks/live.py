"""The live benchmark: what it costs to change the query set of a stream that runs.

The stream benchmark's events, a file a micro-batch, and 1,000 queries, half of them over rows with `x > 50`. Two
streams over them, in turns, from end to end: one on a plan, one that follows a registry with the same queries. While
the latter runs, the sink adds a query over a new window, alters a threshold, and takes a query out, each between two
micro-batches; the next micro-batch takes that in. What counts is the time of a micro-batch, from planning to the commit
of the state:

    following / plan     the median micro-batch of a stream that follows a registry, over that of one on a plan
    taking in            the micro-batch that takes a change in, less the median of the others
    adding               weaving a query in and writing the version, for whoever registers it
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from statistics import median
from typing import Any

from pyspark.sql import DataFrame

import batch
import measure
import stream
import weft

ROWS, FILES = 8_000_000, 16
CHANGED_AFTER = (4, 7, 10)


def workload(queries: int) -> weft.Workload:
    """The batch benchmark's, where every other query wants large values only."""
    return weft.Workload(
        weft.Query(q.id, q.measures, q.window, "x > 50" if number % 2 else None, q.group_by, time="ts")
        for number, q in enumerate(batch.workload(queries))
    )


def seconds(results: DataFrame, name: str, after: Callable[[int], None]) -> list[float]:
    """How long each micro-batch with rows took; `after` is called when one has been answered."""
    checkpoint = measure.CACHE / "checkpoints" / name
    shutil.rmtree(checkpoint, ignore_errors=True)

    def answered(rows: DataFrame, number: int) -> None:
        rows.write.format("noop").mode("overwrite").save()
        after(number)

    query = (
        results.writeStream.foreachBatch(answered)
        .option("checkpointLocation", str(checkpoint))
        .trigger(processingTime="0 seconds")
        .start()
    )
    query.processAllAvailable()
    took = [p["durationMs"]["triggerExecution"] / 1e3 for p in query.recentProgress if p["numInputRows"] > 10]
    query.stop()
    return took


def change(registry: weft.Registry, asked: weft.Workload, number: int) -> None:
    """One of three."""
    match number:
        case 0:
            registry.add(weft.Query("new", "max(x)", weft.Window("30 min", "1 min"), group_by="key", time="ts"))
        case 1:
            registry.alter(weft.Query("sum_1", "sum(x)", asked["sum_1"].window, "x > 60", "key", time="ts"))
        case _:
            registry.remove("max_4")


def main(rows: int = ROWS, runs: int = 3, cores: int = 2, say: Callable[[str], None] = print) -> dict[str, Any]:
    """Run it all and return the numbers."""
    spark = measure.session(cores)
    for name, value in stream.SETTINGS.items():
        spark.conf.set(name, value)
    df = stream.stream(spark, stream.events(spark, rows, 1_000, FILES, 20), 1)
    asked, stats = workload(1_000), weft.Stats(rate=rows / 1_200, keys=1_000, types={"x": "double"})
    plan = weft.optimize(asked, stats)
    path = measure.CACHE / "registry"
    result: dict[str, Any] = {"rows": rows, "plan": [], "following": [], "taking in": [], "adding": []}
    say(f"{rows // FILES:,} rows a micro-batch, 1,000 keys, 1,000 queries")
    for turn in range(runs + 1):
        shutil.rmtree(path, ignore_errors=True)
        registry = weft.Registry(path, stats)
        registry.add(asked)
        spent: list[float] = []

        def after(number: int, registry: weft.Registry = registry, spent: list[float] = spent) -> None:
            if number in CHANGED_AFTER:
                begin = time.perf_counter()
                change(registry, asked, CHANGED_AFTER.index(number))
                spent.append(time.perf_counter() - begin)

        alone = seconds(weft.apply(df, plan, watermark="1 minute"), "plan", lambda _: None)
        took = seconds(weft.apply(df, registry, watermark="1 minute"), "following", after)
        took = [each - spent[CHANGED_AFTER.index(n)] if n in CHANGED_AFTER else each for n, each in enumerate(took)]
        # the first two warm up
        others = median(each for n, each in enumerate(took) if n > 1 and n - 1 not in CHANGED_AFTER)
        taken = [took[n + 1] - others for n in CHANGED_AFTER]
        say(
            f"  {f'run {turn}' if turn else 'warm-up'}  plan {median(alone[2:]):6.2f} s   following {others:6.2f} s   "
            f"taking in {', '.join(f'{each:+.2f}' for each in taken)} s   adding {max(spent):.2f} s"
        )
        if turn:
            result["plan"].append(median(alone[2:]))
            result["following"].append(others)
            result["taking in"].append(taken)
            result["adding"].append(spent)
    result["following over plan"] = measure.ratio(result, "following", "plan")
    result["most for taking in"] = max(each for taken in result["taking in"] for each in taken)
    say(f"  following / plan         {result['following over plan']:.2f}")
    say(f"  taking in, at most       {result['most for taking in']:+.2f} s")
    say(f"kept in {measure.save('live', result, rows >= ROWS).relative_to(measure.ROOT)}")
    return result
