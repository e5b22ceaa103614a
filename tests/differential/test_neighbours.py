"""Queries that share a run must not notice each other: keys, filters, time columns and names of columns."""

from __future__ import annotations

from typing import Any

import pytest

import weft
from tests.differential.oracle import agree

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def df(spark: Any) -> Any:
    from pyspark.sql import functions as F

    return spark.range(400).select(
        F.timestamp_micros(F.col("id") * 7_000_000).alias("ts"),
        F.timestamp_micros(F.col("id") * 3_000_000).alias("arrival"),
        (F.col("id") % 5).cast("int").alias("a"),
        (F.col("id") % 3).cast("int").alias("signature_0"),
        (F.col("id") * 1.5).alias("query"),
        F.lit("x").alias("query_number"),
    )


def _run(df: Any, *queries: weft.Query, time: str | None = None) -> None:
    workload = weft.Workload(queries)
    plan = weft.optimize(workload)
    results = weft.apply(df, plan, time=time).cache()
    for query in queries:
        agree(results, plan, df, query.id)
    results.unpersist()


def _query(id_: str, measures: str, **rest: Any) -> weft.Query:
    return weft.Query(id_, measures, weft.Window("5 min", "2 min"), **{"time": "ts", **rest})


def test_having_reads_its_own_keys_only(df: Any) -> None:
    _run(
        df,
        _query("by_sum", "count(*)", group_by="a + 1"),
        _query("by_a", "count(*)", group_by="a", having="a + 1 > 3"),
        _query("by_five", "count(*)", group_by="5"),
        _query("more_than_five", "count(*)", group_by="a", having="count(*) > 5"),
    )


def test_columns_may_be_called_like_ours(df: Any) -> None:
    _run(
        df,
        _query("none", "sum(signature_0)"),
        _query("some", ["sum(signature_0)", "max(query)"], where="signature_0 > 0"),
        _query("keyed", "count(*)", group_by=["query_number", "query"], where="a = 1", having="count(*) > 0"),
    )


def test_an_argument_meets_only_the_rows_of_its_queries(df: Any) -> None:
    _run(
        df,
        _query("safe", "sum(10 / a)", where="a <> 0"),
        _query("all", "sum(a)"),
        _query("other", "sum(a)", where="a < 3"),
    )


def test_the_time_of_a_call_must_be_that_of_the_queries(df: Any) -> None:
    named, unnamed = _query("named", "count(*)"), _query("unnamed", "count(*)", time=None)
    plan = weft.optimize(weft.Workload([unnamed, named]))
    with pytest.raises(weft.BadRequest, match="the queries name 'ts' and the call 'arrival'"):
        weft.apply(df, plan, time="arrival")
    results = weft.apply(df, plan)
    unnamed_rows = sorted(map(repr, weft.view(results, plan, "unnamed").collect()))
    assert unnamed_rows == sorted(map(repr, weft.native(df, unnamed, time="ts").collect()))


def test_more_filters_than_a_column_has_bits(df: Any) -> None:
    crowd = [_query(f"over_{n}", "count(*)", where=f"query > {n * 5}.5", group_by="a") for n in range(130)]
    odd = [_query("even", "count(*)", where="a = 2 OR a = 4"), _query("everything", "count(*)")]
    workload = weft.Workload([*crowd, *odd])
    plan = weft.optimize(workload)
    results = weft.apply(df, plan).cache()
    for id_ in ("over_0", "over_61", "over_62", "over_63", "over_110", "over_129", "even", "everything"):
        agree(results, plan, df, id_)
    results.unpersist()


def test_a_name_that_is_a_column_and_an_alias_is_refused(df: Any) -> None:
    text = "SELECT a AS arrival, count(*) AS n FROM trades GROUP BY arrival, window(ts, '1 hour')"
    plan = weft.optimize(weft.Workload.from_sql(text))
    assert weft.Plan.from_json(plan.to_json()).workload[0].assumed == ("arrival",)
    with pytest.raises(weft.BadRequest, match="'arrival' is a column of the stream and of the SELECT list"):
        weft.apply(df, plan)
    results = weft.apply(df.drop("arrival"), plan)
    agree(results, plan, df.drop("arrival"), "q1")


def test_keys_in_another_order_share_a_tree(df: Any) -> None:
    queries = [
        _query("one_way", "sum(query)", group_by=("a", "signature_0")),
        _query("other_way", "sum(query)", group_by=("signature_0", "a"), having="count(*) > 2 AND a > 1"),
    ]
    assert len(weft.optimize(weft.Workload(queries)).trees) == 1
    _run(df, *queries)
