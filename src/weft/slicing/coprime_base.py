"""Coprime base: numbers as products of powers of numbers that share no factor.

    60 = 4 x 15, 90 = 2 x 3 x 15       the primes 2, 3 and 5 do, so do 2, 3 and 5 of 60 million

Whoever needs primes only to know what is independent of what can do without them (Bach, Driscoll and Shallit, "Factor
refinement", Journal of Algorithms 1993; Bernstein, "Factoring into coprimes in essentially linear time", Journal of
Algorithms 2005). Small primes are divided out, which leaves a prime or nothing of most moduli; what is left of a huge
one is split where it shares a factor with another, by greatest common divisors, and stays whole where it shares none.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache

Powers = tuple[tuple[int, int], ...]

_DIVIDED_OUT = 1024
_SMALL_PRIMES = tuple(p for p in range(2, _DIVIDED_OUT) if all(p % q for q in range(2, math.isqrt(p) + 1)))


def factored(numbers: Iterable[int]) -> dict[int, Powers]:
    """Every number as powers of one coprime base.

    >>> factored([12, 90])
    {12: ((2, 2), (3, 1)), 90: ((2, 1), (3, 2), (5, 1))}
    >>> p, q, r = 2_147_483_647, 2_305_843_009_213_693_951, 1_000_000_007
    >>> factored([p * q, q * r]) == {p * q: ((p, 1), (q, 1)), q * r: ((r, 1), (q, 1))}
    True
    """
    divided = {number: _divided(number) for number in numbers}
    if all(rest == 1 for _, rest in divided.values()):
        return {number: powers for number, (powers, _) in divided.items()}
    base: list[int] = []
    for powers, rest in divided.values():
        for new in (*(factor for factor, _ in powers if factor > _DIVIDED_OUT), rest):
            _refine(base, new)
    base.sort()
    return {
        number: tuple(power for power in powers if power[0] < _DIVIDED_OUT)
        + _powers(math.prod((rest, *(b**e for b, e in powers if b > _DIVIDED_OUT))), base)
        for number, (powers, rest) in divided.items()
    }


@lru_cache(maxsize=65_536)
def _divided(number: int) -> tuple[Powers, int]:
    """The small primes of a number and, where nothing smaller can divide it, the large one; then what else is left."""
    powers = []
    for prime in _SMALL_PRIMES:
        if prime * prime > number:
            break
        exponent = 0
        while number % prime == 0:
            number //= prime
            exponent += 1
        if exponent:
            powers.append((prime, exponent))
    if 1 < number < _DIVIDED_OUT * _DIVIDED_OUT:
        return (*powers, (number, 1)), 1
    return tuple(powers), number


def _refine(base: list[int], number: int) -> None:
    """Add a number to the base, and split whatever then shares a factor."""
    waiting = [number]
    while waiting:
        new = waiting.pop()
        if new == 1 or new in base:
            continue
        for place, known in enumerate(base):
            common = math.gcd(new, known)
            if common > 1:
                del base[place]
                waiting += (common, known // common, new // common)
                break
        else:
            base.append(new)


def _powers(number: int, base: list[int]) -> Powers:
    powers = []
    for factor in base:
        exponent = 0
        while number % factor == 0:
            number //= factor
            exponent += 1
        if exponent:
            powers.append((factor, exponent))
    return tuple(powers)
