"""Stats: what is known of the stream when a plan is priced."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType

import numpy as np

from weft.errors import BadRequest, shown
from weft.queries import expressions

Keys = frozenset[expressions.Expression]
"""What is grouped by, in whatever order."""

_TYPE = re.compile(
    r"(tinyint|byte|smallint|short|int|integer|bigint|long|float|real|double|string|binary|boolean|date|variant|void"
    r"|timestamp(_ntz|_ltz)?|time|(decimal|dec|numeric)(\(\s*\d+\s*(,\s*\d+\s*)?\))?|(char|varchar|time)\(\s*\d+\s*\)"
    r"|string collate \w+|interval .*|(array|map|struct)\s*<.*>)$"
)
_EXAMPLES = {"types": '{"price": "double"}', "filters": '{"price > 100": 0.2}'}


@dataclass(frozen=True)
class Stats:
    """What is known of the stream: rows per second, distinct keys, types of columns, and how large a share of the
    rows passes which filter.

    `keys` is one number, that of the groups of every GROUP BY; then only queries with the same keys share a tree, since
    it is not known what others have in common. Or it says how many values there are of what is grouped by,
    `{"symbol": 1_000, "venue": 12, "symbol, venue": 9_000}`: then a tree may group by `symbol, venue` and add up the
    symbols and the venues from that. A set that is not there has as many groups as the smallest product that covers it.

    A type matters where subtraction would lose precision: sums of integers and decimals can use cheaper techniques
    than sums of floating-point numbers. A column whose type is not given counts as floating-point. Filters are given
    as text, `{"price > 100": 0.2}`. Where none is given, plans are priced as if nobody had a filter. Where some are, a
    filter that is not among them counts as one that every row passes, and every filter of a tree is charged for its own
    shards and answers, so that `{"price > 100": 1}` is not the price of no filter.
    """

    rate: Fraction = Fraction(1)
    keys: int | Mapping[str, int] = 1
    types: Mapping[str, str] = field(default_factory=dict)
    filters: Mapping[str, Fraction] = field(default_factory=dict)

    def __init__(
        self,
        rate: float | Fraction = 1,
        keys: int | Mapping[str, int] = 1,
        types: Mapping[str, str] | None = None,
        filters: Mapping[str, float | Fraction] | None = None,
    ):
        object.__setattr__(self, "rate", _positive("rate", rate, "rows per second"))
        counted, sets = _counted(keys)
        object.__setattr__(self, "keys", counted)
        object.__setattr__(self, "_sets", sets)
        for name, given in (("types", types), ("filters", filters)):
            if given is not None and not isinstance(given, Mapping):
                raise BadRequest(
                    f"{shown(given)} is no mapping", field=f"stats.{name}", remedy=f"Give a dict, as {_EXAMPLES[name]}"
                )
        for column, type_ in (types or {}).items():
            if not isinstance(type_, str) or not _TYPE.match(type_.strip().lower()):
                raise BadRequest(
                    f"{type_!r} is no type of Spark's", field=f"stats.types, {column}", remedy="Give one, as 'double'"
                )
        object.__setattr__(self, "types", MappingProxyType(dict(types or {})))
        shares = {_filter(text): _share(text, share) for text, share in (filters or {}).items()}
        object.__setattr__(self, "filters", MappingProxyType(shares))
        known = (tuple(sorted(self.types.items())), tuple(sorted(self.filters.items())))
        told = self.keys if isinstance(self.keys, int) else tuple(sorted(self.keys.items()))
        object.__setattr__(self, "_hash", hash((self.rate, told, *known)))  # asked for with every price

    def __reduce__(self) -> tuple[object, ...]:
        return Stats, (self.rate, self.known_keys, dict(self.types), dict(self.filters))

    @property
    def known_keys(self) -> int | dict[str, int]:
        """The keys as they were given, less how they were spelled."""
        return self.keys if isinstance(self.keys, int) else dict(self.keys)

    @property
    def unites(self) -> bool:
        """Whether it is known how many groups several GROUP BYs have together."""
        return not isinstance(self.keys, int)

    def groups(self, keys: Keys) -> int:
        """How many groups there are by these keys."""
        if not keys:
            return 1
        return self.keys if isinstance(self.keys, int) else _least_product(self, keys)

    def __hash__(self) -> int:
        return self._hash  # type: ignore[attr-defined, no-any-return]  # no field of the value


def _counted(keys: object) -> tuple[int | Mapping[str, int], tuple[tuple[Keys, int], ...]]:
    """Checked keys; and where several are named, the sets with their numbers."""
    if not isinstance(keys, Mapping):
        return _count(keys), ()
    from weft.queries import parse  # sqlglot is only needed once there is text to read

    found: dict[str, int] = {}
    sets: dict[Keys, int] = {}
    for text, number in keys.items():
        try:
            several = parse.expressions(text)
        except BadRequest as error:
            raise error.within(field="stats.keys") from None
        spelled = ", ".join(expressions.to_sql(key) for key in several)
        if any(isinstance(node, expressions.Aggregate) for key in several for node in expressions.walk(key)):
            raise BadRequest(
                f"nothing groups by '{spelled}'", field="stats.keys", remedy="Name columns, as in a query's GROUP BY"
            )
        if in_lower_case(several) in sets:
            raise BadRequest(f"'{spelled}' is there twice", field="stats.keys", remedy="Give one number of them")
        found[spelled] = sets[in_lower_case(several)] = _count(number, f"keys, {spelled}")
    return MappingProxyType(found), tuple(sets.items())


def in_lower_case(keys: Iterable[expressions.Expression]) -> Keys:
    """The keys, whichever way their columns are spelled."""

    def lower(node: expressions.Expression) -> expressions.Expression | None:
        if isinstance(node, expressions.Column):
            return expressions.Column(tuple(part.lower() for part in node.path))
        return None

    return frozenset(expressions.rewrite(key, lower) for key in keys)


def _count(value: object, name: str = "keys") -> int:
    exact = _positive(name, value, "distinct keys")
    if exact.denominator != 1:
        raise BadRequest(f"{value!r} is no whole number", field=f"stats.{name}", remedy="Give the number of keys")
    return int(exact)


@lru_cache(maxsize=1 << 16)
def _least_product(stats: Stats, keys: Keys) -> int:
    """The smallest product of known sets that together hold the keys.

    Key by key: whoever does not hold it yet takes one of the sets that have it. So of single keys there is one way.
    """
    sets: tuple[tuple[Keys, int], ...] = stats._sets  # type: ignore[attr-defined]  # no field of the value
    keys = in_lower_case(keys)
    useful: dict[Keys, int] = {}
    for known, count in sets:
        if known & keys:
            useful[known & keys] = min(count, useful.get(known & keys, count))
    unknown = sorted(map(expressions.to_sql, keys.difference(*useful)))
    if unknown:
        raise BadRequest(
            f"it is not said how many values there are of {', '.join(unknown)}",
            field="stats.keys",
            remedy=f"Add {', '.join(map(repr, unknown))} to keys, or give one number for every GROUP BY",
        )
    least: dict[Keys, int] = {frozenset(): 1}
    for key in keys:
        having = [(known, count) for known, count in useful.items() if key in known]
        more: dict[Keys, int] = {}
        for covered, product in least.items():
            for known, count in [(covered, 1)] if key in covered else having:
                both = covered | known
                more[both] = min(product * count, more.get(both, product * count))
        least = more
    return least[keys]


def _filter(text: str) -> str:
    """A filter as the queries spell it once they are read."""
    from weft.queries import parse  # sqlglot is only needed once there is text to read

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
