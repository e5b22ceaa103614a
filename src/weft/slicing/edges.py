"""Edges: the instants at which a slice ends and the next one begins.

An edge class (m, a) is every instant t with t mod m = a. A window of range 12 and slide 9 begins at multiples of 9 and
ends 12 later, so it asks for the classes (9, 0) and (9, 3):

    0        9 12     18 21     27
    |--------|--|-----|--|-----|        slices between consecutive edges

The slices of a set of queries lie between consecutive edges of the union of their classes. The composite slide (the
least common multiple, Krishnamurthy, Wu and Franklin, SIGMOD 2006) is never laid out: it can be astronomically long,
while the slice that holds t starts at the largest `t - (t - a) mod m` over all classes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from weft.slicing.divisors import divisors_among

EdgeClass = tuple[int, int]
Classes = tuple[EdgeClass, ...]


def reduced(classes: Iterable[EdgeClass]) -> Classes:
    """The classes without those that another one implies, in order: every 12th instant is a 4th one already.

    >>> reduced([(12, 4), (4, 0), (4, 2), (8, 6), (6, 3), (4, 4), (12, 9)])
    ((4, 0), (4, 2), (6, 3))
    """
    distinct = sorted({(modulus, residue % modulus) for modulus, residue in classes})
    residues: dict[int, set[int]] = {}
    for modulus, residue in distinct:
        residues.setdefault(modulus, set()).add(residue)
    divisors = divisors_among(list(residues))
    return tuple(
        (modulus, residue)
        for modulus, residue in distinct
        if not any(residue % shorter in residues[shorter] for shorter in divisors.get(modulus, ()))
    )


def intersection(left: EdgeClass, right: EdgeClass) -> EdgeClass | None:
    """The instants of both, which are a class again or none at all (Chinese remainder theorem).

    >>> intersection((6, 1), (10, 3)), intersection((6, 1), (4, 2))
    ((30, 13), None)
    """
    common = math.gcd(left[0], right[0])
    steps, apart = divmod(right[1] - left[1], common)
    if apart:
        return None
    other = right[0] // common
    modulus = left[0] * other
    return modulus, (left[1] + left[0] * (steps * pow(left[0] // common, -1, other) % other)) % modulus


def common_tick(classes: Iterable[EdgeClass]) -> int:
    """The longest tick of which all moduli and residues are multiples.

    >>> common_tick([(60_000_000, 0), (90_000_000, 30_000_000)])
    30000000
    """
    return math.gcd(*(number for edge_class in classes for number in edge_class))


def in_ticks(classes: Iterable[EdgeClass]) -> tuple[int, Classes]:
    """The longest tick that all edges are a whole number of apart, and the classes in it, counted from one edge.

    Only differences between residues matter, so an offset that all classes share is no reason for a finer tick.

    >>> in_ticks([(60, 7), (90, 37)])
    (30, ((2, 0), (3, 1)))
    """
    classes = tuple(classes)
    if not classes:
        return 1, ()
    origin = classes[0][1]
    apart = [(modulus, (residue - origin) % modulus) for modulus, residue in classes]
    tick = common_tick(apart)
    return tick, tuple((modulus // tick, residue // tick) for modulus, residue in apart)


def slice_starts(times: npt.NDArray[np.int64], classes: Classes) -> npt.NDArray[np.int64]:
    """The start of the slice that each instant belongs to.

    >>> slice_starts(np.array([0, 8, 9, 13]), ((9, 0), (9, 3))).tolist()
    [0, 3, 9, 12]
    """
    starts: npt.NDArray[np.int64] = np.maximum.reduce([times - (times - at) % modulus for modulus, at in classes])
    return starts


_LONGEST = 1 << 16


def covers(classes: Classes, wanted: EdgeClass) -> bool:
    """Whether all instants of a class are edges of some classes already; no where it would take too long to see.

    >>> covers(((4, 0), (6, 3)), (12, 4)), covers(((4, 0), (4, 2)), (2, 0)), covers(((4, 0), (6, 3)), (6, 0))
    (True, True, False)
    """
    modulus, residue = wanted
    if any(modulus % m == 0 and residue % m == a for m, a in classes):
        return True
    near = [(m, a) for m, a in classes if intersection((m, a), wanted) is not None]
    repeats = math.lcm(modulus, *(m for m, _ in near)) // modulus
    if not near or repeats > _LONGEST:
        return False
    instants = residue + modulus * np.arange(repeats, dtype=object if repeats * modulus > 2**62 else np.int64)
    met = np.zeros(repeats, np.bool_)
    for m, a in near:
        met |= instants % m == a
    return bool(met.all())
