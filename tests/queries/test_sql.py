import pytest

from weft.errors import BadRequest
from weft.queries import sql
from weft.queries.query import Query
from weft.queries.window import Window
from weft.queries.workload import Workload


def one(text):
    (query,) = sql.queries(text)
    return query


def test_sparks_spelling():
    text = """SELECT symbol, avg(volume) AS v FROM trades WHERE price > 100
              GROUP BY symbol, window(ts, '24 hours', '1 hour', '5 minutes') HAVING count(*) > 3"""
    columns = ["symbol", "avg(volume) AS v"]
    window = Window("24 h", "1 h", "5 min")
    assert one(text) == Query(
        "q1", columns[1], window, "price > 100", "symbol", "count(*) > 3", "ts", "trades", columns
    )


def test_sparks_names_and_the_window_fields():
    query = one("SELECT window, window.end, symbol, std(price) / 2 FROM t GROUP BY window(a.ts, '1 hour'), symbol")
    assert [column.name for column in query.output] == ["window", "end", "symbol", "(std(price) / 2)"]
    assert query.window == Window("1 h")
    assert query.time.path == ("a", "ts")


DURATIONS = ["INTERVAL '1' HOUR", "INTERVAL 1 HOUR", "INTERVAL '1 hour'", "'60 minutes'", "'1 h'",
             "INTERVAL '30' MINUTE 1800 SECONDS", "'interval 1 hour'"]  # fmt: skip


@pytest.mark.parametrize("duration", DURATIONS)
def test_durations_in_every_spelling(duration):
    assert one(f"SELECT max(a) FROM t GROUP BY window(ts, {duration})").window == Window("1 h")


@pytest.mark.parametrize(
    "text",
    [
        "SELECT symbol, max(price) FROM trades GROUP BY 1, window(ts, '1 hour')",
        "SELECT symbol, max(price) FROM trades GROUP BY symbol, window(trades.ts, '1 hour')",
        "SELECT t.symbol, max(t.price) FROM trades AS t GROUP BY t.symbol, window(t.ts, '1 hour')",
        "SELECT symbol, max(price) FROM trades t GROUP BY window(ts, '1 hour'), t.symbol",
        "select symbol, max(price) from trades group by symbol, symbol, WINDOW(ts, '1 hour')",
        "SELECT symbol, max(price) FROM trades GROUP BY symbol, window(ts, '1 hour');",
        "SELECT /* all */ symbol, max(price) FROM `trades` -- the stream\nGROUP BY symbol, window(ts, '1 hour') ; ;",
    ],
)
def test_different_texts_of_one_query(text):
    columns = ["symbol", "max(price)"]
    assert one(text) == Query(
        "q1", columns[1], Window("1 h"), group_by="symbol", time="ts", source="trades", columns=columns
    )


def test_an_alias_in_group_by_and_having():
    text = "SELECT lower(a) AS k, max(b) AS m FROM t GROUP BY {}, window(ts, '1 h') HAVING {} > 3 AND max(m) > 1"
    assert one(text.format("k", "m")) == one(text.format("lower(a)", "max(b)"))


def test_an_alias_that_hides_a_column_leaves_the_column_to_group_by():
    query = one("SELECT lower(a) AS a, max(b) FROM t GROUP BY a, window(ts, '1 h')")
    assert query.group_by == Query("q", "max(b)", Window("1 h"), group_by="a").group_by


def test_the_window_may_be_named_in_the_select_list():
    query = one("SELECT window(ts, '1 h') AS w, max(b) FROM t GROUP BY w")
    assert [column.name for column in query.output] == ["w", "max(b)"]


def test_columns_are_spelled_as_in_group_by():
    query = one("SELECT Symbol, max(SYMBOL) FROM t GROUP BY symbol, window(ts, '1 h')")
    assert [column.name for column in query.output] == ["Symbol", "max(SYMBOL)"]
    assert query.columns[0].expression == query.group_by[0]


def test_the_papers_spelling():
    text = "SELECT MAX(a) FROM S [RANGE 10 MIN SLIDE 2 MIN] WHERE b > 1 GROUP BY k HAVING max(a) > 3"
    assert one(text) == Query("q1", "max(a)", Window("10 min", "2 min"), "b > 1", "k", "max(a) > 3", source="S")


@pytest.mark.parametrize(
    ("bracket", "window"),
    [
        ("[WINDOW 10 min SLIDE 2 min]", Window("10 min", "2 min")),
        ("[RANGE 10min]", Window("10 min")),
        ("[range '10 minutes' slide interval '2' minutes]", Window("10 min", "2 min")),
        ("[RANGE 1 H 30 MIN SLIDE 5 S OFFSET -1 MIN DELAY 5 MIN]", Window("90 min", "5 s", "-1 min", "5 min")),
        ("[RANGE 10 D]", Window("10 d")),
        ("[RANGE 10D SLIDE 10S]", Window("10 d", "10 s")),
        ("[ROWS 100 SLIDE 10]", Window.rows(100, 10)),
        ("[ROWS 100 OFFSET -3]", Window.rows(100, 100, -3)),
    ],
)
def test_brackets(bracket, window):
    assert one(f"SELECT max(a) FROM S {bracket}").window == window


def test_a_bracket_names_the_time_column_and_the_columns():
    query = one("SELECT k, max(a) FROM S [RANGE 1 H ON e.ts COLUMNS LISTED] AS s GROUP BY k")
    assert query.time.path == ("e", "ts")
    assert [column.name for column in query.output] == ["k", "max(a)"]


def test_a_bracket_has_the_default_columns_unless_the_window_is_named():
    named = one("SELECT k, max(a), window_end FROM S [RANGE 1 H] GROUP BY k")
    assert [column.name for column in named.output] == ["k", "max(a)", "window_end"]
    default = one("SELECT k, max(a) FROM S [RANGE 1 H] GROUP BY k")
    assert [column.name for column in default.output] == ["window", "k", "max(a)"]


@pytest.mark.parametrize(
    "source",
    [
        "TABLE(HOP(TABLE trades, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '5' MINUTE))",
        "HOP(TABLE trades, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '5' MINUTE) AS h",
        "HOP(DATA => TABLE trades, TIMECOL => DESCRIPTOR(ts), SLIDE => INTERVAL '1' MINUTE, SIZE => '5 min')",
        "TABLE(HOP(SIZE => INTERVAL '5' MINUTE, DATA => TABLE trades, SLIDE => '1 min', TIMECOL => DESCRIPTOR(ts)))",
    ],
)  # fmt: skip
def test_flinks_spelling(source):
    columns = ["window_start", "window_end", "symbol", "max(x)"]
    query = one(f"SELECT {', '.join(columns)} FROM {source} WHERE x > 1 GROUP BY window_start, window_end, symbol")
    assert (query.window, query.time.path, query.source) == (Window("5 min", "1 min"), ("ts",), "trades")
    assert [column.name for column in query.output] == columns
    assert [key.path for key in query.group_by] == [("symbol",)]


def test_flinks_tumble_and_offset():
    source = "TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '5' MINUTE, INTERVAL '1' MINUTE)"
    assert one(f"SELECT max(x) FROM {source} GROUP BY window_end").window == Window("5 min", "5 min", "1 min")


def test_many_statements_their_names_and_strings_with_semicolons():
    text = """
    -- what is this; a comment
    SELECT max(a) FROM S [RANGE 1 H] WHERE b = ';' AND c <> "-- name: no";
    -- name: second one
    -- some words
    SELECT max(a) FROM S [RANGE 2 H]; -- name: third
    SELECT max(a) FROM S [RANGE 3 H] -- name: not above
    ; /* -- name: no
    -- name: neither */
    SELECT max(a) FROM HOP(TABLE S, DESCRIPTOR(ts), '1 h', '2 h') GROUP BY window_start
    """
    assert [query.id for query in sql.queries(text)] == ["q1", "second one", "third", "q4"]


def test_stream_is_any_stream():
    assert one("SELECT max(a) FROM stream [RANGE 1 H]").source is None
    assert one("SELECT max(a) FROM `stream` [RANGE 1 H]").source == "stream"
    assert one("SELECT max(a) FROM db.trades [RANGE 1 H]").source == "db.trades"


G = "GROUP BY window(ts, '1 hour')"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "there is no query"),
        (" ; -- nothing\n;", "there is no query"),
        ("these are words", "only SELECT"),
        ("SELECT", "ends too early"),
        ("SELECT max(a)", "FROM"),
        ("SELECT max(a) FROM", "FROM"),
        ("SELECT max(a), FROM t " + G, "SELECT: did not expect 'FROM'"),
        ("SELECT max(a) FROM t GROUP BY k", "there is no window"),
        ("SELECT max(a) FROM t", "there is no window"),
        (f"SELECT a FROM t {G}, a", "at least one aggregate"),
        (f"SELECT a, max(b) FROM t {G}", "neither aggregated nor a group key"),
        (f"SELECT max(a) FROM t {G}, window(ts, '2 hours')", "two windows"),
        (f"SELECT max(a) FROM t [RANGE 1 H] {G}", "two windows"),
        ("SELECT max(a) FROM t GROUP BY window(ts, '1 month')", "no fixed length"),
        ("SELECT max(a) FROM t GROUP BY window(ts, '1 hour', '0 seconds')", "slide must be positive"),
        ("SELECT max(a) FROM t GROUP BY window(ts, 3600)", "Write a duration"),
        ("SELECT max(a) FROM t GROUP BY window(ts)", "lacks a size"),
        ("SELECT max(a) FROM t GROUP BY window(ts + 1, '1 h')", "GROUP BY"),
        ("SELECT window(ts, '1 h').start, max(a) FROM t GROUP BY window(ts, '1 h')", "window.start"),
        ("SELECT max(a) FROM t GROUP BY session_window(ts, '1 hour')", "session windows"),
        ("SELECT max(a) FROM t GROUP BY 2, window(ts, '1 hour')", "there is no column 2"),
        ("SELECT max(a) FROM t GROUP BY 1, window(ts, '1 hour')", "group key"),
        ("SELECT max(a) FROM S [RANGE 0 MIN]", "range must be positive"),
        ("SELECT max(a) FROM S [RANGE -5 MIN]", "range must be positive"),
        ("SELECT max(a) FROM S [RANGE 5 MIN SLIDE 0 S]", "slide must be positive"),
        ("SELECT max(a) FROM S [RANGE 5 MIN DELAY -1 S]", "delay must not be negative"),
        ("SELECT max(a) FROM S [RANGE 5]", "no duration"),
        ("SELECT max(a) FROM S [RANGE SLIDE 5 MIN]", "the size is missing"),
        ("SELECT max(a) FROM S [RANGE 5 MIN RANGE 6 MIN]", "twice"),
        ("SELECT max(a) FROM S [SLIDE 5 MIN]", "RANGE or ROWS"),
        ("SELECT max(a) FROM S [ROWS 5 MIN]", "no number of rows"),
        ("SELECT max(a) FROM S [ROWS 1.5]", "no number of rows"),
        ("SELECT max(a) FROM S [RANGE 5 MIN", "ends too early"),
        ("SELECT k AS j, max(a) FROM S [RANGE 5 MIN] GROUP BY k", "renames a group key"),
        ("SELECT k, max(a) FROM S [RANGE 5 MIN]", "neither aggregated nor a group key"),
        ("SELECT max(a) FROM HOP(TABLE t, DESCRIPTOR(ts), '1 h', '2 h')", "not grouped by"),
        ("SELECT max(a) FROM HOP(TABLE t, DESCRIPTOR(ts), '1 h') GROUP BY window_end", "lacks size"),
        ("SELECT max(a) FROM HOP(TABLE t, DESCRIPTOR(ts), '1 h', '1 h', '1 h', '1 h') GROUP BY k", "HOP takes"),
        ("SELECT max(a) FROM HOP(TABLE t, SIZE => '1 h', SIZE => '1 h') GROUP BY window_end", "does not belong"),
        ("SELECT max(a) FROM TABLE(CUMULATE(TABLE t, DESCRIPTOR(ts), '1 h', '2 h')) GROUP BY window_end", "CUMULATE"),
        ("SELECT max(a) FROM SESSION(TABLE t, DESCRIPTOR(ts), '1 h') GROUP BY window_end", "SESSION"),
        (f"SELECT max(a) FILTER (WHERE b) FROM t {G}", "SELECT: FILTER is not supported (line 1, column 15)"),
        (f"SELECT max(a) OVER (ORDER BY b) FROM t {G}", "SELECT: OVER is not supported"),
        (f"-- name:\nSELECT max(a) FROM t {G}", "name is empty"),
        (f"SELECT max(a) AS x, min(a) AS X FROM t {G}", "two columns are called"),
        (f"SELECT lower(s) AS s, max(a) FROM t {G}, s HAVING s = 'a'", "both a group key"),
        ("SELECT '" + "x" * 100_000 + "', max(a) FROM S [ROWS 5]", "longer than"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_the_place(text, said):
    with pytest.raises(BadRequest) as refusal:
        sql.queries(text)
    assert said in str(refusal.value)
    assert refusal.value.remedy
    assert refusal.value.field
    assert refusal.value.query or "there is no query" in said


@pytest.mark.parametrize(
    ("torn", "place"),
    [
        ("SELECT max('a) FROM S [ROWS 1];\nSELECT 1", "line 5, column 12"),
        ("SELECT /* max(a) FROM S [ROWS 1];", "line 5, column 8"),
        ("SELECT max(a - 1) / 2 FROM `S [ROWS 1];\n-- name: other\nSELECT 1", "line 5, column 28"),
    ],
)
@pytest.mark.parametrize(("comment", "query"), [("-- name: mine", "mine"), ("-- the second", "q2")])
def test_what_is_opened_and_never_closed_names_its_query(torn, place, comment, query):
    before = "-- name: it's; fine\nSELECT max(a) FROM S [ROWS 1]\nWHERE b = 'it''s; \\' /*' -- ' ; \";"
    with pytest.raises(BadRequest, match="never closed") as refusal:
        sql.queries(f"{before}\n;{comment}\n{torn}")
    assert (refusal.value.query, refusal.value.field) == (query, "SQL")
    assert place in refusal.value.rule


def test_two_queries_of_one_name():
    with pytest.raises(BadRequest, match="two queries have this name"):
        Workload.from_sql("-- name: a\nSELECT max(a) FROM S [ROWS 1];\n-- name: a\nSELECT min(a) FROM S [ROWS 1]")


def test_files(tmp_path):
    (tmp_path / "a.sql").write_text("SELECT max(a) FROM S [ROWS 1]")
    assert len(Workload.from_file(tmp_path / "a.sql")) == 1
    for name, said in (("b.sql", "there is no file"), ("a.txt", "neither .sql nor .yaml")):
        with pytest.raises(BadRequest, match=said):
            Workload.from_file(tmp_path / name)
    (tmp_path / "c.sql").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadRequest, match="cannot be read"):
        Workload.from_file(tmp_path / "c.sql")
