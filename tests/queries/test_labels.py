import pytest

from weft.queries import parse, sql

SCHEMA = (
    "ts timestamp, price double, volume int, symbol string, trade struct<price: double, q: struct<n: int>>, "
    "`odd name` int, b boolean"
)
MEASURES = r"""
avg(price)
max(price) - min(price)
count(*)
count(1)
count(price)
count(2)
mean(price)
std(price)
stddev(price)
variance(price)
var_samp(price)
AVG(Price)
sum(price * volume)
sum(price) / count(*)
max(trade.price)
max(trade.q.n)
max(`odd name`)
sum(CASE WHEN price > 1 THEN 1 ELSE 0 END)
sum(CASE symbol WHEN 'a' THEN 1 END)
sum(coalesce(price, 0))
sum(nvl(price, 0))
sum(mod(volume, 2))
max(ucase(symbol))
max(len(symbol))
CAST(max(price) AS int)
sum(cast(volume AS decimal))
sum(cast(volume AS dec(7)))
max(price::bigint)
max(-128::tinyint)
sum(-volume)
sum(-5)
sum(- -5)
sum(-(5))
-sum(price)
max(1e3)
max(1e10)
max(1e-7)
max(123456789.123D)
max(2.5F)
max(16777217F)
max(.5)
max(5.)
max(1.50BD)
max(1e3BD)
max(00012)
max(99999999999999999999)
max('it''s')
max('it\'s')
max("dq")
max('a\%b\u0041\101')
max(TRUE)
max(DATE '2020-01-01')
max(TIMESTAMP '2020-01-01')
max(TIMESTAMP '2020-01-01T00:00:00.500')
max(TIMESTAMP_NTZ '2020-01-01 00:00:00')
max(volume NOT IN (1, 2))
max(price NOT BETWEEN 1 AND 2)
max(symbol NOT LIKE 'a%')
max(symbol LIKE 'a!%' ESCAPE '!')
max(symbol IS NOT NULL)
max(!b)
max(price <> 1)
max(NOT (price <=> 1))
max(price = 1 IS NULL)
max(NOT symbol = 'a' AND b)
max(b AND b AND b AND b AND b)
max(b OR b AND b OR b)
sum(volume) + 1 > 2
max(volume + 1 * 2 - 3 % 2)
""".strip().splitlines()
KEYS = ["symbol", "trade.price", "price + 1", "`odd name`", "lower(symbol)", "CAST(symbol AS date)", "Symbol",
        "CAST(trade.price AS int)"]  # fmt: skip
FIELDS = ["window", "window.start", "window.end", "CAST(window.start AS string)", "CAST(symbol AS date)"]
STRINGS = [r"'a\\b'", r"'a\%b\_c'", r"'\q'", r"'\u0041\U0001F600'", r"'\101\401\1'", r"'\0\Z\b\t\r\n'",
           "'a''b'", '"a""b"', r"'\"'", r"'\u00'", r"'\012'", r"'\x41'", "'\n'"]  # fmt: skip


@pytest.mark.spark
def test_a_measure_is_called_as_spark_calls_it(spark):
    frame = spark.createDataFrame([], SCHEMA)
    theirs = [frame.selectExpr(text).columns[0] for text in MEASURES]
    assert [parse.measure(text).name for text in MEASURES] == theirs


@pytest.mark.spark
def test_our_canonical_text_means_the_same_to_spark(spark):
    from weft.queries import expressions as ex

    frame = spark.createDataFrame([], SCHEMA)
    for text in MEASURES:
        ours = frame.selectExpr(ex.to_sql(parse.expression(text)))
        assert ours.dtypes[0][1] == frame.selectExpr(text).dtypes[0][1], text


@pytest.mark.spark
def test_a_select_list_has_sparks_columns(spark):
    frame = spark.createDataFrame([], SCHEMA)
    frame.createOrReplaceTempView("labels")
    for column in [*KEYS, *FIELDS]:
        keys = [column] if column in KEYS else ["symbol"]
        text = f"SELECT {column}, max(labels.price) FROM labels GROUP BY {', '.join(keys)}, window(ts, '1 hour')"
        (query,) = sql.queries(text)
        assert [output.name for output in query.output] == spark.sql(text).columns


@pytest.mark.spark
@pytest.mark.parametrize("text", STRINGS)
def test_a_string_is_unescaped_as_spark_does(spark, text):
    assert parse.expression(text).value == spark.sql(f"SELECT {text}").first()[0]


@pytest.mark.spark
def test_rendered_sql_runs_in_spark(spark):
    spark.createDataFrame([], SCHEMA).createOrReplaceTempView("labels")
    text = (
        "SELECT symbol AS price, window.start AS s, max(labels.price) AS symbol, std(volume) FROM labels "
        "WHERE volume > 3 GROUP BY labels.symbol, window(ts, '1 hour', '10 minutes', '1 minute') HAVING max(volume) > 1"
    )
    (query,) = sql.queries(text)
    assert spark.sql(query.to_sql()).dtypes == spark.sql(text).dtypes
