"""Density: how many edges a set of classes has per tick, as an exact fraction.

The edge rate E of Weave Share's cost model (Guirguis et al., CIKM 2011, section 4.2) is the density of a union of
residue classes. The composite slide is never built; instead the count is split:

1. Classes whose moduli share no prime are independent (Chinese remainder theorem): E = 1 - product of (1 - E of each
   connected component).
2. A component with a short common period is laid out as a bit set and counted.
3. Otherwise pick the prime p that divides most moduli and look at the instants t = p u + rho for each residue rho that
   occurs: every class that survives there is a class in u with a smaller modulus. All residues that do not occur see
   the same thing, the classes whose modulus p does not divide.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache

import numpy as np

from weft.slicing.edges import Classes, EdgeClass, common_tick, reduced

_LAID_OUT = 1 << 20


def density(classes: Iterable[EdgeClass]) -> Fraction:
    """Edges per tick of the union of the classes.

    >>> density([(9, 0), (9, 3), (6, 0), (6, 4)])
    Fraction(4, 9)
    """
    classes = tuple(classes)
    if not classes:
        return Fraction(0)
    tick = common_tick(classes)
    return _density(reduced((modulus // tick, residue // tick) for modulus, residue in classes)) / tick


@lru_cache(maxsize=65_536)
def _density(classes: Classes) -> Fraction:
    if not classes:
        return Fraction(0)
    if classes[0][0] == 1:
        return Fraction(1)
    if len(classes) == 1:
        return Fraction(1, classes[0][0])
    if len({modulus for modulus, _ in classes}) == 1:
        return Fraction(len(classes), classes[0][0])
    absent = Fraction(1)
    for component in _components(classes):
        absent *= 1 - _component_density(component)
    return 1 - absent


def _component_density(classes: Classes) -> Fraction:
    if len(classes) == 1:
        return Fraction(1, classes[0][0])
    period = math.lcm(*(modulus for modulus, _ in classes))
    if period <= _LAID_OUT:
        cut = np.zeros(period, bool)
        for modulus, residue in classes:
            cut[residue::modulus] = True
        return Fraction(int(np.count_nonzero(cut)), period)
    return _split_by_prime(classes)


def _split_by_prime(classes: Classes) -> Fraction:
    divided: dict[int, int] = {}
    for modulus, _ in classes:
        for prime in _primes(modulus):
            divided[prime] = divided.get(prime, 0) + 1
    prime = max(divided, key=lambda candidate: (divided[candidate], -candidate))
    inverse = {modulus: pow(prime, -1, modulus) for modulus, _ in classes if modulus % prime}
    everywhere = [(m, a * inverse[m] % m) for m, a in classes if m % prime]
    total, occurring = Fraction(0), sorted({a % prime for m, a in classes if m % prime == 0})
    for rho in occurring:
        here = [(m // prime, (a - rho) // prime) for m, a in classes if m % prime == 0 and a % prime == rho]
        there = [(m, (a - rho) * inverse[m] % m) for m, a in classes if m % prime]
        total += _density(reduced(here + there))
    total += (prime - len(occurring)) * _density(reduced(everywhere))
    return total / prime


def _components(classes: Classes) -> list[Classes]:
    """The classes in groups, such that moduli of different groups share no prime."""
    groups: list[tuple[int, list[EdgeClass]]] = []
    for edge_class in classes:
        product, members = edge_class[0], [edge_class]
        apart = []
        for group in groups:
            if math.gcd(product, group[0]) > 1:
                product = math.lcm(product, group[0])
                members += group[1]
            else:
                apart.append(group)
        groups = [*apart, (product, members)]
    return [tuple(sorted(members)) for _, members in groups]


@lru_cache(maxsize=65_536)
def _primes(number: int) -> tuple[int, ...]:
    found, factor = [], 2
    while factor * factor <= number:
        if number % factor == 0:
            found.append(factor)
            while number % factor == 0:
                number //= factor
        factor += 1
    return (*found, number) if number > 1 else tuple(found)
