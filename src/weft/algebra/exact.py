"""Exact sums: integers of up to 128 bits as columns of small ones, so that plain int64 addition never loses a digit.

    value = digit[0] + digit[1] * 2^32 + digit[2] * 2^64 + digit[3] * 2^96      the last digit carries the sign

Each digit is below 2^32, so its column can take two thousand million additions (or a prefix sum and a subtraction)
before anything is carried; `carry` then settles the columns once, at the end. A bigint's sum is kept in two digits, a
decimal's in four. Wider sums than the result's type are reported, not wrapped: Spark's ANSI mode raises there too.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from weft.jit import kernel

Digits = npt.NDArray[np.int64]
LOW = np.int64(0xFFFF_FFFF)
POWERS = tuple(10**power for power in range(39))


def digits_of_decimals(words: npt.NDArray[np.int64]) -> Digits:
    """Four digits for every 128-bit integer, given as rows of a low and a high 64-bit word."""
    low, high = words[:, 0], words[:, 1]
    return np.column_stack((low & LOW, (low >> 32) & LOW, high & LOW, high >> 32))


def carry(digits: Digits) -> Digits:
    """The same numbers with every digit but the last brought into [0, 2^32)."""
    settled = digits.copy()
    for place in range(digits.shape[1] - 1):
        settled[:, place + 1] += settled[:, place] >> 32
        settled[:, place] &= LOW
    return settled


def to_floats(digits: Digits) -> npt.NDArray[np.float64]:
    """The nearest floats, or one beside them."""
    settled = carry(digits)
    total = np.zeros(len(settled))
    for place in range(settled.shape[1] - 1, -1, -1):
        total = total * 2.0**32 + settled[:, place]
    return total


def to_bigints(digits: Digits) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Two digits as int64, and which of them do not fit."""
    settled = carry(digits)
    high = settled[:, 1]
    return (high << 32) | settled[:, 0], (high < -(2**31)) | (high >= 2**31)


def to_decimals(digits: Digits, precision: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Four digits as rows of a low and a high word, and which of them have more than `precision` decimal places."""
    settled = carry(digits)
    words = np.column_stack(((settled[:, 1] << 32) | settled[:, 0], (settled[:, 3] << 32) | settled[:, 2]))
    too_long = (settled[:, 3] < -(2**31)) | (settled[:, 3] >= 2**31)
    magnitude = carry(np.where((settled[:, 3] < 0)[:, None], -settled, settled))
    return words, too_long | _at_least(magnitude, POWERS[precision])


def _at_least(magnitude: Digits, bound: int) -> npt.NDArray[np.bool_]:
    """Which settled, non-negative numbers reach the bound."""
    above = np.zeros(len(magnitude), bool)
    equal = np.ones(len(magnitude), bool)
    for place in range(magnitude.shape[1] - 1, -1, -1):
        digit = (bound >> (32 * place)) & int(LOW)
        above |= equal & (magnitude[:, place] > digit)
        equal &= magnitude[:, place] == digit
    return above | equal


def averages(digits: Digits, counts: npt.NDArray[np.int64], shift: int) -> tuple[Digits, npt.NDArray[np.bool_]]:
    """sum * 10^shift / count, rounded half away from zero as Spark's decimals are, and which have more than 128 bits.

    The sums have at most 128 bits, the counts are below 2^31.

    >>> averages(np.array([[7, 0, 0, 0], [-7, 0, 0, 0]]), np.array([2, 2]), 1)[0][:, 0].tolist()
    [35, -35]
    """
    settled = carry(digits)
    negative = settled[:, 3] < 0
    magnitude = carry(np.where(negative[:, None], -settled, settled))
    quotient, too_long = np.empty_like(magnitude), np.empty(len(magnitude), np.bool_)
    _divide(magnitude, counts, np.int64(10**shift), quotient, too_long)
    return np.where(negative[:, None], -quotient, quotient), too_long


@kernel
def _divide(magnitude, counts, factor, quotient, too_long):
    """Schoolbook: multiply by the factor (below 2^31) into five digits, divide by the count, round half up."""
    base = np.int64(32)
    low = np.int64(0xFFFF_FFFF)
    product = np.zeros(5, np.int64)
    for row in range(len(counts)):
        over = np.int64(0)
        for place in range(4):
            over += magnitude[row, place] * factor
            product[place] = over & low
            over >>= base
        product[4] = over
        rest = np.int64(0)
        count = counts[row]
        for place in range(4, -1, -1):
            rest = (rest << base) | product[place]
            product[place] = rest // count
            rest -= product[place] * count
        if 2 * rest >= count:
            place = 0
            while place < 5:
                product[place] += 1
                if product[place] <= low:
                    break
                product[place] = 0
                place += 1
        too_long[row] = product[4] != 0
        for place in range(4):
            quotient[row, place] = product[place]
