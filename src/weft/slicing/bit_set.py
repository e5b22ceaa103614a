"""Bit set: lay out one common period, mark every edge, count the marks.

    (3, 0)   #  .  .  #  .  .
    (2, 1)   .  #  .  #  .  #
             #  #  .  #  .  #     4 of 6

The way of the first planners (Guirguis et al., CIKM 2011, section 8, "Edges Bitmap"; "Bit Set" in Shein and
Chrysanthis, TKDE 2020, section 3.1.2). Time and space follow the common period, whatever the number of classes:
unbeaten where the slides have a short one, hopeless where they are unrelated. Long periods are laid out piece by
piece.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from weft.slicing.edges import EdgeClass, reduced

PIECE = 1 << 20


def laid_out(classes: Iterable[EdgeClass], begin: int, end: int) -> npt.NDArray[np.bool_]:
    """Whether each tick from begin up to end is an edge.

    >>> laid_out([(3, 0), (2, 1)], 0, 6).astype(int)
    array([1, 1, 0, 1, 0, 1])
    """
    edges = np.zeros(end - begin, np.bool_)
    for modulus, residue in classes:
        edges[(residue - begin) % modulus :: modulus] = True
    return edges


def density(classes: Iterable[EdgeClass]) -> Fraction:
    """Edges per tick of the union of the classes.

    >>> density([(3, 0), (2, 1)])
    Fraction(2, 3)
    """
    kept = reduced(classes)
    period = math.lcm(*(modulus for modulus, _ in kept))
    pieces = (laid_out(kept, at, min(at + PIECE, period)) for at in range(0, period, PIECE))
    return Fraction(sum(int(np.count_nonzero(piece)) for piece in pieces), period)
