"""What Spark answers to the very same text: rows, names and types."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

import weft
from tests.differential.oracle import agree, exact_columns, same_rows

pytestmark = pytest.mark.spark
HOUR = 3_600_000_000

STATEMENTS = {
    "the issue": "SELECT symbol, avg(volume) AS v FROM trades WHERE price > 100 "
    "GROUP BY symbol, window(ts, '24 hours', '1 hour', '5 minutes')",
    "window first": "SELECT window, symbol, count(*) AS n FROM trades "
    "GROUP BY window(ts, '3 hours', '2 hours'), symbol",
    "window ends": "SELECT window.end AS until, window.start, max(price) - min(price) AS spread FROM trades "
    "GROUP BY window(ts, '5 hours', '3 hours')",
    "no names": "SELECT symbol, sum(price * volume), count(*), min(ts) FROM trades "
    "GROUP BY symbol, window(ts, '6 hours')",
    "having": "SELECT symbol, sum(volume) AS total FROM trades GROUP BY symbol, window(ts, '4 hours', '90 minutes') "
    "HAVING sum(volume) > 300 AND count(*) BETWEEN 2 AND 9",
    "having an alias": "SELECT symbol AS s, max(price) AS high FROM trades "
    "GROUP BY symbol, window(ts, '4 hours', '1 hour') HAVING high >= 101.5",
    "having another": "SELECT max(price) AS high FROM trades GROUP BY symbol, window(ts, '7 hours', '2 hours') "
    "HAVING symbol LIKE 'a/%' ESCAPE '/' OR avg(price) / 3 > 33.41666667",
    "keys as they are": "SELECT lower(symbol), volume % 2 AS odd, count(price) FROM trades "
    "GROUP BY lower(symbol), volume % 2, window(ts, '12 hours', '5 hours', '-1 hour')",
    "decimals by whole numbers": "SELECT sum(price * 2) AS a, sum(price) * 2L AS b, avg(price) / 3 AS c, "
    "max(price % 7S) AS d, min(price + 1Y) AS e, sum(price * -2) AS f FROM trades GROUP BY window(ts, '2 hours')",
    "decimals by decimals": "SELECT sum(price / 3.0) AS a, avg(price * 1.50BD) AS b, max(price) + 0.1 AS c "
    "FROM trades WHERE price <> 100.5 GROUP BY symbol, window(ts, '5 hours', '2 hours')",
    "constants": "SELECT sum(1) AS a, max('x') AS b, min(2.5D) AS c, count(1) AS d, max(DATE '2024-02-29') AS e, "
    "min(TIMESTAMP '2024-02-29 01:02:03') AS f, sum(1.5F) AS g FROM trades GROUP BY window(ts, '9 hours')",
    "cases": "SELECT sum(CASE WHEN side = 'buy' THEN volume ELSE -volume END) AS net, "
    "count(CASE WHEN price > 100 THEN 1 END) AS many, coalesce(sum(volume), 0L) AS total "
    "FROM trades GROUP BY window(ts, '8 hours', '3 hours')",
    "filters": "SELECT symbol, stddev(volume) AS s, variance(volume) AS v, std(price) AS t, mean(volume) AS m "
    "FROM trades WHERE side IN ('buy', 'sell') AND NOT (symbol IS NULL) AND price BETWEEN 99 AND 103.5 "
    "GROUP BY 1, window(ts, '10 hours', '7 hours')",
    "nulls": "SELECT side, count(*) AS n FROM trades WHERE side <=> NULL OR volume IS NULL "
    "GROUP BY side, window(ts, '24 hours', '24 hours', '1 hour')",
    "casts": "SELECT CAST(volume AS STRING) AS v, max(CAST(price AS INT)) AS p, "
    "sum(CAST(volume AS DECIMAL(20, 3))) AS d FROM trades GROUP BY CAST(volume AS STRING), window(ts, '24 hours')",
    "aliased stream": "SELECT t.symbol, max(t.price) FROM trades AS t WHERE t.volume > 1 "
    "GROUP BY t.symbol, window(t.ts, '1 day', '1 hour')",
    "odd names": "SELECT `a b`, max(`from`) AS `select` FROM trades "
    "GROUP BY `a b`, window(ts, '10 hours', '10 minutes')",
}


@pytest.fixture(scope="module")
def trades(spark: Any) -> Iterator[Any]:
    count = 60
    rows = pa.table(
        {
            "ts": pa.array([(number * 37 % 61 - 20) * HOUR // 2 for number in range(count)], pa.timestamp("us", "UTC")),
            "symbol": pa.array([["a/b", "B", "b", None][number % 4] for number in range(count)]),
            "side": pa.array([["buy", "sell", None][number % 3] for number in range(count)]),
            "price": pa.array([Decimal(9_900 + number * 7) / 100 for number in range(count)], pa.decimal128(10, 2)),
            "volume": pa.array([None if number % 7 == 0 else number * 3 for number in range(count)], pa.int64()),
            "a b": pa.array([number % 2 == 0 for number in range(count)]),
            "from": pa.array([number / 8 for number in range(count)]),
        }
    )
    df = spark.createDataFrame(rows)
    df.createOrReplaceTempView("trades")
    yield df
    spark.catalog.dropTempView("trades")


@pytest.mark.parametrize("text", STATEMENTS.values(), ids=STATEMENTS)
def test_the_types_and_rows_of_spark_sql(spark: Any, trades: Any, text: str) -> None:
    workload = weft.Workload.from_sql(text)
    plan = weft.optimize(workload)
    says = spark.sql(text)
    same_rows(weft.view(weft.apply(trades, plan), plan, "q1"), says, exact_columns(says), text)
    native = weft.native(trades, workload["q1"])
    same_rows(native, says, exact_columns(says), text)


@pytest.mark.parametrize("planner", ["shared", "weave_share"])
def test_all_statements_in_one_run(spark: Any, trades: Any, planner: str) -> None:
    text = ";\n".join(f"-- name: {name}\n{statement}" for name, statement in STATEMENTS.items())
    workload = weft.Workload.from_sql(text)
    plan = weft.optimize(workload, weft.Stats(rate=1, types={"volume": "bigint", "price": "decimal(10,2)"}), planner)
    results = weft.apply(trades, plan).cache()
    for name, statement in STATEMENTS.items():
        says = spark.sql(statement)
        same_rows(weft.view(results, plan, name), says, exact_columns(says), name)
    results.unpersist()


def test_the_papers_and_flinks_spelling_mean_the_same(trades: Any) -> None:
    text = """
    -- name: brackets
    SELECT symbol, max(price) FROM trades [RANGE 10 HOURS SLIDE 3 HOURS DELAY 2 HOURS ON ts] GROUP BY symbol;
    -- name: rows
    SELECT max(price) AS high, min(price) AS low FROM trades [ROWS 7 SLIDE 3 ON ts] GROUP BY symbol;
    -- name: gaps
    SELECT symbol, count(*) AS n FROM trades [RANGE 1 HOUR SLIDE 3 HOURS OFFSET -30 MINUTES ON ts] GROUP BY symbol;
    -- name: flink
    SELECT window_start, window_end, symbol, max(price) AS high
    FROM TABLE(HOP(TABLE trades, DESCRIPTOR(ts), INTERVAL '2' HOURS, INTERVAL '10' HOURS))
    GROUP BY window_start, window_end, symbol
    """
    workload = weft.Workload.from_sql(text)
    plan = weft.optimize(workload)
    results = weft.apply(trades, plan).cache()
    for query in workload:
        agree(results, plan, trades, query.id)
    results.unpersist()


@pytest.fixture
def strict(spark: Any) -> Iterator[Any]:
    """A session that tells `volume` from `Volume`."""
    session = spark.newSession()
    session.conf.set("spark.sql.caseSensitive", "true")
    session.sql(
        "SELECT timestamp_micros(id * 1700000000) AS ts, id % 3 AS k, id % 2 AS K, id AS x, 10 * id AS X FROM range(50)"
    ).createOrReplaceTempView("strict")
    yield session
    session.catalog.dropTempView("strict")


def test_names_that_differ_in_case_alone(strict: Any) -> None:
    """Where Spark tells them apart, a query may use both, but for names of its own columns."""
    one = "SELECT k, sum(x) AS a, max(X) AS b FROM strict WHERE K = 1 GROUP BY k, window(ts, '2 hours', '30 minutes')"
    two = "SELECT K, min(X) AS c FROM strict WHERE k > 0 GROUP BY K, window(ts, '3 hours') HAVING sum(X) > 5"
    plan = weft.optimize(weft.Workload.from_sql(f"{one}; {two}"), planner="shared")
    results = weft.apply(strict.table("strict"), plan)
    for id_, text in (("q1", one), ("q2", two)):
        says = strict.sql(text)
        same_rows(weft.view(results, plan, id_), says, exact_columns(says), text)
    with pytest.raises(weft.BadRequest, match="two columns are called 'k'"):
        weft.Workload.from_sql(one.replace("SELECT k,", "SELECT k, K,").replace("BY k", "BY k, K"))
    late = weft.optimize(weft.Workload.from_sql(one.replace("(ts", "(TS")))
    with pytest.raises(weft.BadRequest, match=r"time: .*`TS` cannot be resolved"):
        weft.apply(strict.table("strict"), late)
