"""Divisors: which moduli of a set divide which.

Only divisors that occur matter. Of two ways to find the multiples of a modulus among the others, each is the better one
somewhere, so the smallest moduli go one way and the rest the other, divided where the sum of both is least:

1. divide all longer moduli by it, at once: `moduli` operations;
2. look up its double, its triple and so on, for many moduli at once: `longest / modulus` look-ups.

A hundred thousand random moduli of up to a day of milliseconds take half a second; pair by pair it is a minute.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

_FEW = 64
_WIDE = 1 << 62
# nanoseconds of a division, of a look-up, and of a numpy call
_DIVIDE, _LOOK_UP, _CALL = 3.0, 20.0, 4000.0


def divisors_among(moduli: Sequence[int]) -> dict[int, list[int]]:
    """The proper divisors of each modulus that occur beside it. The moduli ascend.

    >>> divisors_among([2, 3, 4, 7, 12])
    {4: [2], 12: [2, 3, 4]}
    """
    found: dict[int, list[int]] = {}
    if len(moduli) <= _FEW or moduli[-1] >= _WIDE:
        for place, modulus in enumerate(moduli):
            if divisors := [shorter for shorter in moduli[:place] if modulus % shorter == 0]:
                found[modulus] = divisors
        return found
    shorter, longer = _pairs(np.array(moduli, np.int64))
    for divisor, modulus in zip(shorter.tolist(), longer.tolist(), strict=True):
        found.setdefault(modulus, []).append(divisor)
    return found


def _pairs(moduli: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """All pairs in which the first divides the second."""
    count, longest = len(moduli), int(moduli[-1])
    multiples = longest / moduli
    divided = np.concatenate(([0.0], np.cumsum(np.arange(count, 0, -1) * _DIVIDE + _CALL)))
    looked_up = np.concatenate((np.cumsum(multiples[::-1])[::-1] * _LOOK_UP + multiples * _CALL, [0.0]))
    border = int(np.argmin(divided + looked_up))
    shorter, longer = [moduli[:0]], [moduli[:0]]
    for place in range(border):
        found = moduli[place + 1 :][moduli[place + 1 :] % moduli[place] == 0]
        shorter.append(np.full(len(found), moduli[place]))
        longer.append(found)
    rest = moduli[border:]
    times = 2
    while len(rest := rest[: np.searchsorted(rest, longest // times, "right")]):
        multiple = rest * times
        occurs = moduli[np.searchsorted(moduli, multiple)] == multiple
        shorter.append(rest[occurs])
        longer.append(multiple[occurs])
        times += 1
    return np.concatenate(shorter), np.concatenate(longer)
