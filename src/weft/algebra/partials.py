"""Partials: what a slice keeps so that every aggregate over any run of slices can be answered.

    avg(x) = sum(x) / count(x)      so avg, sum and count of one column cost one set of partials
    stddev_pop(x) = sqrt(M2 / n)    of the moments (n, mean, M2), merged as Chan, Golub and LeVeque do

An aggregate is distributive or algebraic here (Gray et al.): a fixed number of partials, whatever the window.
What a technique may do with a partial depends on the laws it obeys, and those depend on the type of its argument:
sums of integers and decimals can be subtracted without losing a digit, sums of floating-point numbers cannot
(1e16 + 1 - 1e16 is 0). Where the type is not known, the weaker law counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from weft.queries import expressions as ex


class Law(StrEnum):
    """What can be relied on when partials are combined. All are associative and commutative."""

    INVERTIBLE = "invertible without losing precision"
    SELECTIVE = "selective"
    RANKED = "a quantile of values"


@dataclass(frozen=True, slots=True)
class Partial:
    """One thing to keep per slice: `kind` is rows, count, sum, min, max or moments."""

    kind: str
    argument: ex.Expression | None

    def __str__(self) -> str:
        return "count(*)" if self.argument is None else f"{self.kind}({ex.to_sql(self.argument)})"


_KINDS: Mapping[str, tuple[str, ...]] = {
    "sum": ("sum",),
    "min": ("min",),
    "max": ("max",),
    "avg": ("sum", "count"),
    "var_pop": ("moments",),
    "var_samp": ("moments",),
    "stddev_pop": ("moments",),
    "stddev_samp": ("moments",),
}


def partials(aggregate: ex.Aggregate) -> tuple[Partial, ...]:
    """The partials that an aggregate is answered from."""
    if aggregate.function == "count":
        kind = "rows" if aggregate.argument is None else "count"
        return (Partial(kind, aggregate.argument),)
    return tuple(Partial(kind, aggregate.argument) for kind in _KINDS[aggregate.function])


_EXACT = ("tinyint", "smallint", "int", "bigint", "decimal")


def is_exact(type_: str | None) -> bool:
    """Whether sums over this Spark type can be subtracted without losing a digit; False where it is not known."""
    return type_ is not None and type_.startswith(_EXACT)


def known_as(column: ex.Column) -> str:
    """A column's name in `Stats.types`: dotted for a field of a struct, quoted where a dot belongs to the name."""
    return ex.to_sql(column) if any("." in part for part in column.path) else ".".join(column.path)


def laws(partial: Partial, types: Mapping[str, str]) -> frozenset[Law]:
    """The laws that a partial obeys, given the Spark types of the stream's columns as far as they are known."""
    match partial.kind:
        case "rows" | "count":
            return frozenset({Law.INVERTIBLE})
        case "sum" if isinstance(partial.argument, ex.Column) and is_exact(types.get(known_as(partial.argument))):
            return frozenset({Law.INVERTIBLE})
        case "min" | "max":
            return frozenset({Law.SELECTIVE})
        case _:
            return frozenset()


def lacking(partial: Partial, law: Law, types: Mapping[str, str]) -> str | None:
    """Why a partial does not obey a law, in words; None if it does."""
    if law in laws(partial, types):
        return None
    if partial.kind == "sum" and law is Law.INVERTIBLE:
        known = isinstance(partial.argument, ex.Column) and types.get(known_as(partial.argument))
        why = f"is over {known}" if known else "may be over floating-point numbers"
        return f"{partial} {why}, so it is not {law}"
    return f"{partial} is not {law}"
