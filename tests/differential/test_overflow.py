"""Sums that do not fit: an error in ANSI mode, a wrapped integer or a null decimal without it, as in Spark."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException

import weft
from tests.differential.oracle import agree

pytestmark = pytest.mark.spark
SECOND = 1_000_000
LARGE, LEAST = Decimal("9" * 32), Decimal("-" + "9" * 32)
WINDOWS = {"within a slice": ("4 s", "4 s"), "across slices": ("4 s", "1 s"), "alone": ("1 s", "1 s")}
MEASURES = ("sum(l)", "sum(wide)", "avg(wide)", "sum(l) + 1", "max(i) + 2147483647", "sum(l * 2)", "avg(l)")


@pytest.fixture
def lenient(spark: Any) -> Any:
    session = spark.newSession()
    session.conf.set("spark.sql.ansi.enabled", "false")
    return session


def frame(session: Any) -> Any:
    times = [0, 1, 1, 1, 2, 9, 9, 12]
    wide = [Decimal(1), LARGE, LARGE, LARGE, None, LARGE, LEAST, None]
    large = [5, 2**62, 2**62, 1, None, 2**62, 2**62, -(2**62)]
    return session.createDataFrame(
        pa.table(
            {
                "ts": pa.array([time * SECOND for time in times], pa.timestamp("us", "UTC")),
                "wide": pa.array(wide, pa.decimal128(38, 6)),
                "l": pa.array(large, pa.int64()),
                "i": pa.array(range(8), pa.int32()),
            }
        )
    ).coalesce(1)


def planned(window: tuple[str, str], *measures: str) -> weft.Plan:
    queries = [weft.Query(measure, f"{measure} AS v", weft.Window(*window), time="ts") for measure in measures]
    return weft.optimize(weft.Workload(queries), weft.Stats(types={"l": "bigint", "wide": "decimal(38,6)"}))


def fails(df: Any) -> str | None:
    try:
        df.toArrow()
    except PySparkException as error:
        return str(error)
    return None


@pytest.mark.parametrize("window", WINDOWS.values(), ids=WINDOWS)
def test_without_ansi_mode(lenient: Any, window: tuple[str, str]) -> None:
    df = frame(lenient)
    plan = planned(window, *MEASURES)
    results = weft.apply(df, plan).cache()
    for measure in MEASURES:
        agree(results, plan, df, measure)
    results.unpersist()


@pytest.mark.parametrize("measure", MEASURES)
def test_in_ansi_mode(spark: Any, measure: str) -> None:
    df = frame(spark)
    plan = planned(("4 s", "1 s"), measure)
    here = fails(weft.view(weft.apply(df, plan), plan, measure))
    there = fails(weft.native(df, plan.workload[measure]))
    assert (here is None) == (there is None)
    assert here is None or "ARITHMETIC_OVERFLOW" in here


def test_the_message_names_the_query_and_a_remedy(spark: Any) -> None:
    said = fails(weft.apply(frame(spark), planned(("4 s", "1 s"), "sum(l)")))
    assert said is not None
    assert "query 'sum(l)': sum does not fit bigint [ARITHMETIC_OVERFLOW]. Cast its argument to a wider" in said
