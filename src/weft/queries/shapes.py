"""Shapes: an expression with the constants that it compares with blanked.

    price > 100, price > 101, price > 102, ...      price > ?  with  [100, 101, 102, ...]

Other constants stay: the type of `price * 2` depends on the 2, and `LIKE` wants its ESCAPE at once.

Constants of one shape are of one type. Where plain columns of numbers are compared, all whole and decimal numbers are
of one loose shape: Spark compares a column with 100, with 100.5 and with a long decimal of either value alike.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeGuard

from weft.queries import expressions as ex

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
    return [node.type.removeprefix(_BLANK) for node in ex.walk(shape) if is_blank(node)]


def is_blank(node: ex.Expression) -> TypeGuard[ex.Literal]:
    """Whether a node stands for a constant."""
    return isinstance(node, ex.Literal) and node.type.startswith(_BLANK)


_LOOSE = "decimal(38,18)"
_WHOLE = ("tinyint", "smallint", "int", "bigint")
_PLAIN = (*_COMPARING, "and", "or", "not", "is null", "is not null")


def loosely_blanked(expression: ex.Expression, types: Mapping[ex.Column, str]) -> tuple[ex.Expression, Row]:
    """The expression's loose shape, where its columns are of types that allow it, and its constants.

    >>> x, types = ex.Column(("x",)), {ex.Column(("x",)): "double"}
    >>> whole = ex.Operation(">", (x, ex.Literal("100", "int")))
    >>> part = ex.Operation(">", (x, ex.Literal("0.25", "decimal(2,2)")))
    >>> loosely_blanked(whole, types)[0] == loosely_blanked(part, types)[0] != loosely_blanked(part, {})[0]
    True
    """
    shape, row = blanked(expression)
    for node in ex.walk(shape):
        match node:
            case ex.Column():
                plain = _compares_alike(types.get(node, ""))
            case ex.Operation(name, _):
                plain = name in _PLAIN
            case _:
                plain = is_blank(node)
        if not plain:
            return shape, row
    if not all(re.fullmatch(r"-?\d{1,20}(\.\d{1,18})?", value or "") for value in row):
        return shape, row

    def loose(node: ex.Expression) -> ex.Expression | None:
        if is_blank(node) and node.type.removeprefix(_BLANK).startswith((*_WHOLE, "decimal")):
            return ex.Literal("", _BLANK + _LOOSE)
        return None

    return ex.rewrite(shape, loose), row


def _compares_alike(type_: str) -> bool:
    """Whether values of a Spark type compare with any decimal of twenty digits before the point and 18 behind."""
    if type_.startswith("decimal"):
        precision, scale = map(int, type_[8:-1].split(","))
        return precision - scale <= 20 and scale <= 18
    return type_ in (*_WHOLE, "double")
