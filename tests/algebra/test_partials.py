"""Which partials an aggregate keeps, which of them are shared, and which laws they obey."""

from __future__ import annotations

import pytest

from weft.algebra.partials import Law, Partial, is_exact, lacking, laws, partials
from weft.queries import expressions as ex
from weft.queries.query import AGGREGATES

X, Y = ex.Column(("x",)), ex.Column(("y",))


def kept(*aggregates: ex.Aggregate) -> set[Partial]:
    return {partial for aggregate in aggregates for partial in partials(aggregate)}


def test_sum_count_and_avg_of_a_column_cost_two() -> None:
    together = [ex.Aggregate(function, X) for function in ("avg", "sum", "count")]
    assert kept(*together) == {Partial("sum", X), Partial("count", X)}


def test_all_spreads_of_a_column_cost_one() -> None:
    spreads = [ex.Aggregate(function, X) for function in ("var_pop", "var_samp", "stddev_pop", "stddev_samp")]
    assert kept(*spreads) == {Partial("moments", X)}


def test_columns_share_nothing() -> None:
    assert len(kept(ex.Aggregate("sum", X), ex.Aggregate("sum", Y))) == 2


def test_count_of_rows_is_not_count_of_values() -> None:
    assert kept(ex.Aggregate("count", None), ex.Aggregate("count", X)) == {Partial("rows", None), Partial("count", X)}


@pytest.mark.parametrize("function", AGGREGATES)
def test_every_aggregate_has_partials(function: str) -> None:
    assert partials(ex.Aggregate(function, X))


@pytest.mark.parametrize(
    ("type_", "exact"),
    [
        ("tinyint", True), ("smallint", True), ("int", True), ("bigint", True), ("decimal(10,2)", True),
        ("decimal(38,18)", True), ("float", False), ("double", False), ("string", False), (None, False),
    ],
)  # fmt: skip
def test_what_can_be_subtracted(type_: str | None, exact: bool) -> None:
    assert is_exact(type_) is exact
    types = {} if type_ is None else {"x": type_}
    assert (Law.INVERTIBLE in laws(Partial("sum", X), types)) is exact


def test_laws_by_kind() -> None:
    assert laws(Partial("rows", None), {}) == {Law.INVERTIBLE}
    assert laws(Partial("count", X), {"x": "double"}) == {Law.INVERTIBLE}
    assert laws(Partial("min", X), {"x": "int"}) == laws(Partial("max", X), {}) == {Law.SELECTIVE}
    assert laws(Partial("moments", X), {"x": "int"}) == set()


def test_a_type_is_known_by_the_whole_path() -> None:
    nested = ex.Column(("trade", "x"))
    assert laws(Partial("sum", nested), {"trade.x": "int", "x": "double"}) == {Law.INVERTIBLE}
    assert laws(Partial("sum", nested), {"x": "int"}) == set()


def test_an_expression_may_be_anything() -> None:
    """`x + 1` of an int is an int, but nobody has said so."""
    assert laws(Partial("sum", ex.Operation("+", (X, ex.Literal("1", "int")))), {"x": "int"}) == set()


def test_a_law_that_is_lacking_is_told() -> None:
    assert lacking(Partial("sum", X), Law.INVERTIBLE, {"x": "int"}) is None
    told = lacking(Partial("sum", X), Law.INVERTIBLE, {"x": "double"})
    assert told == "sum(x) is over double, so it is not invertible without losing precision"
    assert lacking(Partial("rows", None), Law.SELECTIVE, {}) == "count(*) is not selective"
