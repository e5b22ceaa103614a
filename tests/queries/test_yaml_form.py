import pytest

from weft.errors import BadRequest
from weft.queries import yaml_form
from weft.queries.query import Query
from weft.queries.window import Window
from weft.queries.workload import Workload

FULL = """
source: trades
time: ts
queries:
  - id: high
    measures: {high: max(price)}
    window: {range: 10 min, slide: 2 min, offset: 1 min, delay: 5 s}
    where: price > 100
    group_by: [symbol]
    having: max(price) > 3
    columns: [symbol, window.start AS s, max(price) AS high]
  - measures: [max(price) AS high, count(*)]
    window: {rows: 100, slide: 10}
    group_by: symbol
  - sql: SELECT max(price) FROM trades [RANGE 1 H]
  - id: named
    sql: |
      -- name: unused
      SELECT max(price) FROM stream [RANGE 1 H ON other]
"""


def test_every_field():
    high, rows, third, named = yaml_form.queries(FULL)
    columns = ["symbol", "window.start AS s", "max(price) AS high"]
    window = Window("10 min", "2 min", "1 min", "5 s")
    assert high == Query("high", columns[2], window, "price > 100", "symbol", "max(price) > 3", "ts", "trades", columns)
    measures = ["max(price) AS high", "count(*)"]
    assert rows == Query("q2", measures, Window.rows(100, 10), group_by="symbol", time="ts", source="trades")
    assert third == Query("q3", "max(price)", Window("1 h"), time="ts", source="trades")
    assert (named.id, named.source, named.time.path) == ("named", "trades", ("other",))


def test_a_workload_is_written_and_read_back():
    workload = Workload.from_yaml(FULL)
    assert Workload.from_yaml(workload.to_yaml()) == workload


Q = "queries: [{measures: max(a), window: {range: 1 h}, "


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty"),
        ("just words", "fields and values"),
        ("[1, 2]", "fields and values"),
        ("queries:\n  - id: [", "this is no YAML"),
        ("a: b: c", "this is no YAML"),
        ("\x01", "this is no YAML"),
        ("a: 1\n---\nb: 2", "this is no YAML"),
        ("source: s", "there are no queries"),
        ("queries: []", "a list of queries"),
        ("queries: {}", "a list of queries"),
        ("queries:\n  - 5", "query 'q1': a query, line 2: fields and values"),
        ("querys: []", "Did you mean queries"),
        (Q + "wheer: a > 1}]", "Did you mean where"),
        (Q + "\n where: a > 1, where: b > 1}]", "line 2: 'where' is there twice"),
        (Q + "\n where: 5}]", "query 'q1': where, line 2: text is expected, not int"),
        (Q + "where: }]", "where, line 1: text is expected, not nothing"),
        (Q + "where: yes}]", "not bool"),
        (Q + "where: !!python/object/apply:os.system [ls]}]", "text is expected"),
        (Q + "id: 7}]", "id, line 1: text is expected"),
        (Q + "group_by: {a: b}}]", "group_by"),
        (Q + "\n\n where: a >}]", "query 'q1': where, line 3: the text ends too early"),
        (Q + "having: reflect('a')}]", "having, line 1: the function reflect"),
        ("queries: [{measures: max(a)}]", "window, line 1: it is missing"),
        ("queries: [{window: {range: 1 h}}]", "measures, line 1: it is missing"),
        ("queries: [{measures: a, window: {range: 1 h}}]", "no aggregate"),
        ("queries: [{measures: [], window: {range: 1 h}}]", "there is none"),
        ("queries: [{measures: max(a), window: 1 h}]", "fields and values"),
        ("queries: [{measures: max(a), window: {slide: 1 h}}]", "the range is missing"),
        ("queries: [{measures: max(a), window: {range: 1:30}}]", "text is expected, not int"),
        ("queries: [{measures: max(a), window: {range: 0 s}}]", "must be positive"),
        ("queries: [{measures: max(a), window: {range: -5 min}}]", "must be positive"),
        ("queries: [{measures: max(a), window: {range: 5 min, slide: 0 s}}]", "slide, line 1: must be positive"),
        ("queries: [{measures: max(a), window: {range: 1 month}}]", "no fixed length"),
        ("queries: [{measures: max(a), window: {range: 1 h,\n slide: 0 s}}]", "slide, line 2: must be positive"),
        ("queries: [{measures: max(a), window: {rows: 1.5}}]", "whole number"),
        ("queries: [{measures: max(a), window: {rows: 010}}]", "whole number"),
        ("queries: [{measures: max(a), window: {rows: 10, range: 1 h}}]", "no field 'range'"),
        ("queries: [{sql: SELECT 1; SELECT 2}]", "q1"),
        ("queries: [{sql: 'SELECT max(a) FROM S [ROWS 1]; SELECT max(a) FROM S [ROWS 1]'}]", "one statement"),
        ("queries: [{sql: SELECT max(a) FROM S, where: a}]", "no field 'where'"),
        ("source: T\nqueries: [{sql: 'SELECT max(a) FROM S [ROWS 1]'}]", "the workload T"),
        ("time: max(a)\n" + Q + "}]", "is no column"),
        ("a: &a [x]\nb: [*a, *a]", "aliases"),
        ("[" * 5000 + "]" * 5000, "nested deeper"),
        ("{a: " * 5000, "nested deeper"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_the_line(text, said):
    with pytest.raises(BadRequest) as refusal:
        yaml_form.queries(text)
    assert said in str(refusal.value)
    assert refusal.value.remedy
    assert refusal.value.field


def test_nine_lines_that_say_a_billion_things_are_refused_at_once():
    lines = ["a0: &a0 lol"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    with pytest.raises(BadRequest, match="aliases"):
        yaml_form.queries("\n".join(lines))


def test_two_queries_of_one_name():
    with pytest.raises(BadRequest, match="two queries have this name"):
        Workload.from_yaml(FULL.replace("id: named", "id: high"))
