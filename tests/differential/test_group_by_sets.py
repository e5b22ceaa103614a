"""Queries that group by different keys in one tree: rolled up, they are what Spark gives for each by itself."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import weft
from tests.differential.oracle import agree
from tests.stream.streaming import session, streamed

pytestmark = pytest.mark.spark
MEASURES = (
    "sum(x)", "max(x)", "avg(x)", "var_pop(x)", "sum(n)", "avg(n)", "sum(price)", "sum(wide)", "count(n)", "min(a)",
)  # fmt: skip
KEYS = ((), ("a",), ("b",), ("a", "b"), ("c",), ("b", "c"), ("lower(a)", "c"), ("a", "b"))
FILTERS = (None, "x > 50", "n > 3")


@pytest.fixture(scope="module")
def events(spark: Any) -> Any:
    from pyspark.sql import functions as F

    number = F.col("id")
    return (
        spark.range(600)
        .select(
            F.timestamp_micros(F.lit(1_700_000_000_000_000) + number * 700_000).alias("ts"),
            F.when(number % 11 != 0, F.element_at(F.array(*map(F.lit, "AaBc")), (number % 4 + 1).cast("int"))).alias(
                "a"
            ),
            (number % 5).cast("int").alias("b"),
            F.when(number % 13 != 0, number % 3 == 1).alias("c"),
            F.when(number % 17 == 0, F.lit(float("nan"))).otherwise(F.rand(1) * 100).alias("x"),
            F.when(number % 7 != 0, number % 13 * 10**16).alias("n"),
            (F.rand(3) * 1000).cast("decimal(10,2)").alias("price"),
            (number * 10**15).cast("decimal(38,4)").alias("wide"),
        )
        .cache()
    )


def workload() -> weft.Workload:
    return weft.Workload(
        [
            weft.Query(
                f"q{i}",
                {f"m{number}": text for number, text in enumerate(MEASURES)},
                weft.Window(f"{(i % 3 + 1) * 20} s", f"{(i % 2 + 1) * 10} s"),
                where=FILTERS[i % len(FILTERS)],
                group_by=keys,
                having="count(*) > 1" if i == 2 else None,
                time="ts",
            )
            for i, keys in enumerate(KEYS)
        ]
    )


@pytest.mark.parametrize("counts", [(3, 5, 3, 3), (1, 300, 1, 1)], ids=["alike", "one is fine"])
def test_rolled_up_answers_are_those_of_each_query(spark: Any, events: Any, counts: tuple[int, ...]) -> None:
    """Nulls are keys like any other, and no key at all is one group; NaN, long decimals and sums of bigint."""
    asked = workload()
    stats = weft.Stats(10, dict(zip(("a", "b", "c", "lower(a)"), counts, strict=True)))
    plan = weft.optimize(asked, stats, "shared")
    (tree,) = plan.trees
    assert plan.passes == 1
    depths = [0]
    for each in tree.sets[1:]:
        depths.append(depths[each.source or 0] + 1)
    assert max(depths) > 1, "some sets are rolled up from others that are"
    assert any(not each.operations for each in tree.sets), "nobody groups by all"
    results = weft.apply(events, plan).cache()
    for query in asked:
        agree(results, plan, events, query.id)
    sliced = replace(plan, feed="slices")  # where shared slices feed the trees, each set of keys has its own
    agree(weft.apply(events, sliced), sliced, events, "q3")


def test_the_example_of_the_paper(spark: Any) -> None:
    """The union of the group-by attributes, then rolled up: Guirguis et al., CIKM 2011, section 5.3."""
    rows = [("x", 1, 5), ("x", 2, 1), ("y", 1, 4), ("x", 1, 2), ("y", 2, 7), ("y", 1, 1)]
    df = spark.createDataFrame(rows, "a string, b int, v int").selectExpr("timestamp'2024-01-01' AS t", "*")
    asked = weft.Workload(
        [
            weft.Query(name, "sum(v) AS v", weft.Window("1 min", "1 min"), group_by=name.split(), time="t")
            for name in ("a b", "a", "b")
        ]
    )
    plan = weft.optimize(asked, weft.Stats(1, {"a": 2, "b": 2}), "shared")
    results = weft.apply(df, plan)

    def sums(name: str) -> list[Any]:
        rows = weft.view(results, plan, name).collect()
        return sorted((*(row[key] for key in name.split()), row.v) for row in rows)

    assert {name: sums(name) for name in asked.ids} == {
        "a b": [("x", 1, 7), ("x", 2, 1), ("y", 1, 5), ("y", 2, 7)],
        "a": [("x", 8), ("y", 12)],
        "b": [(1, 12), (2, 8)],
    }


def test_a_slice_that_overflows_spoils_what_is_rolled_up_from_it(spark: Any) -> None:
    """Without ANSI mode a sum of long decimals that does not fit is null, whatever is added to it."""
    session = spark.newSession()
    session.conf.set("spark.sql.ansi.enabled", "false")
    long = "CAST(9e37 AS DECIMAL(38,0))"
    df = session.sql(
        f"SELECT timestamp'2024-01-01' AS t, k, 'all' AS one, IF(k = 'small', CAST(1 AS DECIMAL(38,0)), {long}) AS d "
        "FROM VALUES ('large'), ('large'), ('small') AS rows(k)"
    )
    asked = weft.Workload(
        [
            weft.Query(name, {"s": "sum(d)", "n": "count(*)"}, weft.Window("1 min", "1 min"), group_by=name, time="t")
            for name in ("k", "one")
        ]
    )
    plan = weft.optimize(asked, weft.Stats(1, {"k": 2, "one": 1}), "shared")
    results = weft.apply(df, plan)
    for name in asked.ids:
        agree(results, plan, df, name)
    assert [row.s for row in weft.view(results, plan, "one").collect()] == [None]


def test_a_key_is_not_computed_of_rows_that_its_own_queries_filter_out(spark: Any, tmp_path: Path) -> None:
    """One query divides by what its filter keeps from being zero; the other wants all rows, but not that key."""
    df = spark.range(40).selectExpr(
        "timestamp_seconds(1700000000 + id) AS t", "id % 5 AS a", "id % 3 AS b", "IF(id % 4 > 0, id % 7, NULL) AS c"
    )
    asked = weft.Workload(
        [
            weft.Query(name, "count(*) AS n", weft.Window("20 s", "10 s"), where=where, group_by=key, time="t")
            for name, key, where in (("tenth", "10 / a > c", "a <> 0"), ("plain", "b", None), ("some", "b", "c > 2"))
        ]
    )
    plan = weft.optimize(asked, weft.Stats(1, {"10 / a > c": 2, "b": 3}), "shared")
    assert plan.passes == 1
    last = df.limit(1).selectExpr("t + INTERVAL 1 DAY AS t", "NULL AS a", "NULL AS b", "NULL AS c").toArrow()
    rows = df.toArrow()
    streams = streamed(
        session(spark), tmp_path, plan, df.schema, [[rows, last.cast(rows.schema)]], watermark="1 second"
    )
    for results in (weft.apply(df, plan), streams):
        for name in asked.ids:
            agree(results, plan, df, name)
