"""A stranger's text may read columns of the stream and do nothing else."""

import pytest

from weft.errors import BadRequest
from weft.queries import expressions as ex
from weft.queries import parse, sql, yaml_form
from weft.queries.query import Query
from weft.queries.window import Window

EXPRESSIONS = r"""
reflect('java.lang.Runtime', 'getRuntime') = 1
java_method('java.lang.System', 'exit', 1) = 1
try_reflect('java.lang.System', 'getenv', 'PATH') = 'x'
REFLECT('a', 'b') = 1
`reflect`('a', 'b') = 1
system.builtin.reflect('a', 'b') = 1
spark_catalog.default.my_udf(price) > 1
my_udf(price) > 1
price > (SELECT max(price) FROM secrets)
price IN (SELECT price FROM secrets)
price > ANY (SELECT price FROM secrets)
EXISTS (SELECT 1 FROM secrets)
NOT EXISTS (SELECT 1 FROM secrets)
(SELECT 1) = 1
(WITH x AS (SELECT 1) SELECT * FROM x) = 1
(VALUES (1)) = 1
(TABLE secrets) = 1
price > 1; DROP TABLE trades
price > 1; SELECT 1
price > 1;
price > 1 /* open
price > 1 -- fine
 ; DROP TABLE trades
1 = 1) OR (1 = 1
price > 1 UNION SELECT * FROM secrets
price > 1 GROUP BY symbol
price > 1 LIMIT 1
price > 1 FROM secrets
price > 1 AS x
/*+ BROADCAST(secrets) */ price > 1
input_file_name() = 'x'
current_user() = 'x'
current_user = 'x'
session_user() = 'x'
user() = 'x'
current_database() = 'x'
current_catalog = 'x'
current_date > DATE '2020-01-01'
current_timestamp > ts
now() > ts
version() = 'x'
uuid() = 'x'
rand() > 0.5
monotonically_increasing_id() > 1
spark_partition_id() = 1
assert_true(false)
raise_error('x')
java.lang.System.exit(1)
aes_decrypt(price, 'key') = 'x'
secret('scope', 'key') = 'x'
from_json(price, 'a int') = 1
xpath(price, '/a') = 1
read_files('/etc/passwd') = 1
parquet.`/etc/passwd` = 1 AND x()
transform(prices, x -> x + 1) = 1
exists(prices, x -> x > 1)
x -> x
prices[0] > 1
prices['a'] > 1
price:field > 1
struct(price) = 1
named_struct('a', 1) = 1
array(1)[0] = 1
map('a', 1)['a'] = 1
(price, symbol) = (1, 2)
price RLIKE '(a+)+$'
price ILIKE 'x'
price LIKE ANY ('a', 'b')
regexp_like(price, '(a+)+$')
price || symbol = 'x'
price & 1 = 1
price << 1 = 1
~price = 1
price DIV 2 = 1
INTERVAL '1' DAY > x
ts + INTERVAL 1 DAY > ts
:price > 1
? > 1
@price > 1
${price} > 1
{{ price }} > 1
{% if x %} 1 = 1
{# comment #} 1 = 1
{fn now()} = 1
$$text$$ = 'x'
IDENTIFIER('price') > 1
identifier('secrets' || 'x').price > 1
TRY_CAST(price AS int) > 1
CAST(price AS array<int>) = 1
CAST(price AS struct<a: int>) = 1
CAST(price AS interval day) = 1
price::variant = 1
price COLLATE utf8 = 'x'
ts AT TIME ZONE 'UTC' > ts
max(DISTINCT price) > 1
max(ALL price) > 1
max(price) FILTER (WHERE price > 1) > 1
max(price) OVER () > 1
max(price) IGNORE NULLS > 1
max(price ORDER BY ts) > 1
listagg(symbol) WITHIN GROUP (ORDER BY symbol) = 'x'
count(DISTINCT price, symbol) > 1
count(price, symbol) > 1
percentile(price, 0.5) > 1
collect_list(price) = 1
window(ts, '1 hour') = 1
session_window(ts, '1 hour') = 1
explode(prices) = 1
* = 1
trades.* = 1
count(trades.*) > 1
price > x'41'
price = r'\x'
price = N'x'
price = 'a' 'b'
`price
'price
price = '\ud800'
price = 'a'' OR 1 = 1
`pri`ce` > 1
pricе() > 1
ｒｅｆｌｅｃｔ('a', 'b') = 1
price ＞ 1
price = ‘x’
price IS TRUE
price IS DISTINCT FROM 1
+price > 1
price > 1 AND
AND price > 1
price > > 1
price = = 1
price NOT 1
SELECT 1
SET spark.sql.x = 1
DROP TABLE trades
""".strip("\n").replace("\n ;", "\0;").split("\n")  # fmt: skip
EXPRESSIONS = [text.replace("\0", "\n") for text in EXPRESSIONS]

G = "GROUP BY window(ts, '1 hour')"
STATEMENTS = [
    "DROP TABLE trades",
    f"SELECT max(price) FROM trades {G}; DROP TABLE trades",
    f"SELECT max(price) FROM trades {G}; /* x */ INSERT INTO t SELECT 1",
    f"INSERT INTO t SELECT max(price) FROM trades {G}",
    f"CREATE TABLE x AS SELECT max(price) FROM trades {G}",
    f"CREATE FUNCTION f AS 'x.Y'; SELECT max(price) FROM trades {G}",
    f"EXPLAIN SELECT max(price) FROM trades {G}",
    f"CACHE TABLE x AS SELECT max(price) FROM trades {G}",
    "ADD JAR '/tmp/x.jar'",
    "SET spark.x = 1",
    "USE other",
    "BEGIN SELECT 1; END",
    "EXECUTE IMMEDIATE 'SELECT 1'",
    f"WITH s AS (SELECT * FROM secrets) SELECT max(price) FROM s {G}",
    f"FROM trades SELECT max(price) {G}",
    f"(SELECT max(price) FROM trades {G})",
    f"SELECT max(price) FROM trades {G} UNION ALL SELECT 1",
    f"SELECT max(price) FROM trades {G} EXCEPT SELECT 1",
    f"SELECT max(price) FROM trades JOIN secrets ON true {G}",
    f"SELECT max(price) FROM trades, secrets {G}",
    f"SELECT max(price) FROM trades CROSS JOIN secrets {G}",
    f"SELECT max(price) FROM trades LEFT JOIN secrets USING (a) {G}",
    f"SELECT max(price) FROM (SELECT * FROM secrets) {G}",
    f"SELECT max(price) FROM parquet.`/etc/passwd` {G}",
    f"SELECT max(price) FROM csv.`/etc/passwd` {G}",
    f"SELECT max(price) FROM binaryFile.`/etc/passwd` {G}",
    f"SELECT max(price) FROM trades.`/etc/passwd` {G}",
    f"SELECT max(price) FROM read_files('/etc/passwd') {G}",
    f"SELECT max(price) FROM range(10) {G}",
    f"SELECT max(price) FROM TABLE(range(10)) {G}",
    f"SELECT max(price) FROM VALUES (1) {G}",
    f"SELECT max(price) FROM IDENTIFIER('secrets') {G}",
    f"SELECT max(price) FROM trades VERSION AS OF 1 {G}",
    f"SELECT max(price) FROM trades TABLESAMPLE (1 PERCENT) {G}",
    f"SELECT max(price) FROM trades LATERAL VIEW explode(x) y AS z {G}",
    f"SELECT max(price) FROM trades PIVOT (max(x) FOR y IN (1)) {G}",
    f"SELECT DISTINCT max(price) FROM trades {G}",
    f"SELECT ALL max(price) FROM trades {G}",
    f"SELECT /*+ REPARTITION(1) */ max(price) FROM trades {G}",
    f"SELECT TRANSFORM(price) USING 'rm' FROM trades {G}",
    f"SELECT * FROM trades {G}",
    f"SELECT max(price), * FROM trades {G}",
    f"SELECT max(price) AS 'x' FROM trades {G}",
    f"SELECT max(price) AS (a, b) FROM trades {G}",
    f"SELECT max(price) INTO t FROM trades {G}",
    f"SELECT (SELECT max(x) FROM secrets), max(price) FROM trades {G}",
    f"SELECT max(price) FROM trades WHERE max(price) > 1 {G}",
    f"SELECT max(price) FROM trades WHERE window.start > x {G}",
    f"SELECT max(max(price)) FROM trades {G}",
    f"SELECT max(price) FROM trades {G} ORDER BY 1",
    f"SELECT max(price) FROM trades {G} LIMIT 1",
    f"SELECT max(price) FROM trades {G} QUALIFY 1 = 1",
    f"SELECT max(price) FROM trades {G} WINDOW w AS (ORDER BY x)",
    f"SELECT max(price) FROM trades {G} WITH ROLLUP",
    f"SELECT max(price) FROM trades {G} HAVING price > 1",
    f"SELECT max(price) FROM trades {G}, ROLLUP (symbol)",
    "SELECT max(price) FROM trades GROUP BY ALL",
    "SELECT max(price) FROM trades GROUP BY CUBE (symbol, window(ts, '1 hour'))",
    "SELECT max(price) FROM trades GROUP BY GROUPING SETS ((window(ts, '1 hour')))",
    "SELECT max(price) FROM trades GROUP BY window(current_timestamp(), '1 hour')",
    "SELECT max(price) FROM trades GROUP BY window(ts, reflect('a', 'b'))",
    "SELECT max(price) FROM trades GROUP BY window(ts, '1 hour' || '')",
    "SELECT max(price) FROM trades [RANGE reflect('a') MIN]",
    "SELECT max(price) FROM trades [RANGE 1 H; DROP TABLE x]",
    "SELECT max(price) FROM trades [RANGE 1 H] JOIN x",
    "SELECT max(price) FROM HOP((SELECT 1), DESCRIPTOR(ts), '1 h', '1 h') GROUP BY window_end",
    "SELECT max(price) FROM HOP(TABLE parquet.`/x`, DESCRIPTOR(ts), '1 h', '1 h') GROUP BY window_end",
    "SELECT max(price) FROM HOP(TABLE t, DESCRIPTOR(f(ts)), '1 h', '1 h') GROUP BY window_end",
]


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_a_hostile_expression_is_refused_in_every_field(text):
    with pytest.raises(BadRequest) as refusal:
        parse.expression(text)
    assert refusal.value.remedy
    for field in ("where", "having", "group_by", "measures", "columns"):
        given = {"measures": "max(a)"} | {field: text}
        with pytest.raises(BadRequest) as refusal:
            Query("mine", given.pop("measures"), Window("1 h"), **given)
        # `expr AS name` is sound in a list of measures; what it names is then no aggregate
        assert refusal.value.query == "mine"
        assert refusal.value.field
        assert refusal.value.remedy


@pytest.mark.parametrize("text", STATEMENTS)
def test_a_hostile_statement_is_refused(text):
    with pytest.raises(BadRequest) as refusal:
        sql.queries(text)
    assert refusal.value.query in ("q1", "q2")
    assert refusal.value.field
    assert refusal.value.remedy


@pytest.mark.parametrize("text", [*EXPRESSIONS, *STATEMENTS])
def test_a_hostile_text_is_refused_in_yaml(text):
    import yaml

    entry = {"id": "mine", "measures": "max(a)", "window": {"range": "1 h"}, "where": text}
    for hostile in (entry, {"id": "mine", "sql": text}):
        with pytest.raises(BadRequest) as refusal:
            yaml_form.queries(yaml.safe_dump({"queries": [hostile]}))
        assert refusal.value.field
        assert refusal.value.remedy
        assert refusal.value.query


NAMES = [
    "`reflect('a', 'b')`",
    "`x; DROP TABLE y`",
    "`a``b`",
    "`*`",
    "`current_user`",
    "`/etc/passwd`",
    "pric\u0435",
    "0x",
]


@pytest.mark.parametrize("text", [*NAMES, "'; DROP TABLE y'"])
def test_what_looks_hostile_but_is_a_name_stays_a_name(text):
    tree = parse.expression(text)
    assert isinstance(tree, (ex.Column, ex.Literal))
    assert parse.expression(ex.to_sql(tree)) == tree
