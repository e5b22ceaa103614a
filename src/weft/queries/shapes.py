"""Shapes: an expression with the constants that it compares with blanked.

    price > 100, price > 101, price > 102, ...      price > ?  with  [100, 101, 102, ...]

Other constants stay: the type of `price * 2` depends on the 2, and `LIKE` wants its ESCAPE at once.
"""

from __future__ import annotations

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
