"""Expressions: the white list that filters, measures, group keys and HAVING are made of.

An expression is a small frozen tree of five kinds of node. There is no node for raw text, for a function that is not
listed here, or for a subquery, so whatever has become an expression is safe to run: a stranger's query can read
columns of the stream and nothing else. Text becomes a tree in `parse.py`; a tree becomes a Spark column in
`weft.spark.columns` and text again in `to_sql`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

# name -> (fewest, most) arguments; None means any number
COMPARISONS = dict.fromkeys(("=", "<>", "<", "<=", ">", ">=", "<=>"), (2, 2))
LOGIC = {"and": (2, 2), "or": (2, 2), "not": (1, 1)}
ARITHMETIC = {"+": (2, 2), "-": (2, 2), "*": (2, 2), "/": (2, 2), "%": (2, 2), "negate": (1, 1)}
TESTS = {"in": (2, None), "between": (3, 3), "like": (2, 3), "is null": (1, 1), "is not null": (1, 1)}
CHOICES = {"case": (2, None), "coalesce": (1, None)}
FUNCTIONS = {"abs": (1, 1), "lower": (1, 1), "upper": (1, 1), "length": (1, 1)}
OPERATIONS: dict[str, tuple[int, int | None]] = {**COMPARISONS, **LOGIC, **ARITHMETIC, **TESTS, **CHOICES, **FUNCTIONS}
"""Every operation there is. `case` takes condition, value, condition, value, ... and perhaps a last value."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the stream, or a field inside a struct column: `Column(("trade", "price"))`."""

    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant. `value` is its text (None for NULL), `type` its Spark type, such as `decimal(3,1)`."""

    value: str | None
    type: str


@dataclass(frozen=True, slots=True)
class Operation:
    """One of `OPERATIONS`, applied."""

    name: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Cast:
    """`CAST(argument AS type)`; `type` is a simple Spark type."""

    argument: Expression
    type: str


@dataclass(frozen=True, slots=True)
class Aggregate:
    """An aggregate over the rows of a window; `argument` is None for `count(*)`."""

    function: str
    argument: Expression | None


@dataclass(frozen=True, slots=True)
class WindowField:
    """The window itself: `window`, `start` or `end`."""

    field: str


Expression = Column | Literal | Operation | Cast | Aggregate | WindowField

WINDOW, WINDOW_START, WINDOW_END = WindowField("window"), WindowField("start"), WindowField("end")


def children(expression: Expression) -> tuple[Expression, ...]:
    """The expressions right below this one."""
    match expression:
        case Operation(_, arguments):
            return arguments
        case Cast(argument, _):
            return (argument,)
        case Aggregate(_, argument):
            return () if argument is None else (argument,)
        case _:
            return ()


def walk(expression: Expression) -> Iterator[Expression]:
    """The expression and all below it, outermost first."""
    yield expression
    for child in children(expression):
        yield from walk(child)


def aggregates(expression: Expression) -> Iterator[Aggregate]:
    """The aggregates inside an expression, in reading order."""
    return (node for node in walk(expression) if isinstance(node, Aggregate))


def columns(expression: Expression) -> Iterator[Column]:
    """The columns that an expression reads, in reading order."""
    return (node for node in walk(expression) if isinstance(node, Column))


def rewrite(expression: Expression, change: Callable[[Expression], Expression | None]) -> Expression:
    """The same tree with every node for which `change` gives another one replaced, outermost first."""
    changed = change(expression)
    if changed is not None:
        return changed
    match expression:
        case Operation(name, arguments):
            return Operation(name, tuple(rewrite(argument, change) for argument in arguments))
        case Cast(argument, type_):
            return Cast(rewrite(argument, change), type_)
        case Aggregate(function, argument) if argument is not None:
            return Aggregate(function, rewrite(argument, change))
        case _:
            return expression


def quoted(name: str) -> str:
    """A name as Spark SQL takes it whatever is in it."""
    return "`" + name.replace("`", "``") + "`"


RESERVED = frozenset({
    "select", "from", "where", "group", "having", "order", "limit", "union", "intersect", "except", "with", "on",
    "using", "join", "and", "or", "not", "in", "between", "like", "rlike", "ilike", "escape", "is", "null", "true",
    "false", "case", "when", "then", "else", "end", "as", "distinct", "all", "exists", "over", "window",
    "window_start", "window_end", "current_date", "current_time", "current_timestamp", "current_user",
    "current_catalog", "current_database", "current_schema", "localtimestamp", "session_user",
})  # fmt: skip
"""Words that are no plain names: a column called so is written in backquotes."""


def plain(name: str) -> str:
    """A name as Spark SQL takes it, in backquotes only where it needs them."""
    return name if name.isidentifier() and name.isascii() and name.lower() not in RESERVED else quoted(name)


def literal_sql(literal: Literal) -> str:
    """A constant as Spark SQL text."""
    value, type_ = literal.value, literal.type
    if value is None:
        return "NULL"
    if type_ == "string":
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'").replace("\0", "\\u0000") + "'"
    if type_ in ("date", "timestamp", "timestamp_ntz"):
        return f"{type_.upper()} '{value}'"
    suffix = {"tinyint": "Y", "smallint": "S", "bigint": "L", "float": "F", "double": "D"}.get(type_, "")
    if type_.startswith("decimal"):
        suffix = "BD"
    return f"{value}{suffix}"


_INFIX = {**COMPARISONS, "and": None, "or": None, "+": None, "-": None, "*": None, "/": None, "%": None}


def to_sql(expression: Expression, name: Callable[[Expression], str | None] = lambda _: None) -> str:
    """Spark SQL for an expression, fully parenthesised, so that reading it again gives the same tree.

    `name` may give its own text for a node (a group key's alias, say).
    """
    own = name(expression)
    if own is not None:
        return own

    def text(node: Expression) -> str:
        return to_sql(node, name)

    match expression:
        case Column(path):
            return ".".join(map(plain, path))
        case Literal():
            return literal_sql(expression)
        case Cast(argument, type_):
            return f"CAST({text(argument)} AS {type_.upper()})"
        case Aggregate(function, None):
            return f"{function}(*)"
        case Aggregate(function, argument) if argument is not None:
            return f"{function}({text(argument)})"
        case WindowField(field):
            return "window" if field == "window" else f"window.{field}"
        case Operation("negate", (Literal() as constant,)):
            return f"(- ({text(constant)}))"  # `- 5` would be read as the constant -5
        case Operation(operator, arguments):
            return _operation_sql(operator, [text(argument) for argument in arguments])
    raise AssertionError(expression)


def _operation_sql(operator: str, parts: list[str]) -> str:
    if operator in _INFIX:
        return f"({parts[0]} {operator.upper()} {parts[1]})"
    match operator:
        case "not":
            return f"(NOT {parts[0]})"
        case "negate":
            return f"(- {parts[0]})"
        case "is null" | "is not null":
            return f"({parts[0]} {operator.upper()})"
        case "in":
            return f"({parts[0]} IN ({', '.join(parts[1:])}))"
        case "between":
            return f"({parts[0]} BETWEEN {parts[1]} AND {parts[2]})"
        case "like":
            escape = f" ESCAPE {parts[2]}" if len(parts) == 3 else ""
            return f"({parts[0]} LIKE {parts[1]}{escape})"
        case "case":
            pairs = "".join(f" WHEN {parts[i]} THEN {parts[i + 1]}" for i in range(0, len(parts) - 1, 2))
            otherwise = f" ELSE {parts[-1]}" if len(parts) % 2 else ""
            return f"CASE{pairs}{otherwise} END"
        case _:
            return f"{operator}({', '.join(parts)})"


def label(expression: Expression) -> str:
    """The name that Spark gives to a column of this expression when nobody names it.

    >>> label(Aggregate("sum", Operation("*", (Column(("price",)), Column(("volume",))))))
    'sum((price * volume))'
    """
    match expression:
        case Column(path):
            return path[-1]
        case WindowField(field):
            return field
        case Cast(Column((name,)), _):
            return name  # Spark names a cast column after the column, though not a cast field of a struct
        case _:
            return _inner(expression)


def _inner(expression: Expression) -> str:
    match expression:
        case Column(path):
            return ".".join(path)
        case Literal(value, type_):
            if value is None:
                return "NULL"
            return f"{type_.upper()} '{value}'" if type_ in ("date", "timestamp", "timestamp_ntz") else value
        case Aggregate(function, None):
            return f"{function}(1)"
        case Operation(operator, arguments):
            parts = [_inner(argument) for argument in arguments]
            if operator == "<>":
                return f"(NOT ({parts[0]} = {parts[1]}))"
            if operator == "between":
                return f"between({', '.join(parts)})"
            if operator == "like":
                escape = f" ESCAPE '{parts[2]}'" if len(parts) == 3 else ""
                return f"{parts[0]} LIKE {parts[1]}{escape}"
            return _operation_sql(operator, parts)
        case _:
            return to_sql(expression, lambda node: None if node is expression else _inner(node))
