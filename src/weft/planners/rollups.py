"""Roll-ups: how the group-by sets of a tree are made of each other.

The rows are grouped once, by all keys together; what each set wants is added up at every edge from the smallest set
that has its keys (a roll-up, as in Gray et al., "Data Cube", Data Mining and Knowledge Discovery 1997):

    rows -> {symbol, venue, side} -> {symbol, venue} -> {symbol}
                                  \\                  -> {venue}
                                   -> {side}

A set that nobody asks for, {symbol, venue} above, is made all the same where several that are read from it gain more
than it costs (a phantom: Zhang et al., "Multiple Aggregations over Data Streams", SIGMOD 2005). Phantoms are added
greedily, the one first that saves most, as long as one does.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from fractions import Fraction
from itertools import combinations

from weft.plans.stats import Keys

Rolled = tuple[tuple[Keys, int | None], ...]
"""Sets, each with the place of the one it is made from, which stands before it; None for the first, made of rows."""


def rolled_up(sets: Collection[Keys], partials: Callable[[Keys], Fraction]) -> Rolled:
    """All sets that are made, and each one's source; `partials` is how many of a set there are at an edge."""
    finest: Keys = frozenset(key for keys in sets for key in keys)
    asked = sorted(set(sets) - {finest}, key=lambda keys: (-len(keys), sorted(map(repr, keys))))
    if not asked:
        return ((finest, None),)
    size = {keys: partials(keys) for keys in (finest, *asked)}
    made = [finest, *asked]

    def source(keys: Keys) -> Keys:
        return min((other for other in made if keys < other), key=lambda other: size[other])

    def gain(keys: Keys) -> Fraction:
        saved = (size[source(child)] - size[keys] for child in made if child < keys)
        return sum((each for each in saved if each > 0), Fraction(0)) - size[source(keys)]

    while True:
        phantoms = {left | right for left, right in combinations(made[1:], 2)} - set(made)
        for keys in phantoms:
            if keys not in size:
                size[keys] = partials(keys)
        best = max(phantoms, key=lambda keys: (gain(keys), sorted(map(repr, keys))), default=None)
        if best is None or gain(best) <= 0:
            break
        made.append(best)
    order = sorted(made, key=lambda keys: (-len(keys), made.index(keys)))
    return tuple((keys, None if keys == finest else order.index(source(keys))) for keys in order)
