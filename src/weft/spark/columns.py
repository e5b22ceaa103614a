"""Columns: expressions as Spark columns, node by node. No text of a query ever reaches Spark's parser.

(Whole numbers do, having been numbers in between: PySpark has no other way to say a literal of type bigint.)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

from pyspark.sql import Column
from pyspark.sql import functions as F

from weft.queries import expressions as ex

Resolve = Callable[[ex.Expression], Column | None]

_BINARY: dict[str, Callable[[Column, Column], Column]] = {
    "=": lambda a, b: a == b,
    "<>": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "<=>": lambda a, b: a.eqNullSafe(b),
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "%": lambda a, b: a % b,
}
_UNARY: dict[str, Callable[[Column], Column]] = {
    "not": lambda a: ~a,
    "negate": lambda a: -a,
    "is null": lambda a: a.isNull(),
    "is not null": lambda a: a.isNotNull(),
    "abs": F.abs,
    "lower": F.lower,
    "upper": F.upper,
    "length": F.length,
}
_AGGREGATES: dict[str, Callable[[Column], Column]] = {
    "count": F.count,
    "sum": F.sum,
    "min": F.min,
    "max": F.max,
    "avg": F.avg,
    "var_pop": F.var_pop,
    "var_samp": F.var_samp,
    "stddev_pop": F.stddev_pop,
    "stddev_samp": F.stddev_samp,
}


def column(expression: ex.Expression, resolve: Resolve = lambda _: None) -> Column:
    """A Spark column; `resolve` may give its own for a node, such as the column that holds an aggregate's answer."""
    own = resolve(expression)
    if own is not None:
        return own
    match expression:
        case ex.Column(path):
            return F.col(".".join(ex.quoted(part) for part in path))
        case ex.Literal():
            return _literal(expression)
        case ex.Cast(argument, type_):
            return column(argument, resolve).cast(type_)
        case ex.Aggregate(_, None):
            return F.count(F.lit(1))
        case ex.Aggregate(function, argument) if argument is not None:
            return _AGGREGATES[function](column(argument, resolve))
        case ex.Operation(name, arguments):
            return _operation(name, [column(argument, resolve) for argument in arguments])
    raise AssertionError(f"{expression} has no column of its own")


def _literal(literal: ex.Literal) -> Column:
    """A constant of exactly its type, which Spark takes for a constant where that makes a difference.

    The type of `price * 2` over decimals depends on the digits of the 2, if it is a literal and no cast to int.
    """
    match literal.type:
        case _ if literal.value is None:
            return F.lit(None)
        case "int":
            return F.lit(int(literal.value))
        case "smallint":
            return F.expr(f"{int(literal.value)}S")
        case "bigint":
            return F.expr(f"{int(literal.value)}L")
        case "string":
            return F.lit(literal.value)
        case _:
            return F.lit(literal.value).cast(literal.type)


def _operation(name: str, arguments: list[Column]) -> Column:
    if name in _BINARY:
        return _BINARY[name](*arguments)
    if name in _UNARY:
        return _UNARY[name](*arguments)
    first, *rest = arguments
    match name:
        case "in":
            return first.isin(*rest)
        case "between":
            return first.between(*rest)
        case "like":
            return F.like(first, *rest)
        case "coalesce":
            return F.coalesce(*arguments)
        case "case":
            pairs = [(arguments[i], arguments[i + 1]) for i in range(0, len(arguments) - 1, 2)]
            chain = reduce(lambda built, pair: built.when(*pair), pairs[1:], F.when(*pairs[0]))
            return chain.otherwise(arguments[-1]) if len(arguments) % 2 else chain
    raise AssertionError(f"operation {name} has no column")
