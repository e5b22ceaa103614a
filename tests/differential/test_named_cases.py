"""Cases that have a name: empty and tiny inputs, skew, very many queries or filters, sessions of all sorts."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import weft
from tests.differential.oracle import agree

pytestmark = pytest.mark.spark
SECOND = 1_000_000
NEW_YORK = "America/New_York"


def stream(spark: Any, times: list[int | None], **columns: pa.Array) -> Any:
    """A stream with a time column of seconds."""
    micros = [None if time is None else time * SECOND for time in times]
    return spark.createDataFrame(pa.table({"ts": pa.array(micros, pa.timestamp("us", "UTC")), **columns}))


def checked(df: Any, queries: list[weft.Query], planner: str = "weave_share", **stats: Any) -> None:
    """Every query of the workload is what Spark gives."""
    plan = weft.optimize(weft.Workload(queries), weft.Stats(**stats), planner)
    results = weft.apply(df, plan).cache()
    for query in queries:
        agree(results, plan, df, query.id)
    results.unpersist()


def three(**more: Any) -> list[weft.Query]:
    """Queries that share a little."""
    return [
        weft.Query("sums", ["sum(x) AS s", "avg(x) AS a"], weft.Window("10 s", "4 s"), group_by="k", time="ts", **more),
        weft.Query("all", ["max(x) AS m", "count(*) AS n"], weft.Window("7 s", "7 s", "-1 s"), time="ts", **more),
        weft.Query("spread", "stddev_pop(x) AS d", weft.Window("3 s", "5 s"), where="x > 1", group_by="k", time="ts"),
    ]


TINY = {"empty": [], "one row": [3], "no time": [None], "before 1970": [-7, -7]}


@pytest.mark.parametrize("times", TINY.values(), ids=TINY)
def test_hardly_any_rows(spark: Any, times: list[int | None]) -> None:
    df = stream(spark, times, x=pa.array([2.0] * len(times), pa.float64()), k=pa.array(["a"] * len(times), pa.string()))
    checked(df, three(), rate=0.1)


@pytest.mark.parametrize("planner", ["no_share", "shared"])
def test_no_rows_under_other_plans(spark: Any, planner: str) -> None:
    df = stream(spark, [], x=pa.array([], pa.float64()), k=pa.array([], pa.string()))
    checked(df, three(), planner)


def test_an_empty_answer_has_its_types(spark: Any) -> None:
    df = stream(spark, [], x=pa.array([], pa.decimal128(10, 2)), k=pa.array([], pa.string()))
    plan = weft.optimize(weft.Workload([weft.Query("q", "avg(x) AS a", weft.Window("4 s"), group_by="k", time="ts")]))
    view = weft.view(weft.apply(df, plan), plan, "q")
    assert view.count() == 0
    assert [field.dataType.simpleString() for field in view.schema][1:] == ["string", "decimal(14,6)"]


def test_a_hot_key(spark: Any) -> None:
    """Nine rows in ten are of one key."""
    count = 1_000
    keys = pa.array(["hot" if number % 10 else f"k{number % 70}" for number in range(count)])
    df = stream(spark, [number * 13 % 400 for number in range(count)], k=keys, x=pa.array(np.arange(count) % 17))
    checked(df, three(), rate=10, keys=8, types={"x": "bigint"})


def test_an_outlier_that_has_left_is_gone(spark: Any) -> None:
    values = [1.0] * 40
    values[3], values[20], values[21] = 1e16, float("nan"), float("inf")
    df = stream(spark, list(range(40)), x=pa.array(values))
    queries = [
        weft.Query(f"{function}_{size}", f"{function}(x) AS v", weft.Window(f"{size} s", "1 s"), time="ts")
        for function, size in product(("sum", "avg", "var_pop", "stddev_samp", "min", "max"), (2, 5))
    ]
    checked(df, queries)


@pytest.mark.parametrize("feed", ["events", "slices"])
def test_two_hundred_filters(spark: Any, feed: str) -> None:
    """More than fit into one signature: thresholds of one shape, and conditions of other shapes."""
    count = 150
    df = stream(
        spark, [n * 7 % 50 for n in range(count)], x=pa.array(np.arange(count)), k=pa.array(["a", "b", None] * 50)
    )
    wheres = [f"x > {number}" for number in range(0, 150)] + [f"x + {number} < 90" for number in range(48)]
    wheres += ["k = 'a' AND 10 / (x - 3) > 1 AND x <> 3", "k IS NULL"]
    wheres[-2] = "x <> 3 AND 10 / (x - 3) > 1"
    queries = [
        weft.Query(f"q{n}", ["count(*) AS n", "sum(x) AS s"], weft.Window("20 s", "9 s"), where=where, time="ts")
        for n, where in enumerate(wheres)
    ]
    queries.append(weft.Query("every", "count(*) AS n", weft.Window("20 s", "9 s"), time="ts"))
    plan = replace(weft.optimize(weft.Workload(queries), planner="shared"), feed=feed)
    results = weft.apply(df, plan).cache()
    for name in ("q0", "q61", "q62", "q123", "q124", "q149", "q150", "q197", "q198", "q199", "every"):
        agree(results, plan, df, name)
    results.unpersist()


def test_a_division_that_a_filter_keeps_from_being_by_zero(spark: Any) -> None:
    """Other queries' rows must not reach a measure or a key that cannot take them."""
    df = stream(spark, list(range(12)), x=pa.array([0, 1, 2] * 4), y=pa.array([5.0] * 12))
    queries = [
        weft.Query("divides", "sum(6 / x) AS s", weft.Window("6 s", "2 s"), where="x <> 0", time="ts"),
        weft.Query("zeros", "count(*) AS n", weft.Window("6 s", "2 s"), where="x = 0", time="ts"),
        weft.Query("keyed", "count(*) AS n", weft.Window("6 s"), where="x <> 0", group_by="6 / x", time="ts"),
        weft.Query("also", "max(y) AS n", weft.Window("6 s"), where="x > 1", group_by="6 / x", time="ts"),
    ]
    checked(df, queries, "shared")


def test_ten_thousand_queries(spark: Any) -> None:
    """They finish, and twenty of them are right."""
    count = 10_000
    numbers = np.random.default_rng(3)
    slides = numbers.choice([1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30, 60], count)
    workload = weft.Workload.windows(
        slides * numbers.integers(1, 12, count) + numbers.integers(0, 2, count),
        slides,
        offsets=numbers.integers(-5, 6, count),
        measures=["sum(x) AS s", "count(*) AS n"],
        group_by="k",
        time="ts",
    )
    times = [int(time) for time in numbers.integers(0, 90, 30)]
    df = stream(spark, times, x=pa.array(np.arange(30)), k=pa.array(["a", "b", None] * 10))
    plan = weft.optimize(workload, weft.Stats(rate=1_000, keys=3, types={"x": "bigint"}))
    results = weft.apply(df, plan).cache()
    assert results.select("query").distinct().count() == count
    for position in range(0, count, count // 20):
        agree(results, plan, df, workload.id(position))
    results.unpersist()


def test_thresholds_in_having(spark: Any) -> None:
    df = stream(spark, list(range(40)), x=pa.array(np.arange(40) % 11), k=pa.array(["a", "b"] * 20))
    queries = [
        weft.Query(
            f"q{number}", ["sum(x) AS s", "max(k) AS k2"], weft.Window("8 s", "3 s"), group_by="k", time="ts",
            having=f"sum(x) > {number} AND k <> '{'ab'[number % 2]}'",
        )
        for number in range(0, 40, 4)
    ]  # fmt: skip
    queries.append(weft.Query("free", "sum(x) AS s", weft.Window("8 s", "3 s"), group_by="k", time="ts"))
    checked(df, queries)


def test_a_key_may_be_called_like_a_column_of_the_long_form(spark: Any) -> None:
    names = {"query": "a", "window_start": "b", "value_bigint": "c", "rank": "d", "slice": "e", "key_0": "f"}
    df = stream(spark, [1, 2, 9], **{name: pa.array([text, "z", None]) for name, text in names.items()})
    queries = [
        weft.Query(f"by_{name}", ["count(*) AS n", f"max({name}) AS top"], weft.Window("5 s"), group_by=name, time="ts")
        for name in names
    ]
    queries.append(weft.Query("by_all", "count(*) AS n", weft.Window("5 s", "2 s"), group_by=list(names), time="ts"))
    checked(df, queries)


@pytest.mark.parametrize(
    ("zone", "column"), [(NEW_YORK, "ts"), (NEW_YORK, "local"), (NEW_YORK, "day"), ("Asia/Kathmandu", "day")]
)
def test_time_zones_of_the_session(spark: Any, zone: str, column: str) -> None:
    """Around a change to summer time; a timestamp without a zone has none, a date begins at midnight of the zone."""
    start = 1_710_053_000  # 2024-03-10 06:43:20 UTC, shortly before the clocks go forward in New York
    times = [(start + 1_000 * number) * SECOND for number in range(15)]
    rows = {
        "ts": pa.array(times, pa.timestamp("us", "UTC")),
        "local": pa.array(times, pa.timestamp("us")),
        "day": pa.array([19_792 + number % 3 for number in range(15)], pa.date32()),
        "x": pa.array(range(15)),
    }
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", zone)
    df = session.createDataFrame(pa.table(rows), "ts timestamp, local timestamp_ntz, day date, x bigint")
    queries = [
        weft.Query("a", ["max(ts) AS t", "min(local) AS u", "sum(x) AS s"], weft.Window("2 h", "45 min"), time=column),
        weft.Query("b", "count(*) AS n", weft.Window("1 d", "1 d", "-5 h"), group_by="day", time=column),
        weft.Query("c", "count(*) AS n", weft.Window("1 d", "6 h", delay="90 min"), group_by="ts", time=column),
        weft.Query("d", "count(*) AS n", weft.Window("1 h", "3 h", delay="1 s"), time=column),
        weft.Query("e", "count(*) AS n", weft.Window("3 d", "7 h", delay="30 h"), time=column),
    ]
    checked(df, queries)


def test_fields_of_structs(spark: Any) -> None:
    df = stream(spark, [1, 2, 9], x=pa.array([1, 2, 3])).selectExpr(
        "named_struct('at', ts, 'price', x, 'symbol', CAST(x % 2 AS STRING)) AS trade"
    )
    queries = [
        weft.Query(
            "q", "sum(trade.price) AS s", weft.Window("5 s", "3 s"), "trade.price > 0", "trade.symbol", time="trade.at"
        ),
        weft.Query("r", "max(trade.price)", weft.Window("5 s"), time="trade.at"),
    ]
    checked(df, queries, types={"trade.price": "bigint"})


def test_names_in_another_case(spark: Any) -> None:
    df = stream(spark, [1, 2, 9], Price=pa.array([1, 2, 3]), K=pa.array(["a", "b", "a"]))
    checked(df, [weft.Query("q", "sum(PRICE) AS s", weft.Window("5 s"), "price > 1", "k", time="TS")])


def test_the_time_may_be_named_when_applied(spark: Any) -> None:
    df = stream(spark, [1, 2, 9], x=pa.array([1, 2, 3]))
    query = weft.Query("q", "sum(x) AS s", weft.Window("5 s"))
    plan = weft.optimize(weft.Workload([query]))
    agree(weft.apply(df, plan, time="ts"), plan, df, "q", time="ts")


def test_answers_saved_as_parquet(spark: Any, tmp_path: Path) -> None:
    df = stream(
        spark,
        list(range(20)),
        x=pa.array([Decimal(n) for n in range(20)], pa.decimal128(9, 1)),
        k=pa.array(["a", None] * 10),
    )
    queries = three(having="count(*) > 2")
    plan = weft.optimize(weft.Workload(queries))
    weft.apply(df, plan).write.parquet(str(tmp_path / "answers"))
    saved = spark.read.parquet(str(tmp_path / "answers"))
    for query in queries:
        agree(saved, plan, df, query.id)


def test_a_plan_that_went_through_json(spark: Any) -> None:
    df = stream(spark, list(range(20)), x=pa.array([n / 4 for n in range(20)]), k=pa.array(["a", None] * 10))
    queries = three()
    plan = weft.Plan.from_json(weft.optimize(weft.Workload(queries)).to_json())
    results = weft.apply(df, plan)
    for query in queries:
        agree(results, plan, df, query.id)
