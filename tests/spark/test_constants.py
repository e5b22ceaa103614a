"""Shapes: expressions that differ in the constants they compare with are one, and nothing else is taken out."""

from __future__ import annotations

import pytest

from weft.queries import expressions as ex
from weft.queries.parse import expression
from weft.spark import constants


@pytest.mark.parametrize(
    ("left", "right", "taken"),
    [
        ("x > 1", "x > 2", ("1",)),
        ("name = 'a'", "name = ''", ("a",)),
        ("x BETWEEN 1 AND 2 AND name IN ('a', 'b')", "x BETWEEN 3 AND 4 AND name IN ('c', 'd')", ("1", "2", "a", "b")),
        ("NOT (x = 1 OR x IS NULL)", "NOT (x = 5 OR x IS NULL)", ("1",)),
        ("1.5 < x", "2.5 < x", ("1.5",)),
        ("(x > 1) = (y > 2)", "(x > 3) = (y > 4)", ("1", "2")),
    ],
)
def test_compared_constants_are_blanked(left: str, right: str, taken: tuple[str, ...]) -> None:
    shape, row = constants.blanked(expression(left))
    assert row == taken
    assert constants.blanked(expression(right))[0] == shape
    assert constants.types(shape) == [node.type for node in ex.walk(expression(left)) if isinstance(node, ex.Literal)]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("x > 1", "x > 1.0"),  # another type
        ("x > 1", "x >= 1"),
        ("price * 2 > 1", "price * 3 > 1"),  # the type of a product depends on its literal
        ("name LIKE 'a/%' ESCAPE '/'", "name LIKE 'a!%' ESCAPE '!'"),  # Spark wants the character at once
        ("x IN (1, 2)", "x IN (1, 2, 3)"),
        ("x = NULL", "x = 1"),
        ("coalesce(name, '') = 'a'", "coalesce(name, 'b') = 'a'"),
    ],
)
def test_other_constants_make_another_shape(left: str, right: str) -> None:
    assert constants.blanked(expression(left))[0] != constants.blanked(expression(right))[0]


def test_what_is_not_compared_stays() -> None:
    shape, row = constants.blanked(expression("price * 2 > 100 AND name LIKE 'a%'"))
    assert row == ("100",)
    stays = [node for node in ex.walk(shape) if isinstance(node, ex.Literal) and node.value]
    assert stays == [ex.Literal("2", "int"), ex.Literal("a%", "string")]
