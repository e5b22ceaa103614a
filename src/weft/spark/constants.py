"""Constants: ten thousand expressions that differ in nothing but their constants are one expression and a table.

    price > 100, price > 101, price > 102, ...      price > ?  with  [100, 101, 102, ...]

A Spark column costs about a millisecond to make from Python and is compiled anew, so a workload of thresholds is built
from its *shapes*: an expression with the constants that it compares with blanked. Those go to Spark as one literal
array. Other constants stay: the type of `price * 2` depends on the 2, and `LIKE` wants its ESCAPE at once.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TypeGuard

from pyspark.sql import Column
from pyspark.sql import functions as F

from weft.queries import expressions as ex
from weft.spark import columns

Row = tuple[str | None, ...]
_COMPARING = (*ex.COMPARISONS, "in", "between")
_BLANK = "blank "
"""What a blank's type begins with; no constant of a query has such a type."""


def blanked(expression: ex.Expression) -> tuple[ex.Expression, Row]:
    """The expression's shape, and its constants in reading order.

    >>> blanked(ex.Operation(">", (ex.Column(("price",)), ex.Literal("100", "int"))))[1]
    ('100',)
    """
    found: list[str | None] = []

    def blank(node: ex.Expression) -> ex.Expression:
        if isinstance(node, ex.Literal) and node.value is not None:
            found.append(node.value)
            return ex.Literal("", _BLANK + node.type)
        return ex.rewrite(node, comparison)

    def comparison(node: ex.Expression) -> ex.Expression | None:
        if isinstance(node, ex.Operation) and node.name in _COMPARING:
            return ex.Operation(node.name, tuple(blank(argument) for argument in node.arguments))
        return None

    return ex.rewrite(expression, comparison), tuple(found)


def types(shape: ex.Expression) -> list[str]:
    """The Spark types of a shape's constants."""
    return [node.type.removeprefix(_BLANK) for node in ex.walk(shape) if _is_blank(node)]


def filled(shape: ex.Expression, constants: Sequence[Column]) -> Column:
    """A shape as a Spark column, with these columns for its constants."""
    rest = iter(constants)
    return columns.column(shape, lambda node: next(rest) if _is_blank(node) else None)


def _is_blank(node: ex.Expression) -> TypeGuard[ex.Literal]:
    return isinstance(node, ex.Literal) and node.type.startswith(_BLANK)


def table(rows: Sequence[Row | None], of: Sequence[str]) -> Column:
    """An array of structs c0, c1, ... of these types: one literal, which Spark evaluates when it plans."""
    fields = [f"c{number}" for number in range(len(of))]
    text = json.dumps([None if row is None else dict(zip(fields, row, strict=True)) for row in rows])
    as_text = ", ".join(f"{field}: string" for field in fields)
    typed = ", ".join(f"{field}: {type_}" for field, type_ in zip(fields, of, strict=True))
    return F.from_json(F.lit(text), f"array<struct<{as_text}>>").cast(f"array<struct<{typed}>>")
