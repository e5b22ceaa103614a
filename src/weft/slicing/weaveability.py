"""Weaveability: how well two queries, or two trees, share their edges.

    weaveability(x, y) = edges in common / edges of both together        in one composite slide

Guirguis, Sharaf, Chrysanthis and Labrinidis, CIKM 2011, section 4.3, Definition 1, which also applies it to trees. It
is 1 for trees with the same edges and 0 for trees that have none in common. (It is the Jaccard index of the edges.)
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from weft.slicing.density import density
from weft.slicing.edges import EdgeClass


def weaveability(left: Iterable[EdgeClass], right: Iterable[EdgeClass]) -> Fraction:
    """The share of the edges of both that are edges of each.

    >>> weaveability([(9, 0), (9, 3)], [(6, 0), (6, 4)])
    Fraction(1, 4)
    """
    left, right = tuple(left), tuple(right)
    together = density(left + right)
    return (density(left) + density(right) - together) / together if together else Fraction(0)
