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


Number = int | Fraction


def rolled_up(sets: Collection[Keys], partials: Callable[[Keys], Fraction]) -> Rolled:
    """All sets that are made, and each one's source; `partials` is how many of a set there are at an edge."""
    every = sorted({key for keys in sets for key in keys}, key=repr)
    bit = {key: 1 << place for place, key in enumerate(every)}  # sets as bits, since there may be a hundred of them
    finest = (1 << len(every)) - 1
    asked = {sum(bit[key] for key in keys) for keys in sets} - {finest}
    made = [finest, *sorted(asked, key=lambda some: (-some.bit_count(), some))]
    size: dict[int, Number] = {}
    source: dict[int, int] = {}

    def keys_of(some: int) -> Keys:
        return frozenset(key for key in every if bit[key] & some)

    def sized(some: int) -> Number:
        if some not in size:
            number = partials(keys_of(some))
            size[some] = number.numerator if number.denominator == 1 else number  # which are quicker to compare
        return size[some]

    def smallest_above(some: int) -> int:
        return min((other for other in made if some & other == some != other), key=sized)

    def gain(some: int) -> Number:
        its = sized(some)
        saved = sum(size[above] - its for child, above in source.items() if child & some == child and size[above] > its)
        return saved - size[smallest_above(some)]

    source = {some: smallest_above(some) for some in made[1:]}
    gains = {some: gain(some) for some in {left | right for left, right in combinations(source, 2)} - set(made)}
    while gains and max(gains.values()) > 0:
        best = max(gains, key=lambda some: (gains[some], some))
        del gains[best]
        source[best] = smallest_above(best)
        moved = [child for child in source if child & best == child != best and size[source[child]] > size[best]]
        source.update(dict.fromkeys(moved, best))
        # what reads the new set, or would be read by it, gains less or more than before
        touched = {some for some in gains if some & best in (some, best) or any(c & some == c for c in moved)}
        touched |= {best | other for other in made[1:]} - set(made) - {best}
        made.append(best)
        gains |= {some: gain(some) for some in touched}
    order = sorted(made, key=lambda some: (-some.bit_count(), made.index(some)))
    place = {some: number for number, some in enumerate(order)}
    return tuple((keys_of(some), None if some == finest else place[source[some]]) for some in order)
