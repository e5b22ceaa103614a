import pytest

from weft.errors import BadRequest
from weft.queries import expressions as ex
from weft.queries import parse

price, symbol = ex.Column(("price",)), ex.Column(("symbol",))


@pytest.mark.parametrize(
    ("text", "type_", "value"),
    [
        ("100", "int", "100"),
        ("-2147483648", "int", "-2147483648"),
        ("2147483648", "bigint", "2147483648"),
        ("9223372036854775808", "decimal(19,0)", "9223372036854775808"),
        ("1.5", "decimal(2,1)", "1.5"),
        (".05", "decimal(2,2)", "0.05"),
        ("1.2BD", "decimal(2,1)", "1.2"),
        ("1e3", "double", "1000.0"),
        ("1.5D", "double", "1.5"),
        ("2.0F", "float", "2.0"),
        ("3L", "bigint", "3"),
        ("3S", "smallint", "3"),
        ("-128y", "tinyint", "-128"),
        ("TRUE", "boolean", "true"),
        ("null", "void", None),
        ("DATE '2025-01-31'", "date", "2025-01-31"),
        ("TIMESTAMP '2025-01-31T10:00Z'", "timestamp", "2025-01-31 10:00:00Z"),
        ("timestamp_ntz '2025-01-31'", "timestamp_ntz", "2025-01-31 00:00:00"),
        (r"'it\'s'", "string", "it's"),
        ('"it\'s"', "string", "it's"),
        (r"'\\%'", "string", r"\%"),
    ],
)
def test_a_constant_has_sparks_type(text, type_, value):
    assert parse.expression(text) == ex.Literal(value, type_)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("price = 1 IS NULL", "((price = 1) IS NULL)"),
        ("NOT price = 1 AND symbol = 'a'", "((NOT (price = 1)) AND (symbol = 'a'))"),
        ("price + 1 * 2 - 3", "((price + (1 * 2)) - 3)"),
        ("a OR b AND c", "(a OR (b AND c))"),
        ("a = b < c", "((a = b) < c)"),
        ("a LIKE b = c", "(a LIKE (b = c))"),
        ("-price::int", "(- CAST(price AS INT))"),
        ("-5::int", "CAST(-5 AS INT)"),
        ("a - -5", "(a - -5)"),
        ("a -5", "(a - 5)"),
        ("- (5)", "(- (5))"),
        ("!a", "(NOT a)"),
        ("a == b", "(a = b)"),
        ("a != b", "(a <> b)"),
        ("CASE a WHEN 1 THEN 'x' END", "CASE WHEN (a = 1) THEN 'x' END"),
        ("a NOT BETWEEN 1 AND 2 AND b", "((NOT (a BETWEEN 1 AND 2)) AND b)"),
        ("trade.`odd name`.x", "trade.`odd name`.x"),
        ("a -- a comment\n + 1", "(a + 1)"),
        ("count(1)", "count(*)"),
        ("variance(x)", "var_samp(x)"),
        ("mean(stddev)", "avg(stddev)"),
        ("nvl(a, 0)", "coalesce(a, 0)"),
        ("CAST(a AS numeric(7, 2))", "CAST(a AS DECIMAL(7,2))"),
        ("window.start", "window.start"),
        ("`window`.start", "`window`.start"),
        ("window_start", "`window_start`"),
    ],
)
def test_text_is_read_with_sparks_grammar(text, same):
    assert ex.to_sql(parse.expression(text)) == same


def test_the_same_constant_suffix_and_cast_stay_apart():
    assert parse.expression("100L") != parse.expression("CAST(100 AS BIGINT)")


def test_a_filter_may_list_thousands_of_cases():
    text = " OR ".join(f"symbol = 's{number}'" for number in range(3000))
    tree = parse.expression(text)
    assert parse.expression(ex.to_sql(tree)) == tree


def test_a_measure_keeps_the_name_as_it_was_spelled():
    assert parse.measure("std(price)").name == "std(price)"
    assert parse.measure("std(price)").expression == ex.Aggregate("stddev_samp", price)
    assert parse.measure("max(price) AS `odd name`").name == "odd name"
    assert parse.measure("max(price) high").name == "high"


BAD = [
    "", "  ", "-- nothing", "1e999", "128Y", "40000S", "1.5L", "1e", "DATE '2025-02-30'", "DATE '2025'",
    "TIMESTAMP 'now'", "TIMESTAMP_NTZ '2025-01-01 00:00Z'", "price >", "price IN ()", "CASE END", "CASE WHEN a",
    "price BETWEEN 1", "(price", "price)", "price price", "'open", "`open", "/* open", "``", "price = NOT a",
    "a IS NULL IS NULL", "a LIKE 'x' ESCAPE 'ab'", "CAST(a AS decimal(39,0))", "CAST(a AS decimal(3,4))",
    "CAST(a AS decimal(x))", "CAST(a AS int", "window.middle", "avg(a, b)", "coalesce()", "count()", "9" * 200,
    "1" * 200_000,
]  # fmt: skip


@pytest.mark.parametrize("text", BAD)
def test_bad_text_is_refused_with_a_remedy(text):
    with pytest.raises(BadRequest) as refusal:
        parse.expression(text)
    assert refusal.value.remedy


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("maxx(price)", "Did you mean max"),
        ("isnull(price)", "Write value IS NULL"),
        ("median(price)", "Use one of"),  # and not mean
        ("price = ‘x’", "straight quotes"),
        ("price = 'x", "never closed (line 1, column 9)"),
        ("int(price)", "CAST(... AS INT)"),
        ("if(a, 1, 2)", "CASE WHEN"),
        ("a IS DISTINCT FROM b", "DISTINCT"),
        ("price > 1\n  AND symbol RLIKE 'x'", "line 2, column 14"),
    ],
)
def test_a_refusal_teaches(text, hint):
    with pytest.raises(BadRequest, match=hint.replace("(", r"\(").replace(")", r"\)")):
        parse.expression(text)


DEEP = ["({})", "abs({})", "NOT {}", "- {}", "CASE WHEN {} THEN 1 END", "{} + 1", "CAST({} AS int)"]


@pytest.mark.parametrize("deep", DEEP)
def test_a_text_nested_thousands_deep_is_refused(deep):
    before, after = deep.split("{}")
    with pytest.raises(BadRequest, match="nested deeper"):
        parse.expression(before * 4000 + "a" + after * 4000)


def test_as_much_as_is_allowed_is_read():
    text = "(" * parse.DEEPEST + "a" + ")" * parse.DEEPEST
    assert parse.expression(text) == ex.Column(("a",))
