"""One workload under every technique: the same rows as Spark's own window(), query by query."""

from __future__ import annotations

from typing import Any

import pytest

import weft
from tests.differential.oracle import agree
from weft.algebra.partials import partials
from weft.techniques import TECHNIQUES, why_not
from weft.techniques.technique import Technique

pytestmark = pytest.mark.spark
ROWS = """
    SELECT timestamp_seconds(1700000000 + pmod(id * 7919, 3600) + if(id % 50 = 0, 7200, 0)) AS ts,
           nullif(concat('k', id % 5), 'k4') AS key, CAST(pmod(id * 31, 101) - 50 AS INT) AS i,
           CAST(pmod(id * 17, 1000) AS DECIMAL(12,2)) / 4 AS price, id % 97 / 8.0D AS calm, id % 3 = 0 AS flag
    FROM range(600)
"""
TYPES = {"i": "int", "price": "decimal(15,6)", "calm": "double"}
QUERIES = [
    ("counted", ("count(*) AS n", "sum(i) AS total", "avg(price) AS mean"), "10 min", "1 min", "key", None),
    ("summed", "sum(price) AS total", "25 min", "10 min", "key", "flag"),
    ("largest", "max(i) AS high", "10 min", "3 min", "key", None),
    ("smallest", ("min(i) AS low", "max(price) AS high"), "40 min", "7 min", (), None),
    ("spread", ("stddev_samp(calm) AS spread", "sum(calm) AS total"), "15 min", "5 min", "key", "i > 0"),
    ("sparse", ("count(i) AS n", "sum(i) AS total"), "1 min", "4 min", "key", None),
]


def workload(technique: Technique) -> weft.Workload:
    """The queries that the technique may serve."""
    every = [
        weft.Query(id_, measures, weft.Window(size, slide), where=where, group_by=keys, time="ts")
        for id_, measures, size, slide, keys, where in QUERIES
    ]

    def served(query: weft.Query) -> bool:
        needed = [partial for aggregate in query.aggregates for partial in partials(aggregate)]
        return why_not(technique, needed, TYPES) is None

    return weft.Workload(query for query in every if served(query))


@pytest.fixture(scope="module")
def rows(spark: Any) -> Any:
    return spark.sql(ROWS).cache()


@pytest.mark.parametrize("technique", [t for t in TECHNIQUES if t.name != "b_int_qnt"], ids=lambda t: t.name)
def test_every_technique_gives_the_same_rows(rows: Any, technique: Technique) -> None:
    asked = workload(technique)
    plan = weft.optimize(asked, weft.Stats(rate=10, keys=5, types=TYPES), technique=technique.name)
    assert {tree.technique for tree in plan.trees} == {technique.name}
    results = weft.apply(rows, plan).cache()
    for query in asked:
        agree(results, plan, rows, query.id)
    results.unpersist()


def test_every_query_is_served_by_some_technique_besides_the_general_ones() -> None:
    chosen = {query.id for technique in TECHNIQUES if technique.needs for query in workload(technique)}
    assert chosen == {"counted", "summed", "largest", "smallest", "sparse"}


def test_quantiles_are_not_asked_for_in_sql() -> None:
    with pytest.raises(weft.BadRequest, match="is not a quantile of values"):
        weft.optimize(workload(TECHNIQUES[1]), weft.Stats(types=TYPES), technique="b_int_qnt")
