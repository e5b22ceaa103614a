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

EdgeClass = tuple[int, int]
Classes = tuple[EdgeClass, ...]


def reduced(classes: Iterable[EdgeClass]) -> Classes:
    """The classes without those that another one implies, in order: every 12th instant is a 4th one already.

    >>> reduced([(12, 4), (4, 0), (4, 2), (8, 6), (6, 3), (4, 4), (12, 9)])
    ((4, 0), (4, 2), (6, 3))
    """
    kept: dict[int, set[int]] = {}
    for modulus, residue in sorted({(modulus, residue % modulus) for modulus, residue in classes}):
        if not any(modulus % known == 0 and residue % known in residues for known, residues in kept.items()):
            kept.setdefault(modulus, set()).add(residue)
    return tuple((modulus, residue) for modulus, residues in kept.items() for residue in sorted(residues))


def common_tick(classes: Iterable[EdgeClass]) -> int:
    """The longest tick of which all moduli and residues are multiples.

    >>> common_tick([(60_000_000, 0), (90_000_000, 30_000_000)])
    30000000
    """
    return math.gcd(*(number for edge_class in classes for number in edge_class))


def slice_starts(times: npt.NDArray[np.int64], classes: Classes) -> npt.NDArray[np.int64]:
    """The start of the slice that each instant belongs to.

    >>> slice_starts(np.array([0, 8, 9, 13]), ((9, 0), (9, 3))).tolist()
    [0, 3, 9, 12]
    """
    starts: npt.NDArray[np.int64] = np.maximum.reduce([times - (times - at) % modulus for modulus, at in classes])
    return starts
