"""Stats: what is known of the stream when a plan is priced."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType

import numpy as np

from weft.errors import BadRequest

_TYPE = re.compile(
    r"(tinyint|byte|smallint|short|int|integer|bigint|long|float|real|double|string|binary|boolean|date|variant|void"
    r"|timestamp(_ntz|_ltz)?|time|(decimal|dec|numeric)(\(\s*\d+\s*(,\s*\d+\s*)?\))?|(char|varchar|time)\(\s*\d+\s*\)"
    r"|string collate \w+|interval .*|(array|map|struct)\s*<.*>)$"
)


@dataclass(frozen=True)
class Stats:
    """What is known of the stream: rows per second, distinct keys of a group-by set, types of columns, and how
    large a share of the rows passes which filter.

    A type matters where subtraction would lose precision: sums of integers and decimals can use cheaper techniques
    than sums of floating-point numbers. A column whose type is not given counts as floating-point. Filters are given
    as text, `{"price > 100": 0.2}`. Where none is given, plans are priced as if nobody had a filter. Where some are, a
    filter that is not among them counts as one that every row passes, and every filter of a tree is charged for its own
    shards and answers, so that `{"price > 100": 1}` is not the price of no filter.
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
        for column, type_ in (types or {}).items():
            if not isinstance(type_, str) or not _TYPE.match(type_.strip().lower()):
                raise BadRequest(
                    f"{type_!r} is no type of Spark's", field=f"stats.types, {column}", remedy="Give one, as 'double'"
                )
        object.__setattr__(self, "types", MappingProxyType(dict(types or {})))
        shares = {_filter(text): _share(text, share) for text, share in (filters or {}).items()}
        object.__setattr__(self, "filters", MappingProxyType(shares))
        known = (tuple(sorted(self.types.items())), tuple(sorted(self.filters.items())))
        object.__setattr__(self, "_hash", hash((self.rate, self.keys, *known)))  # asked for with every price

    def __reduce__(self) -> tuple[object, ...]:
        return Stats, (self.rate, self.keys, dict(self.types), dict(self.filters))

    def __hash__(self) -> int:
        return self._hash  # type: ignore[attr-defined, no-any-return]  # no field of the value


def _filter(text: str) -> str:
    """A filter as the queries spell it once they are read."""
    from weft.queries import expressions, parse  # sqlglot is only needed once there is text to read

    try:
        return expressions.to_sql(parse.expression(text))
    except BadRequest as error:
        raise error.within(field="stats.filters") from None


def _share(text: str, share: object) -> Fraction:
    exact = _exact(share)
    if exact is None or not 0 <= exact <= 1:
        raise BadRequest(
            f"{share!r} is no share of the rows",
            field=f"stats.filters, {text}",
            remedy="Give a number from 0 to 1, as 0.2 for every fifth row",
        )
    return exact


def _positive(name: str, value: object, unit: str) -> Fraction:
    """The value as an exact fraction, which is above zero."""
    if isinstance(value, float) and not math.isfinite(value):
        raise BadRequest(f"must be a finite number, got {value}", field=f"stats.{name}", remedy=f"Give {unit}")
    exact = _exact(value)
    if exact is None:
        raise BadRequest(f"{value!r} is no number", field=f"stats.{name}", remedy=f"Give {unit}")
    if exact <= 0:
        raise BadRequest(f"must be positive, got {value}", field=f"stats.{name}", remedy=f"Give {unit}")
    return exact


def _exact(value: object) -> Fraction | None:
    """A number, Python's or NumPy's, as a fraction; a float is taken as the decimal number that it prints as.

    >>> _exact(0.1), _exact(np.int64(3)), _exact("3"), _exact(True)
    (Fraction(1, 10), Fraction(3, 1), None, None)
    """
    if isinstance(value, (bool, np.bool_)):
        return None
    if isinstance(value, (float, np.floating)):
        return Fraction(repr(float(value))) if math.isfinite(value) else None
    if isinstance(value, np.integer):
        return Fraction(int(value))
    if isinstance(value, Decimal):
        return Fraction(value) if value.is_finite() else None
    return Fraction(value) if isinstance(value, (int, Fraction)) else None
