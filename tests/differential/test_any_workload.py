"""Whatever the queries, the data and the plan: the views of the one shared run are what Spark gives query by query."""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import weft
from tests.differential.frames import Frame, frames
from tests.differential.oracle import agree
from tests.differential.workloads import Choice, choices, columns_read, workloads

pytestmark = pytest.mark.spark
EXAMPLES = 250 if os.environ.get("WEFT_PROFILE") == "deep" else 12


@st.composite
def cases(draw: st.DrawFn) -> tuple[weft.Workload, Frame, list[Choice]]:
    workload = draw(workloads())
    return workload, draw(frames(columns_read(workload))), draw(st.lists(choices, min_size=1, max_size=2, unique=True))


@pytest.fixture(scope="module")
def brisk(spark: Any) -> Any:
    """A session that interprets instead of compiling: with every query a new one, compiling is most of the time."""
    session = spark.newSession()
    session.conf.set("spark.sql.codegen.wholeStage", "false")
    session.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    session.conf.set("spark.sql.shuffle.partitions", "2")
    # Spark skips cached rows by bounds that leave NaN out: `d > 0` over a cached table may lose NaN, its largest value
    session.conf.set("spark.sql.inMemoryColumnarStorage.partitionPruning", "false")
    return session


@settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
@given(case=cases())
def test_views_are_what_spark_gives(brisk: Any, case: tuple[weft.Workload, Frame, list[Choice]]) -> None:
    workload, frame, chosen = case
    df = frame.on(brisk).cache()
    refused = {query.id for query in workload if fails(weft.native(df, query))}
    for choice in chosen:
        plan = choice.plan(workload)
        results = weft.apply(df, plan).cache()
        if fails(results):
            assert refused, "no query overflows by itself"
            continue
        for query in workload:
            if query.id not in refused:
                agree(results, plan, df, query.id)
        results.unpersist()
    df.unpersist()


def fails(df: Any) -> bool:
    """Whether a sum or a calculation does not fit its type; nothing else may go wrong."""
    from pyspark.errors import PySparkException

    try:
        df.toArrow()
    except PySparkException as error:
        if "ARITHMETIC_OVERFLOW" in str(error) or "NUMERIC_VALUE_OUT_OF_RANGE" in str(error):
            return True
        raise
    return False
