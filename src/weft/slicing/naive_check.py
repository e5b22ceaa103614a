"""Naive check: walk the edges of one tree, and compare each with the edges of every query of the other.

    probing  3   6   9   12   15        slide 3
    probed   2 5 7 10  12  15           slide 5, fragments of 2 and 3
                        x   x           common: 5 + 6 - 2 = 9 edges in a composite slide of 15

Guirguis, Sharaf, Chrysanthis and Labrinidis, CIKM 2011, section 8, Example 4. Every edge that is walked costs a
comparison with each class of the probed tree: two for a query whose window does not end where another begins. It is
here to be compared with; nothing that plans uses it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from weft.slicing.edges import EdgeClass


@dataclass(frozen=True, slots=True)
class NaiveCheck:
    """What one walk over a composite slide found."""

    composite_slide: int
    walked: int
    """Edges of the probing tree."""
    common: tuple[int, ...]
    """Those that are edges of the probed tree too."""
    comparisons: int


def naive_check(probed: Sequence[EdgeClass], probing: Sequence[EdgeClass]) -> NaiveCheck:
    """The edges that two trees have in common within their composite slide.

    >>> naive_check(probed=[(5, 0), (5, 2)], probing=[(3, 0)])
    NaiveCheck(composite_slide=15, walked=5, common=(12, 15), comparisons=10)
    """
    composite_slide = math.lcm(*(modulus for modulus, _ in (*probed, *probing)))
    edges = sorted(
        {
            edge
            for modulus, residue in probing
            for edge in range(residue % modulus or modulus, composite_slide + 1, modulus)
        }
    )
    common, comparisons = [], 0
    for edge in edges:
        matches = [(edge - residue) % modulus == 0 for modulus, residue in probed]
        comparisons += len(matches)
        if any(matches):
            common.append(edge)
    return NaiveCheck(composite_slide, len(edges), tuple(common), comparisons)


def density(classes: Iterable[EdgeClass]) -> Fraction:
    """Edges per tick of the union of the classes: they join one tree, one after the other.

    >>> density([(5, 0), (5, 2), (3, 0)])
    Fraction(3, 5)
    """
    tree: list[EdgeClass] = []
    edges, slide = 0, 1
    for edge_class in classes:
        check = naive_check(tree, [edge_class])
        stretched = edges * (check.composite_slide // slide)
        edges, slide = stretched + check.walked - len(check.common), check.composite_slide
        tree.append(edge_class)
    return Fraction(edges, slide)
