"""Density: edges per tick of a union of classes, exactly. The one door to all ways of counting.

The edge rate of a tree (E in Guirguis et al., CIKM 2011, section 4.2; the paper knows no closed form for it, section
4.4) is the density of its classes. The composite slide can be astronomically long and is not built unless it is
short. What counts is the cheapest of

    closed forms         one class; one modulus; moduli that share no factor
    bit_set              a short common period
    f1                   a handful of classes
    divisor_lattice      classes that meet in one instant, few divisors
    residue_splitting    anything else, or a bit set after all, where splitting takes longer

`signed_map` counts trees that grow, `naive_check` is there to be compared with. Counting is #P-hard in general (see
`residue_splitting`): slides without offsets are mostly quick by the thousand, hundreds of unrelated slides with
unrelated offsets take exponential time. `density` waits for the answer; `density_within` gives up after so many steps,
which are counted and not timed, so that a plan does not depend on the machine. `docs/decisions/0009-edge-counting.md`
has the numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType

from weft.slicing import bit_set, divisor_lattice, f1, naive_check, residue_splitting, signed_map
from weft.slicing.edges import Classes, EdgeClass, in_ticks, reduced

METHODS: Mapping[str, Callable[[Iterable[EdgeClass]], Fraction]] = MappingProxyType(
    {
        "naive_check": naive_check.density,
        "bit_set": bit_set.density,
        "f1": f1.density,
        "signed_map": signed_map.density,
        "divisor_lattice": divisor_lattice.density,
        "residue_splitting": residue_splitting.density,
    }
)

# measured: up to here nothing beats a bit set, then F1, then a lattice of so many divisors times classes
_SHORT_PERIOD = 1 << 14
_A_HANDFUL = 6
_SMALL_LATTICE = 500


def density(classes: Iterable[EdgeClass]) -> Fraction:
    """Edges per tick of the union of the classes.

    >>> density([(9, 0), (9, 3), (6, 0), (6, 4)])
    Fraction(4, 9)
    """
    found = density_within(classes, None)
    assert found is not None
    return found


def density_within(classes: Iterable[EdgeClass], steps: int | None) -> Fraction | None:
    """Edges per tick of the union of the classes, or None where counting takes more than so many steps.

    A step is some microseconds: a class carried into one branch of residue splitting, or some thousand ticks of a bit
    set. A handful of classes and a short period are counted always.

    >>> density_within([(60_000_000, 0), (90_000_000, 0)], 0) == density([(2, 0), (3, 0)]) / 30_000_000
    True
    """
    tick, kept = in_ticks(classes)
    found = _per_tick(reduced(kept), steps)
    return None if found is None else found / tick


@lru_cache(maxsize=4096)
def _per_tick(classes: Classes, steps: int | None) -> Fraction | None:
    moduli = [modulus for modulus, _ in classes]
    if not classes:
        return Fraction(0)
    if moduli[0] == moduli[-1]:
        return Fraction(len(classes), moduli[0])
    period = math.lcm(*moduli)
    if period <= _SHORT_PERIOD:
        return bit_set.density(classes)
    if period == math.prod(moduli):
        return 1 - Fraction(math.prod(modulus - 1 for modulus in moduli), period)
    if len(classes) <= _A_HANDFUL:
        return f1.density(classes)
    by_bits = _steps_of_bit_set(moduli, period)
    if by_bits <= len(classes) * 2:
        return bit_set.density(classes)
    if _small_lattice(classes) and divisor_lattice.why_not(classes) is None:
        return divisor_lattice.density(classes)
    if steps is not None and by_bits > steps:
        return residue_splitting.density_within(classes, steps)
    found = residue_splitting.density_within(classes, by_bits)
    return bit_set.density(classes) if found is None else found


def _steps_of_bit_set(moduli: list[int], period: int) -> int:
    """What a bit set costs, in steps of residue splitting: about three microseconds, as long as 2,500 marks take."""
    marks = sum(period // modulus for modulus in moduli)
    return len(moduli) * (1 + period // bit_set.PIECE) // 2 + marks // 2_500 + period // 20_000


def _small_lattice(classes: Classes) -> bool:
    powers = divisor_lattice.divisor_powers(modulus for modulus, _ in classes)
    return math.prod(exponent + 1 for _, exponent in powers) * len(classes) <= _SMALL_LATTICE
