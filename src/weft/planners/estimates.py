"""Estimates: what merged trees cost, for many of them at once, in floats.

A float errs by its roundings, and an estimate by those of all sums and products that it is made of. The estimates of a
benefit are therefore raised by more than they can err, and the few that lead are compared again: in the longest floats
that there are, and as fractions.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from operator import or_
from typing import Any

import numpy as np
import numpy.typing as npt

from weft.planners.candidates import Candidate
from weft.planners.prices import UNPAYABLE, Price
from weft.techniques.demand import Load

Floats = npt.NDArray[np.float64]
Longs = npt.NDArray[np.longdouble]
Positions = npt.NDArray[np.int64]
Estimates = npt.NDArray[np.floating[Any]]


def roundings(kind: npt.DTypeLike) -> float:
    """How far an estimate may err, relative to the costs that it is a difference of: some thirty roundings."""
    return 32 * float(np.finfo(kind).eps)


def long(value: Fraction) -> np.longdouble:
    """A fraction with all the digits that the longest float holds."""
    high = float(value)
    return np.longdouble(high) + np.longdouble(float(value - Fraction(high)))


def above(value: Fraction) -> float:
    """A float that is not below the fraction."""
    return float(np.nextafter(float(value), np.inf))


def weighable(price: Price) -> bool:
    """Whether trees can be weighed many at a time: no single range, filter, keys or one-range technique matters."""
    return not (price.stats.filters or price.mixed) and all(
        technique.omega.monotone and not technique.omega.by_range and not technique.one_range
        for technique in price.techniques
    )


class Bounds:
    """What merged trees cost at least, for all trees at once."""

    def __init__(self, shapes: Sequence[Candidate], price: Price) -> None:
        self._price = price
        self._longs = np.zeros((4, len(shapes)), np.longdouble)
        self._floats = np.zeros((4, len(shapes)))
        self._serve = np.zeros(len(shapes), np.int64)
        for i, shape in enumerate(shapes):
            self.put(i, shape)

    def put(self, i: int, shape: Candidate) -> None:
        """Tree i, which may be one more than there were, is now of this shape."""
        if i == len(self._serve):
            self._longs = np.append(self._longs, np.zeros((4, 1), np.longdouble), axis=1)
            self._floats = np.append(self._floats, np.zeros((4, 1)), axis=1)
            self._serve = np.append(self._serve, 0)
        demand = shape.demand
        self._longs[:, i] = demand.queries, long(demand.overlap), long(demand.answers), demand.longest
        self._floats[:, i] = self._longs[:, i]
        able = (bit for bit, t in enumerate(self._price.techniques) if self._price.refusal(t, shape) is None)
        self._serve[i] = reduce(or_, (1 << bit for bit in able), 0)

    def keep(self, kept: npt.NDArray[np.bool_]) -> None:
        """Forget the others."""
        self._longs, self._floats, self._serve = self._longs[:, kept], self._floats[:, kept], self._serve[kept]

    def merged(self, left: Any, right: Any, least: Estimates, most: Estimates, kind: type) -> Estimates:
        """Costs of trees merged pairwise, where their unions have from `least` to `most` edges per tick."""
        columns = self._floats if kind is np.float64 else self._longs
        sums = columns[:3, left].reshape(3, -1) + columns[:3, right].reshape(3, -1)
        longest = np.maximum(columns[3, left], columns[3, right])
        return self._cost((*sums, longest), self._serve[left] & self._serve[right], least, most, kind)

    def of_subsets(self, per_tick: Floats, most: float | None = None) -> Floats:
        """Costs of every set of the trees but the empty one, by its bits, for edges per tick of their unions.

        With `most`, what every tree costs at least that has these edges and up to `most`.
        """
        sums, longest, serve = np.zeros((3, 1)), np.zeros(1), np.full(1, -1)
        for column, able in zip(self._floats.T, self._serve.tolist(), strict=True):
            sums = np.concatenate((sums, sums + column[:3, None]), axis=1)
            longest = np.concatenate((longest, np.maximum(longest, column[3])))
            serve = np.concatenate((serve, serve & able))
        columns = (*sums[:, 1:], longest[1:])
        up_to = per_tick if most is None else np.full_like(per_tick, most)
        return np.asarray(self._cost(columns, serve[1:], per_tick, up_to, np.float64))

    def _cost(
        self, columns: Sequence[Estimates], serve: Positions, least: Estimates, most: Estimates, kind: type
    ) -> Estimates:
        price, (queries, overlap, answers, longest) = self._price, columns
        scale, rate = kind(long(price.per_second(Fraction(1)))), kind(long(price.base_rate))
        groups = _groups(price, least * scale)
        # answers cost least where most edges leave fewest groups with a row between two of them
        fewest = groups if most is least else _groups(price, most * scale)
        slices = np.maximum(np.ceil(longest * least * (1 - roundings(kind))), 1)
        load = Load(queries, overlap, answers / least * (fewest / groups), slices)
        omega: Estimates = np.full(len(least), np.inf, kind)
        for bit, technique in enumerate(price.techniques):
            operations = technique.omega.read(price.reading)(load)
            omega = np.where(serve >> bit & 1, np.minimum(omega, operations), omega)
        final = least * scale * groups * np.where(np.isinf(omega), 0, omega)
        return np.asarray(rate + np.where(np.isinf(omega), float(UNPAYABLE), final))


def _groups(price: Price, edge_rate: Estimates) -> Any:
    if price.keys == 1:
        return edge_rate.dtype.type(1)
    rows = edge_rate.dtype.type(long(price.stats.rate)) / edge_rate
    if price.reading == "refined":
        return np.asarray(price.keys * -np.expm1(rows * np.log1p(-1 / edge_rate.dtype.type(price.keys))))
    return np.minimum(rows, price.keys)
