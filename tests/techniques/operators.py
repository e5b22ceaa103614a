"""What the techniques are tried with: operators, their slices, and what adding slices up one by one gives.

Two operators are not commutative, so whoever combines newer with older is found out: text put together (as a polynomial
hash and a power, modulo 2^64) cannot be taken apart here, and matrices of determinant 1 can.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from weft.algebra.operators import ARG_MAX, MAX, MIN, MOMENTS, Operator, sum_of

WORD = 1 << 64


class Text(NamedTuple):
    """Text after text: a hash, and the base to the power of its length."""

    identity: tuple[int, int] = (0, 1)

    @staticmethod
    def combine(operator, older, newer):  # type: ignore[no-untyped-def]
        return older[0] * newer[1] + newer[0], older[1] * newer[1]


class Turn(NamedTuple):
    """2x2 matrices of determinant 1: the older one is applied first, and undone first."""

    identity: tuple[int, int, int, int] = (1, 0, 0, 1)

    @staticmethod
    def combine(operator, older, newer):  # type: ignore[no-untyped-def]
        a, b, c, d = older
        e, f, g, h = newer
        return a * e + b * g, a * f + b * h, c * e + d * g, c * f + d * h

    @staticmethod
    def removed(operator, whole, prefix):  # type: ignore[no-untyped-def]
        a, b, c, d = prefix
        e, f, g, h = whole
        return d * e - b * g, d * f - b * h, a * g - c * e, a * h - c * f


def wrapped(number: int) -> int:
    """As 64 bits hold it."""
    return (number + WORD // 2) % WORD - WORD // 2


def one_by_one(operator: Any) -> Callable[[npt.NDArray[Any]], list[Any]]:
    """Python's own numbers, combined from the oldest slice to the newest."""

    def recomputed(run: npt.NDArray[Any]) -> list[Any]:
        folded, *rest = map(tuple, run.tolist())
        for newer in rest:
            folded = type(operator).combine(operator, folded, newer)
        return [wrapped(number) if isinstance(number, int) else number for number in folded]

    return recomputed


def all_moments(run: npt.NDArray[Any]) -> list[float]:
    """Count, mean and squared deviations of everything behind some moments."""
    filled = [(n, mean, spread) for n, mean, spread in run.tolist() if n]
    count = math.fsum(n for n, _, _ in filled)
    if not count:
        return [0.0, 0.0, 0.0]
    mean = math.fsum(n * m for n, m, _ in filled) / count
    return [count, mean, math.fsum(s + n * (m - mean) ** 2 for n, m, s in filled)]


@dataclass(frozen=True)
class Case:
    """An operator, what its slices may be, and what a run of them comes to."""

    operator: Operator
    slice: st.SearchStrategy[tuple[Any, ...]]
    recomputed: Callable[[npt.NDArray[Any]], list[Any]]
    commutative: bool = True

    def slices(self, drawn: list[tuple[Any, ...]]) -> npt.NDArray[Any]:
        """Drawn slices as a matrix."""
        dtype = np.float64 if isinstance(self.operator.identity[0], float) else np.int64
        return np.array(drawn, dtype).reshape(-1, len(self.operator.identity))


def _extreme(pick: Callable[[list[int]], int]) -> Callable[[npt.NDArray[Any]], list[int]]:
    return lambda run: [pick(run[:, 0].tolist())]


def _first_of_largest(run: npt.NDArray[Any]) -> list[int]:
    return list(max(run.tolist(), key=lambda row: row[0]))


_integer, _few = st.integers(-(2**40), 2**40), st.integers(-3, 3)
_quarters = st.integers(-1000, 1000).map(lambda n: n / 4)
_turns = st.sampled_from([(1, 1, 0, 1), (1, 0, 1, 1), (0, -1, 1, 0), (2, 1, 1, 1), (1, -3, 0, 1)])
CASES = {
    "sum of integers": Case(sum_of(int, 1), st.tuples(_integer), lambda run: [sum(c) for c in run.T.tolist()]),
    "sum of halves": Case(sum_of(int, 2), st.tuples(_integer, _integer), lambda run: [sum(c) for c in run.T.tolist()]),
    "sum of digits": Case(sum_of(int, 4), st.tuples(*[_integer] * 4), lambda run: [sum(c) for c in run.T.tolist()]),
    "sum of floats": Case(sum_of(float, 1), st.tuples(_quarters), lambda run: [math.fsum(run[:, 0].tolist())]),
    "min": Case(MIN, st.tuples(_few), _extreme(min)),
    "max": Case(MAX, st.tuples(_few | _integer), _extreme(max)),
    "argmax": Case(ARG_MAX, st.tuples(_few, st.integers(0, 10**6)), _first_of_largest),
    "moments": Case(
        MOMENTS,
        st.tuples(st.integers(0, 5), st.integers(-50, 50), st.integers(0, 9)).map(lambda m: m if m[0] else (0, 0, 0)),
        all_moments,
    ),
    "text": Case(Text(), st.tuples(st.integers(1, 26), st.just(31)), one_by_one(Text()), commutative=False),
    "matrices": Case(Turn(), _turns, one_by_one(Turn()), commutative=False),
}
