"""F1: edges by inclusion and exclusion of slides.

    edges = LCM(s1 ... sn) x ( sum of 1 / s  -  sum of 1 / LCM of two  +  sum of 1 / LCM of three  -  ... )

Shein and Chrysanthis, TKDE 2020, section 3.1.2, equation 2. As printed it knows slides alone: every window begins at
a multiple of its slide and its range is a multiple of it. `density` carries it over to classes with residues, where a
term is the intersection of some classes, which may be empty; then so is every larger one, and that branch is cut.
Classes in general position still cost 2^n terms (`signed_map` merges those that are equal).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations

from weft.slicing.edges import Classes, EdgeClass, intersection, reduced


def edges_of_slides(slides: Sequence[int]) -> int:
    """Edges in the composite slide of windows that begin at multiples of their slides.

    >>> edges_of_slides([4, 6, 10])
    22
    """
    composite = math.lcm(*slides)
    return sum(
        (-1) ** (size + 1) * composite // math.lcm(*group)
        for size in range(1, len(slides) + 1)
        for group in combinations(slides, size)
    )


def density(classes: Iterable[EdgeClass]) -> Fraction:
    """Edges per tick of the union of the classes.

    >>> density([(6, 1), (10, 3)])  # 1/6 + 1/10 - 1/30: they meet at 13
    Fraction(7, 30)
    """
    kept = reduced(classes)
    composite = math.lcm(*(modulus for modulus, _ in kept))
    return Fraction(_terms((1, 0), kept, composite), composite)


def _terms(met: EdgeClass, others: Classes, composite: int) -> int:
    """The signed terms of all groups that extend one by some of the others."""
    total = 0
    for place, other in enumerate(others):
        both = intersection(met, other)
        if both is not None:
            total += composite // both[0] - _terms(both, others[place + 1 :], composite)
    return total
