"""Omega: the operations that final aggregation performs per edge, as every technique's price.

A formula takes a `Load`, that is Q queries over windows of P slices, and gives Omega. There are three readings:

    paper     Table 3 of Shein and Chrysanthis, TKDE 2020; techniques that the table does not have are charged for
              answers when they are due
    quick     the same with their shorter estimate for FlatFAT
    refined   every answer charged when it is due, not at every edge, and the length of SlickDeque's deque corrected

Corner cases that the table leaves open: P up to 1 costs nothing in FlatFAT, and its logarithm is never negative.
Equation 7 puts the mean length of the monotone deque at the sum of 1/i!; on independent values it is the harmonic
number (simulated for P = 256: 6.10, against 6.12 and 1.72), which is what `refined` takes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np

from weft.techniques.demand import Load

READINGS = ("paper", "quick", "refined")


@dataclass(frozen=True, slots=True, eq=False)
class Omega:
    """A technique's operations per edge."""

    formula: str
    """In words, for EXPLAIN."""
    paper: Callable[[Load], Any]
    refined: Callable[[Load], Any] | None = None
    """Where it differs."""
    quick: Callable[[Load], Any] | None = None
    floor: Callable[[Load], Any] | None = None
    """What queries cost at least, per edge of their own, whatever they share a tree with."""
    by_range: bool = False
    """Whether every single range counts, so that trees cannot be weighed many at a time."""
    monotone: bool = True
    """Whether more edges never make a tree's final aggregation cheaper."""
    adds_up: bool = False
    """Whether it is a sum over queries, so that queries with equal edges never lose by sharing a tree."""
    least: Callable[[Load], Any] | None = None
    """Where they may: what a tree costs at least with so many edges or more, and these queries or more."""
    refined_formula: str | None = None
    """In words, where `refined` differs; so for `quick`."""
    quick_formula: str | None = None

    def said(self, reading: str) -> str:
        """The formula under a reading in words."""
        other = {"refined": self.refined_formula, "quick": self.quick_formula}.get(reading)
        return other or self.formula

    def read(self, reading: str) -> Callable[[Load], Any]:
        """The formula under a reading."""
        other = self.refined if reading == "refined" else self.quick if reading == "quick" else None
        return other or self.paper

    def never_falling(self, reading: str) -> Callable[[Load], Any]:
        """The formula under a reading, or one below it, that neither more edges nor more queries make cheaper.

        Answers apart, which cost the same at more edges.
        """
        formula = self.read(reading)
        if self.monotone or formula is not self.paper:
            return formula
        return self.least or _nothing


def _nothing(load: Load) -> int:
    return 0


def ceil_log2(slices: Any) -> Any:
    """The smallest k with 2^k at least that many, for one number or an array.

    >>> ceil_log2(1), ceil_log2(5), ceil_log2(np.array([8, 9])).tolist()
    (0, 3, [3, 4])
    """
    if isinstance(slices, np.ndarray):
        return np.frexp(np.maximum(slices - 1, 0).astype(np.float64))[1]
    return max(int(slices) - 1, 0).bit_length()


def overlap(load: Load) -> Any:
    """Panes, equation 3: a slice is folded into range / slide windows of each query."""
    return load.overlap


def flatfat(load: Load) -> Fraction:
    """FlatFAT, equation 4: floor(log2(P - 1)) + (P - 1) / 2^floor(log2 P) for each query."""
    whole, counts, _ = load.parts()
    above = whole >= 1
    whole, counts = whole[above], counts[above]
    levels, beside = _floor_log2(whole), _floor_log2(np.maximum(whole - 1, 1))
    # the sum of (P - 1) / 2^level, exactly: the ranges of one level together
    ranges = load.demand.ranges[0][above]  # type: ignore[union-attr]  # parts() has made sure
    omega = Fraction(int(beside @ counts))
    for level in np.unique(levels).tolist():
        here = levels == level
        spans = sum(int(size) * int(count) for size, count in zip(ranges[here], counts[here], strict=True))
        omega += (spans * load.edge_rate - int(counts[here].sum())) / (1 << level)
    return omega


def flatfat_least(load: Load) -> Fraction:
    """FlatFAT, equation 4, where it is cheapest: k - 1 / 2^k at P = 2^k, which is below all that follows."""
    whole, counts, _ = load.parts()
    levels = _floor_log2(np.maximum(whole, 1))
    return Fraction(float(np.maximum(levels - 0.5**levels, 0) @ counts))


def flatfat_quick(load: Load) -> Fraction:
    """FlatFAT, "for quick approximate calculations": log2(P - 1) + 1 for each query."""
    counts = load.parts()[1]
    slices = load.lengths
    each = np.where(slices < 2, np.maximum(slices - 1, 0), np.log2(np.maximum(slices, 2) - 1) + 1)
    return Fraction(float(each @ counts))


def flatfat_refined(load: Load) -> Fraction:
    """FlatFAT: the path to the root for every slice, and a cover of the window for every answer that is due."""
    whole, _, due = load.parts(rounded_up=True)
    cover = np.maximum(np.log2(np.maximum(whole, 1)) - 1, 0)
    return int(ceil_log2(load.slices)) + Fraction(float(cover @ due))


def slickdeque_inv(load: Load) -> int:
    """SlickDeque (Inv), equation 6: two operations for each different number of slices in a window."""
    return 2 * len(np.unique(load.parts(rounded_up=True)[0]))


def slickdeque_noninv(load: Load) -> Any:
    """SlickDeque (Non-Inv), equation 7."""
    return 2 - _reciprocal(load.slices, 2) + load.queries + _tail(load.slices)


def slickdeque_noninv_refined(load: Load) -> Any:
    """SlickDeque (Non-Inv), with the harmonic number for the deque's length and answers when they are due."""
    return 2 - _reciprocal(load.slices, 2) + load.due + harmonic(load.slices)


def b_int(load: Load) -> Fraction:
    """B-INT: about one combine per slice, and log2(P) - 1 for each query's cover."""
    counts = load.parts()[1]
    slices = load.lengths
    return 1 + Fraction(float(np.maximum(np.log2(slices) - 1, 0) @ counts))


def b_int_refined(load: Load) -> Fraction:
    """B-INT, its covers charged when they are due."""
    due = load.parts()[2]
    slices = load.lengths
    return 1 + Fraction(float(np.maximum(np.log2(slices) - 1, 0) @ due))


def harmonic(slices: Any) -> Any:
    """1 + 1/2 + ... + 1/slices; beyond a thousand by Euler and Maclaurin, to the last digit of a float.

    >>> harmonic(4)
    Fraction(25, 12)
    """
    if isinstance(slices, np.ndarray):
        n = slices.astype(np.float64)
        large = np.log(n) + np.euler_gamma + 1 / (2 * n) - 1 / (12 * n**2) + 1 / (120 * n**4)
        return np.where(n > 64, large, _HARMONIC[np.minimum(slices, 64).astype(np.int64)])
    if slices > 1_000:
        return Fraction(float(harmonic(np.array([slices]))[0]))
    return sum((Fraction(1, i) for i in range(1, int(slices) + 1)), Fraction(0))


_HARMONIC = np.concatenate(([0.0], np.cumsum(1 / np.arange(1, 65))))


def _tail(slices: Any) -> Any:
    """1/1! + 1/2! + ... + 1/slices!, cut at 20 terms, where a float holds no more."""
    if isinstance(slices, np.ndarray):
        return np.array([float(total) for total in _FACTORIAL])[np.minimum(slices, 20).astype(np.int64)]
    return _FACTORIAL[min(int(slices), 20)]


_FACTORIAL = list(accumulate((Fraction(1, math.factorial(i)) for i in range(1, 21)), initial=Fraction(0)))


def _reciprocal(slices: Any, numerator: int) -> Any:
    return numerator / slices if isinstance(slices, np.ndarray) else Fraction(numerator, int(slices))


def _floor_log2(whole: Any) -> Any:
    return np.frexp(whole.astype(np.float64))[1] - 1
