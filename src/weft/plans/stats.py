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
    """Rows per second, distinct keys of a group-by set, and the Spark types of columns where they are known.

    A type matters where subtraction would lose precision: sums of integers and decimals can use cheaper techniques
    than sums of floating-point numbers. A column whose type is not given counts as floating-point.
    """

    rate: Fraction = Fraction(1)
    keys: int = 1
    types: Mapping[str, str] = field(default_factory=dict)

    def __init__(self, rate: float | Fraction = 1, keys: int = 1, types: Mapping[str, str] | None = None):
        object.__setattr__(self, "rate", _positive("rate", rate, "rows per second"))
        count = _positive("keys", keys, "distinct keys")
        if count.denominator != 1:
            raise BadRequest(f"{keys!r} is no whole number", field="stats.keys", remedy="Give the number of keys")
        object.__setattr__(self, "keys", int(count))
        object.__setattr__(self, "types", MappingProxyType(dict(types or {})))

    def __hash__(self) -> int:
        return hash((self.rate, self.keys, tuple(sorted(self.types.items()))))


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
