"""Signed map: inclusion and exclusion with equal intersections merged.

    multiples of 4 and 6          {4: +1, 6: +1, 12: -1}
    and of 3                      {4: +1, 6: +1 -1, 3: +1, 12: -1 -1 +1}   =   {4: +1, 3: +1, 12: -1}

A map from classes to signed counts says how often each intersection is added and taken away. A class joins by meeting
all that are there; terms that meet in the same class merge, and most cancel. The counts are the Moebius function of
the lattice of intersections (Rota, "On the foundations of combinatorial theory I", 1964), so a map is as large as
that lattice at most, where F1 has 2^n terms: slides that divide one long slide have as many entries as it has
divisors.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction

from weft.slicing.edges import EdgeClass, intersection, reduced

SignedMap = Mapping[EdgeClass, int]


def with_class(signed: SignedMap, new: EdgeClass) -> SignedMap:
    """The map once a class has joined.

    >>> with_class(with_class({}, (4, 0)), (6, 0))
    {(4, 0): 1, (6, 0): 1, (12, 0): -1}
    """
    return united(signed, {new: 1})


def united(left: SignedMap, right: SignedMap) -> SignedMap:
    """The map of two trees in one: both, less what they have in common."""
    found = dict(left)
    for edge_class, count in right.items():
        found[edge_class] = found.get(edge_class, 0) + count
    for edge_class, count in common(left, right).items():
        found[edge_class] = found.get(edge_class, 0) - count
    return {edge_class: count for edge_class, count in found.items() if count}


def common(left: SignedMap, right: SignedMap) -> SignedMap:
    """The map of the edges that two trees have in common."""
    found: dict[EdgeClass, int] = {}
    for one, times in left.items():
        for other, count in right.items():
            both = intersection(one, other)
            if both is not None:
                found[both] = found.get(both, 0) + times * count
    return {edge_class: count for edge_class, count in found.items() if count}


def signed_map(classes: Iterable[EdgeClass]) -> SignedMap:
    """The map of some classes."""
    signed: SignedMap = {}
    for edge_class in reduced(classes):
        signed = with_class(signed, edge_class)
    return signed


def edges_within(signed: SignedMap, period: int) -> int:
    """Edges in a common period."""
    return sum(count * (period // modulus) for (modulus, _), count in signed.items())


def density(classes: Iterable[EdgeClass]) -> Fraction:
    """Edges per tick of the union of the classes.

    >>> density([(4, 0), (6, 0), (3, 0)])
    Fraction(1, 2)
    """
    signed = signed_map(classes)
    period = math.lcm(*(modulus for modulus, _ in signed))
    return Fraction(edges_within(signed, period), period)
