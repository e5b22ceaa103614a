"""Stats: what is known of the stream when a plan is priced."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType

from weft.errors import BadRequest


@dataclass(frozen=True)
class Stats:
    """What is known of the stream: rows per second, distinct keys of a group-by set, types of columns, and how
    large a share of the rows passes which filter.

    A type matters where subtraction would lose precision: sums of integers and decimals can use cheaper techniques
    than sums of floating-point numbers. A column whose type is not given counts as floating-point. Filters are given
    as text, `{"price > 100": 0.2}`; a filter that is not given counts as one that every row passes.
    """

    rate: Fraction = Fraction(1)
    keys: int = 1
    types: Mapping[str, str] = field(default_factory=dict)
    filters: Mapping[str, Fraction] = field(default_factory=dict)

    def __init__(
        self,
        rate: float | Fraction = 1,
        keys: int = 1,
        types: Mapping[str, str] | None = None,
        filters: Mapping[str, float | Fraction] | None = None,
    ):
        object.__setattr__(self, "rate", _positive("rate", rate, "rows per second"))
        count = _positive("keys", keys, "distinct keys")
        if count.denominator != 1:
            raise BadRequest(f"{keys!r} is no whole number", field="stats.keys", remedy="Give the number of keys")
        object.__setattr__(self, "keys", int(count))
        object.__setattr__(self, "types", MappingProxyType(dict(types or {})))
        shares = {_filter(text): _share(text, share) for text, share in (filters or {}).items()}
        object.__setattr__(self, "filters", MappingProxyType(shares))
        known = (tuple(sorted(self.types.items())), tuple(sorted(self.filters.items())))
        object.__setattr__(self, "_hash", hash((self.rate, self.keys, *known)))  # asked for with every price

    def __hash__(self) -> int:
        return self._hash  # type: ignore[attr-defined, no-any-return]  # no field of the value


def _filter(text: str) -> str:
    """A filter as the queries spell it once they are read."""
    from weft.queries import expressions, parse  # sqlglot is only needed once there is text to read

    try:
        return expressions.to_sql(parse.expression(text))
    except BadRequest as error:
        raise error.within(field="stats.filters") from None


def _share(text: str, share: float | Fraction) -> Fraction:
    if isinstance(share, bool) or not isinstance(share, (int, float, Fraction)) or not 0 <= share <= 1:
        raise BadRequest(
            f"{share!r} is no share of the rows",
            field=f"stats.filters, {text}",
            remedy="Give a number from 0 to 1, as 0.2 for every fifth row",
        )
    return Fraction(repr(share)) if isinstance(share, float) else Fraction(share)


def _positive(name: str, value: float | Fraction, unit: str) -> Fraction:
    """The value as an exact fraction; a float is taken as the decimal number that it prints as."""
    if isinstance(value, bool) or not isinstance(value, (int, float, Fraction)):
        raise BadRequest(f"{value!r} is no number", field=f"stats.{name}", remedy=f"Give {unit}")
    if isinstance(value, float) and not math.isfinite(value):
        raise BadRequest(f"must be a finite number, got {value}", field=f"stats.{name}", remedy=f"Give {unit}")
    exact = Fraction(repr(value)) if isinstance(value, float) else Fraction(value)
    if exact <= 0:
        raise BadRequest(f"must be positive, got {value}", field=f"stats.{name}", remedy=f"Give {unit}")
    return exact
