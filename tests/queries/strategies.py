"""Random expressions, windows and queries, for properties that must hold for all of them."""

from __future__ import annotations

from hypothesis import assume
from hypothesis import strategies as st

from weft.errors import BadRequest
from weft.queries import expressions as ex
from weft.queries.constants import number
from weft.queries.query import AGGREGATES, Measure, Query
from weft.queries.window import Window

CHARACTERS = st.characters(exclude_characters="\0", exclude_categories=["Cs"])
TRICKY = [
    "price",
    "Price",
    "symbol",
    "odd name",
    "select",
    "window",
    "window_start",
    "end",
    "a`b",
    "é",
    "t",
    "1a",
    "x.y",
]
TYPES = ["tinyint", "smallint", "int", "bigint", "float", "double", "string", "boolean", "date", "timestamp",
         "timestamp_ntz", "decimal(10,0)", "decimal(38,18)", "decimal(3,3)"]  # fmt: skip

names = st.sampled_from(["price", "volume", "symbol"]) | st.sampled_from(TRICKY) | st.text(CHARACTERS, min_size=1)
columns = st.lists(names, min_size=1, max_size=3).map(lambda path: ex.Column(tuple(path)))


def _integers(type_: str, bits: int, beyond: int = 0) -> st.SearchStrategy[ex.Literal]:
    values = st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1).filter(lambda v: v < 0 or v >= beyond)
    return values.map(lambda value: ex.Literal(str(value), type_))


_decimals = st.decimals(allow_nan=False, allow_infinity=False, places=4, min_value=-(10**12), max_value=10**12)
_clocks = st.datetimes().map(lambda moment: moment.isoformat(" ").partition(".")[0])
literals = st.one_of(
    _integers("tinyint", 8),
    _integers("smallint", 16),
    _integers("int", 32),
    _integers("bigint", 64),
    _decimals.map(lambda value: number(f"{value:f}BD")),
    st.floats(allow_nan=False, allow_infinity=False).map(lambda value: number(f"{value!r}D")),
    st.floats(allow_nan=False, allow_infinity=False, width=32).map(lambda value: number(f"{value!r}F")),
    st.text(st.characters(exclude_categories=["Cs"])).map(lambda text: ex.Literal(text, "string")),
    st.sampled_from(["\\", "'", "\\'", "%\\%", '"', "--", "/*", "*/", ";", "\0001"]).map(
        lambda text: ex.Literal(text, "string")
    ),
    st.sampled_from([ex.Literal("true", "boolean"), ex.Literal("false", "boolean"), ex.Literal(None, "void")]),
    st.dates().map(lambda day: ex.Literal(day.isoformat(), "date")),
    _clocks.map(lambda text: ex.Literal(text, "timestamp")),
    _clocks.map(lambda text: ex.Literal(text, "timestamp_ntz")),
    _clocks.map(lambda text: ex.Literal(f"{text}.25+02:00", "timestamp")),
)


def _above(inner: st.SearchStrategy[ex.Expression]) -> st.SearchStrategy[ex.Expression]:
    def operation(name: str) -> st.SearchStrategy[ex.Expression]:
        fewest, most = ex.OPERATIONS[name]
        if name == "like":
            escape = st.characters(exclude_categories=["Cs"]).map(lambda char: ex.Literal(char, "string"))
            three = st.tuples(inner, inner, escape)
            return (st.tuples(inner, inner) | three).map(lambda parts: ex.Operation(name, parts))
        lists = st.lists(inner, min_size=fewest, max_size=fewest + 3 if most is None else most)
        return lists.map(lambda parts: ex.Operation(name, tuple(parts)))

    casts = st.builds(ex.Cast, inner, st.sampled_from(TYPES))
    return st.sampled_from(sorted(ex.OPERATIONS)).flatmap(operation) | casts


scalars = st.recursive(columns | literals, _above, max_leaves=8)
"""Expressions over one row: what filters, keys and the arguments of aggregates are."""

aggregates = st.just(ex.Aggregate("count", None)) | st.builds(
    ex.Aggregate, st.sampled_from(AGGREGATES), scalars
).filter(lambda aggregate: aggregate != ex.Aggregate("count", ex.Literal("1", "int")))
window_fields = st.sampled_from([ex.WINDOW, ex.WINDOW_START, ex.WINDOW_END])
expressions = st.recursive(columns | literals | aggregates | window_fields, _above, max_leaves=8)
"""Any expression at all."""


def _time_windows(unit: int) -> st.SearchStrategy[Window]:
    sizes = st.integers(1, 100).map(lambda size: size * unit)
    return st.builds(
        Window.of, sizes, sizes, st.integers(-5, 5).map(lambda o: o * unit), st.just(0) | st.integers(0, 5)
    )


windows = st.one_of(
    _time_windows(60_000_000),
    _time_windows(86_400_000_000),
    _time_windows(1),
    st.builds(Window.rows, st.integers(1, 1000), st.integers(1, 1000), st.integers(-5, 5)),
)
ids = st.text(CHARACTERS, min_size=1).filter(lambda text: text == text.strip() and not set("\r\n") & set(text))


@st.composite
def queries(draw: st.DrawFn) -> Query:
    """Any query: with and without keys, a filter, HAVING, a time column, a stream and columns of its own."""
    keys = draw(st.lists(columns | scalars, max_size=2))
    inside = st.recursive(st.one_of(aggregates, literals, window_fields, *map(st.just, keys)), _above, max_leaves=4)

    def measured(part: ex.Expression, aggregate: ex.Aggregate) -> ex.Expression:
        return ex.Operation("+", (part, aggregate))

    answers = aggregates | st.builds(measured, inside, aggregates)
    named = st.builds(Measure, names, answers) | answers.map(lambda answer: Measure(ex.label(answer), answer))
    others = st.one_of(window_fields, literals, *map(st.just, keys))
    shown = st.builds(Measure, names, others) | others.map(lambda other: Measure(ex.label(other), other))
    measures = draw(st.lists(named, min_size=1, max_size=3))
    listed = draw(
        st.just([]) | st.lists(shown, max_size=3).map(lambda more: [*more, *measures]).flatmap(st.permutations)
    )
    try:
        return Query(
            draw(ids),
            measures,
            draw(windows),
            draw(st.none() | scalars),
            keys,
            draw(st.none() | inside),
            draw(st.none() | columns),
            draw(st.none() | st.sampled_from(["trades", "stream", "Stream", "price", "db.trades", "odd stream", "t"])),
            listed,
        )
    except BadRequest:  # two columns of one name, mostly
        assume(False)
        raise
