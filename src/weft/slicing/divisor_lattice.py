"""Divisor lattice: classes that all meet in one instant, counted by greatest common divisors.

Seen from where they meet, the classes are the multiples of their moduli, and all that matters of an instant t is
g = gcd(t, S), S the common period: t is a multiple of m just when g is, and phi(S / g) of the S instants have that g.

    density = 1 / S  x  sum of phi(S / g) over the divisors g of S that are a multiple of some modulus

    slides 2 and 6, S = 6       g = 1: 2   g = 2: 2 *   g = 3: 1   g = 6: 1 *       3 of 6

As many steps as S has divisors, however many queries there are: a workload of slides that divide a day, say. Numbers
of a coprime base do for primes, with their powers in place of the totient.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from itertools import product

from weft.slicing.coprime_base import Powers, factored
from weft.slicing.edges import EdgeClass, intersection, reduced


def why_not(classes: Iterable[EdgeClass]) -> str | None:
    """Why the classes have no such lattice.

    >>> why_not([(4, 1), (6, 2)])
    'the classes have no instant in common'
    """
    met: EdgeClass = (1, 0)
    for edge_class in classes:
        both = intersection(met, edge_class)
        if both is None:
            return "the classes have no instant in common"
        met = both
    return None


def divisor_powers(moduli: Iterable[int]) -> Powers:
    """The common period of some moduli, as powers of their coprime base."""
    highest: dict[int, int] = {}
    for powers in factored(moduli).values():
        for base, exponent in powers:
            highest[base] = max(exponent, highest.get(base, 0))
    return tuple(sorted(highest.items()))


def density(classes: Iterable[EdgeClass]) -> Fraction:
    """Edges per tick of the union of classes that have an instant in common.

    >>> density([(2, 0), (6, 0), (3, 3)])
    Fraction(2, 3)
    """
    kept = reduced(classes)
    reason = why_not(kept)
    if reason is not None:
        raise ValueError(reason)
    moduli = [modulus for modulus, _ in kept]
    powers = divisor_powers(moduli)
    edges = 0
    for exponents in product(*(range(highest + 1) for _, highest in powers)):
        divisor = math.prod(base**exponent for (base, _), exponent in zip(powers, exponents, strict=True))
        if any(divisor % modulus == 0 for modulus in moduli):
            edges += math.prod(
                _instants(base, highest - exponent) for (base, highest), exponent in zip(powers, exponents, strict=True)
            )
    return Fraction(edges, math.lcm(*moduli))


def _instants(base: int, exponent: int) -> int:
    """Of base^exponent instants, those that are no multiple of the base: phi(base^exponent) for a prime."""
    return base**exponent - base ** (exponent - 1) if exponent else 1
