"""What cannot run is refused before a job starts, with the query, the field and what to do about it."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import weft

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def df(spark: Any) -> Any:
    return spark.createDataFrame(
        pa.table(
            {
                "ts": pa.array([0], pa.timestamp("us", "UTC")),
                "local": pa.array([0], pa.timestamp("us")),
                "price": pa.array([1.5]),
                "name": pa.array(["a"]),
                "number": pa.array([1]),
                "many": pa.array([[1, 2]], pa.list_(pa.int64())),
                "pairs": pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64())),
            }
        ),
        "ts timestamp, local timestamp_ntz, price double, name string, number bigint, many array<bigint>, "
        "pairs map<string, bigint>",
    )


def refused(df: Any, query: weft.Query, **more: Any) -> weft.BadRequest:
    other = weft.Query("fine", "count(*) AS n", weft.Window("5 s"), time="ts")
    plan = weft.optimize(weft.Workload([other, query]), more.pop("stats", None))
    with pytest.raises(weft.BadRequest) as caught:
        weft.apply(df, plan, **more)
    return caught.value


WINDOW = weft.Window("10 s", "5 s")
CASES: dict[str, tuple[dict[str, Any], str, str, str]] = {
    "measure over a missing column": ({"measures": "sum(prize) AS s"}, "sum(prize)", "no column 'prize'", "'price'"),
    "filter on a missing column": ({"where": "volume > 1"}, "where", "no column 'volume'", "The stream has ts"),
    "key that is missing": ({"group_by": "nam"}, "group_by", "no column 'nam'", "Did you mean 'name'"),
    "time that is missing": ({"time": "tss"}, "time", "no column 'tss'", "Did you mean 'ts'"),
    "time that is a number": ({"time": "number"}, "time", "'number' is bigint, no timestamp", "Cast it before"),
    "time that is text": ({"time": "name"}, "time", "'name' is string, no timestamp", "Cast it before"),
    "sum over text": ({"measures": "sum(name) AS s"}, "sum(name)", "'name' is string", "CAST(name AS DOUBLE)"),
    "avg over a time": ({"measures": "avg(ts) AS s"}, "avg(ts)", "'ts' is timestamp", "CAST(ts AS DOUBLE)"),
    "spread over text": ({"measures": "stddev(name) AS s"}, "stddev_samp(name)", "'name' is string", "Cast it"),
    "filter that is no condition": ({"where": "price + 1"}, "where", "gives double, not a condition", "Compare"),
    "max over an array": (
        {"measures": "max(many) AS s"},
        "measures",
        "array<bigint>, which Weft does not",
        "Aggregate",
    ),
    "key that is a map": ({"group_by": "pairs"}, "group_by", "'pairs' is map<string,bigint>", "Group by a string"),
    "two clocks": ({"time": "local"}, "time", "types timestamp, timestamp_ntz", "Cast one of them"),
}


@pytest.mark.parametrize(("given", "field", "rule", "remedy"), CASES.values(), ids=CASES)
def test_refused(df: Any, given: dict[str, Any], field: str, rule: str, remedy: str) -> None:
    asked = {"measures": "count(*) AS n", "time": "ts", "window": WINDOW, **given}
    error = refused(df, weft.Query("odd", **asked))
    assert error.query == ("odd" if rule != "types timestamp, timestamp_ntz" else None)
    assert error.field == field
    assert rule in str(error)
    assert error.remedy is not None
    assert remedy in error.remedy


def test_what_spark_does_not_understand_names_the_query(df: Any) -> None:
    error = refused(df, weft.Query("odd", "max(many + 1) AS m", WINDOW, time="ts"))
    assert (error.query, error.field) == ("odd", "max((many + 1))")
    assert "\n" not in error.rule


def test_nobody_says_the_time(df: Any) -> None:
    plan = weft.optimize(weft.Workload([weft.Query("q", "count(*) AS n", WINDOW)]))
    with pytest.raises(weft.BadRequest) as caught:
        weft.apply(df, plan)
    assert (caught.value.query, caught.value.field) == ("q", "time")
    assert 'time="..."' in str(caught.value.remedy)
    with pytest.raises(weft.BadRequest) as native:
        weft.native(df, plan.workload["q"])
    assert native.value.field == "time"


def test_types_that_the_stream_does_not_have(df: Any) -> None:
    """A plan made for whole numbers would subtract sums of floats."""
    query = weft.Query("odd", "sum(price) AS s", WINDOW, time="ts")
    error = refused(df, query, stats=weft.Stats(types={"price": "bigint"}))
    assert (error.query, error.field) == ("odd", "stats.types")
    assert "sum(price) is over double" in str(error)


def test_a_plan_is_needed(df: Any) -> None:
    with pytest.raises(weft.BadRequest) as caught:
        weft.apply(df, weft.Workload([weft.Query("q", "count(*) AS n", WINDOW)]))  # type: ignore[arg-type]
    assert caught.value.field == "plan"


def test_views_of_something_else(df: Any) -> None:
    plan, other = (
        weft.optimize(weft.Workload([weft.Query("q", f"{function}(price) AS v", WINDOW, time="ts")]))
        for function in ("max", "min")
    )
    results = weft.apply(df, plan)
    with pytest.raises(weft.BadRequest) as foreign:
        weft.view(results, other, "q")
    assert foreign.value.field == "plan"
    with pytest.raises(weft.BadRequest) as stripped:
        weft.view(results.selectExpr("query || '' AS query", "window_start"), plan, "q")
    assert stripped.value.field == "results"
    with pytest.raises(weft.BadRequest) as unknown:
        weft.view(results, plan, "qq")
    assert unknown.value.remedy == "Did you mean 'q'"


def test_refusing_leaves_pysparks_own_errors_alone(df: Any) -> None:
    """Spark tells of an overflow in its own words after a refusal here."""
    from pyspark.errors import PySparkException

    refused(df, weft.Query("odd", "max(many + 1) AS m", WINDOW, time="ts"))
    with pytest.raises(PySparkException, match="DIVIDE_BY_ZERO"):
        df.sparkSession.sql("SELECT 1 / (id - id) FROM range(1)").collect()
