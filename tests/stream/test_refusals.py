"""What cannot be done on a stream is said before it starts."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import functions as F

import weft
from tests.stream.streaming import session

pytestmark = pytest.mark.spark
WINDOW = weft.Window("10 s", "5 s")


@pytest.fixture(scope="module")
def own(spark: Any) -> Any:
    return session(spark)


@pytest.fixture(scope="module")
def rate(own: Any) -> Any:
    df = own.readStream.format("rate").load()
    return df.withColumn("later", F.col("timestamp")).withColumn("pair", F.struct("value", "timestamp"))


@pytest.mark.parametrize(
    ("told", "options", "field", "message"),
    [
        ({"time": None}, {}, "time", "nobody says which column is the time"),
        ({"time": None}, {"time": "value"}, "time", "'value' is bigint, no timestamp"),
        ({"window": weft.Window.rows(10, 5)}, {}, "window", "on a stream an earlier row may still come"),
        ({"group_by": "pair"}, {}, "group_by", "a stream's keys are single values"),
        ({}, {"watermark": "soon"}, "watermark", "soon"),
        ({}, {"future": "1 month"}, "future", "month"),
    ],
)
def test_queries_that_a_stream_cannot_answer(rate: Any, told: Any, options: Any, field: str, message: str) -> None:
    query = weft.Query(**{"id": "q", "measures": "count(*) AS n", "window": WINDOW, "time": "timestamp", **told})
    plan = weft.optimize(weft.Workload([query]))
    with pytest.raises(weft.BadRequest) as refused:
        weft.apply(rate, plan, **options)
    assert refused.value.field == field
    assert message in str(refused.value)


def test_two_times(rate: Any) -> None:
    queries = [weft.Query(time, "count(*) AS n", WINDOW, time=time) for time in ("timestamp", "later")]
    with pytest.raises(weft.BadRequest, match="a stream has one watermark"):
        weft.apply(rate, weft.optimize(weft.Workload(queries)))


def test_two_watermarks_and_another_state_store(spark: Any, own: Any, rate: Any) -> None:
    plan = weft.optimize(weft.Workload([weft.Query("q", "count(*) AS n", WINDOW, time="timestamp")]))
    watched = rate.withWatermark("timestamp", "1 minute")
    assert weft.apply(watched, plan).isStreaming
    with pytest.raises(weft.BadRequest, match="the stream has a watermark already"):
        weft.apply(watched, plan, watermark="2 minutes")
    with pytest.raises(weft.BadRequest) as refused:
        weft.apply(spark.newSession().readStream.format("rate").load(), plan)
    assert refused.value.field == "spark.sql.streaming.stateStore.providerClass"
    assert "RocksDBStateStoreProvider" in str(refused.value.remedy)
