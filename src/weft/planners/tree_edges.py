"""Tree edges: how many edges per tick trees have, and would have together.

Rows    bit sets over one common period, where that is short: all unions of a tree in one expression
Pairs   classes, where the least common multiple of the slides has hundreds of digits. The bounds on unions come
        from what pairs of queries have in common,

            E(x with y) >= E(x) + E(y) - sum over pairs of their queries of common edges,

        which is exact for two queries; the exact density is counted for the pairs that matter
Live    classes of trees that queries join and leave: a bit set could take a query in, but not out again
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Protocol

import numpy as np
import numpy.typing as npt

from weft.planners.candidates import Candidate
from weft.planners.estimates import Estimates, Floats, Longs, Positions, long, roundings
from weft.planners.prices import cut
from weft.slicing.edge_sets import BitRows, bit_rows, common_period
from weft.slicing.edges import Classes, common_tick, reduced

_SMALL = 1 << 24
"""Bits of all bit sets that are worth laying out anew when a slide comes that they cannot hold."""
_CERTAIN = 64
"""Trees without a common period up to which the best pair is looked for until it is certain."""
_WIDE = 20_000
"""Classes in all, or pairs of them for two trees, beyond which these are not compared class by class."""


class Edges(Protocol):
    """The edges of all trees: per tick, and of unions."""

    @property
    def exact_unions(self) -> bool:
        """Whether `unions` gives the same bound twice."""

    def density(self, i: int) -> Fraction:
        """Of tree i, exactly."""

    def density_of_union(self, i: int, j: int) -> Fraction:
        """Of trees i and j together, exactly."""

    def unions(self, i: int, first: int) -> tuple[Estimates, Estimates]:
        """Of tree i with each from `first` on: at least, and at most."""

    def unions_of_pairs(self, left: Positions, right: Positions) -> Longs:
        """Of some pairs."""

    def unite(self, i: int, j: int) -> None:
        """Tree j is now part of tree i."""

    def keep(self, kept: npt.NDArray[np.bool_]) -> None:
        """Forget the others."""


def edges_of(trees: Sequence[Candidate]) -> Edges:
    """The edges of some trees, counted in the way that suits them."""
    rows = bit_rows([tree.classes for tree in trees])
    if rows is not None:
        return _Rows(rows)
    return bounded(trees) if len(trees) <= _CERTAIN else _Guessed(trees)


def bounded(trees: Sequence[Candidate]) -> Edges:
    """The edges of trees without a common period: bounds for all unions, and exact counts one by one."""
    return _Pairs(trees)


class _Rows:
    """Edges in bit sets over one common period."""

    exact_unions = True

    def __init__(self, rows: BitRows) -> None:
        self._rows, self._period = rows, rows.period * rows.tick

    def density(self, i: int) -> Fraction:
        return Fraction(int(self._rows.edges[i]), self._period)

    def density_of_union(self, i: int, j: int) -> Fraction:
        return Fraction(self._rows.edges_of_pair(i, j), self._period)

    def unions(self, i: int, first: int) -> tuple[Estimates, Estimates]:
        found = self._rows.union_edges(i, first) / float(self._period)
        return found, found

    def unions_of_pairs(self, left: Positions, right: Positions) -> Longs:
        bits = self._rows.rows
        step = max(1, (1 << 20) // bits.shape[1])
        edges = [
            np.bitwise_count(bits[left[at : at + step]] | bits[right[at : at + step]]).sum(axis=1, dtype=np.int64)
            for at in range(0, len(left), step)
        ]
        return np.concatenate(edges) / np.longdouble(self._period)

    def unite(self, i: int, j: int) -> None:
        self._rows.unite(i, j)

    def put(self, i: int, classes: Classes) -> bool:
        """Give row i, which may be a new one, these edges; False where they do not fit the period."""
        bits = self._rows.laid(classes)
        if bits is None:
            return False
        self._rows.put(i, bits)
        return True

    def keep(self, kept: npt.NDArray[np.bool_]) -> None:
        self._rows = replace(self._rows, rows=self._rows.rows[kept], edges=self._rows.edges[kept])


class _Classes:
    """Edges as classes."""

    @property
    def exact_unions(self) -> bool:
        return False

    def __init__(self, trees: Sequence[Candidate]) -> None:
        self._classes: list[Classes] = []
        self._exact: list[Fraction] = []
        for tree in trees:
            classes, density = cut(tree.classes)
            self._classes.append(classes)
            self._exact.append(density)
        self._floats = np.array([float(density) for density in self._exact])

    def density(self, i: int) -> Fraction:
        return self._exact[i]

    def density_of_union(self, i: int, j: int) -> Fraction:
        left, right = self._classes[i], self._classes[j]
        return self._exact[i] if left == right else cut(reduced(left + right))[1]

    def unions(self, i: int, first: int) -> tuple[Estimates, Estimates]:
        one, others, loose = self._floats[i], self._floats[first:], roundings(np.float64)
        # a union that cannot be counted is cut at every tick, of which there is at most one per microsecond
        return np.maximum(one, others) * (1 - loose), np.ones_like(others)

    def unions_of_pairs(self, left: Positions, right: Positions) -> Longs:
        pairs = zip(left.tolist(), right.tolist(), strict=True)
        return np.array([long(self.density_of_union(i, j)) for i, j in pairs])

    def unite(self, i: int, j: int) -> None:
        self.put(i, reduced(self._classes[i] + self._classes[j]))

    def put(self, i: int, classes: Classes) -> None:
        """Tree i, which may be one more than there were, now has these edges."""
        if i == len(self._classes):
            self._classes.append(())
            self._exact.append(Fraction(0))
            self._floats = np.append(self._floats, 0.0)
        self._classes[i], self._exact[i] = cut(classes)
        self._floats[i] = float(self._exact[i])

    def keep(self, kept: npt.NDArray[np.bool_]) -> None:
        numbers = np.flatnonzero(kept).tolist()
        self._classes, self._exact = [self._classes[i] for i in numbers], [self._exact[i] for i in numbers]
        self._floats = self._floats[kept]


class Live(_Classes):
    """Edges of trees that queries join and leave: as classes, and in bit sets while their period stays short."""

    def __init__(self, trees: Sequence[Candidate]) -> None:
        super().__init__(trees)
        self._rows = self._laid_out()

    @property
    def exact_unions(self) -> bool:
        """Whether there are bit sets now."""
        return self._rows is not None

    def density_of_union(self, i: int, j: int) -> Fraction:
        """Of trees i and j together, exactly."""
        return super().density_of_union(i, j) if self._rows is None else self._rows.density_of_union(i, j)

    def unions(self, i: int, first: int) -> tuple[Estimates, Estimates]:
        """Of tree i with each from `first` on: at least, and at most."""
        return super().unions(i, first) if self._rows is None else self._rows.unions(i, first)

    def put(self, i: int, classes: Classes) -> None:
        """Tree i, which may be one more than there were, now has these edges."""
        super().put(i, classes)
        if self._rows is None or not self._rows.put(i, classes):
            self._rows = self._laid_out()

    def keep(self, kept: npt.NDArray[np.bool_]) -> None:
        """Forget the others."""
        super().keep(kept)
        self._rows = self._laid_out()

    def _laid_out(self) -> _Rows | None:
        """Bit sets for all trees, where these are small."""
        if not self._classes or common_period(self._classes)[0] * len(self._classes) > _SMALL:
            return None
        rows = bit_rows(self._classes)
        return None if rows is None else _Rows(rows)


class _Pairs(_Classes):
    """Edges as classes, and how much every two trees have in common at most."""

    def __init__(self, trees: Sequence[Candidate]) -> None:
        super().__init__(trees)
        sets = self._classes
        width = max(len(classes) for classes in sets)
        wide = width * max(width, len(sets)) > _WIDE
        self._most = 1 / float(common_tick(edge_class for classes in sets for edge_class in classes))
        self._common = np.minimum.outer(self._floats, self._floats) if wide else common_edges(sets)

    def unions(self, i: int, first: int) -> tuple[Estimates, Estimates]:
        least, most = super().unions(i, first)
        loose = 4 * roundings(np.float64)
        apart = self._floats[first:] + self._floats[i] - self._common[i, first:]
        return np.maximum(least, apart * (1 - loose)), np.minimum(most, self._most * (1 + loose))

    def unite(self, i: int, j: int) -> None:
        super().unite(i, j)
        common = np.minimum(self._common[i] + self._common[j], np.minimum(self._floats, self._floats[i]))
        self._common[i] = self._common[:, i] = common

    def keep(self, kept: npt.NDArray[np.bool_]) -> None:
        super().keep(kept)
        self._common = self._common[np.ix_(kept, kept)]


class _Guessed(_Pairs):
    """Edges of many unrelated trees, guessed while they are merged; a tree's own price counts them in the end.

    What two trees have in common is added up over pairs of their queries, which counts an edge as often as there are
    queries that cut there. If that is as often in what they share as elsewhere, the sum is too large by as much as the
    sums of their queries' edges are:

        common(x, y) = sum over pairs x E(x) / sum over x x E(y) / sum over y

    It is exact for two queries, and for trees whose slides have no common divisor.
    """

    @property
    def exact_unions(self) -> bool:
        return True

    def __init__(self, trees: Sequence[Candidate]) -> None:
        super().__init__(trees)
        self._sums = self._floats.copy()

    def density(self, i: int) -> Fraction:
        return Fraction(float(self._floats[i]))

    def density_of_union(self, i: int, j: int) -> Fraction:
        return Fraction(float(self._guess(i, np.array([j]))[0]))

    def unions(self, i: int, first: int) -> tuple[Estimates, Estimates]:
        found = self._guess(i, np.arange(first, len(self._floats)))
        return found, found

    def unions_of_pairs(self, left: Positions, right: Positions) -> Longs:
        found = [self._guess(i, np.array([j]))[0] for i, j in zip(left.tolist(), right.tolist(), strict=True)]
        return np.array(found, np.longdouble)

    def unite(self, i: int, j: int) -> None:
        self._floats[i] = self._guess(i, np.array([j]))[0]
        self._sums[i] += self._sums[j]
        self._common[i] += self._common[j]
        self._common[:, i] = self._common[i]

    def keep(self, kept: npt.NDArray[np.bool_]) -> None:
        super().keep(kept)
        self._sums = self._sums[kept]

    def _guess(self, i: int, others: Positions) -> Floats:
        one, them = self._floats[i], self._floats[others]
        common = self._common[i, others] * (one / self._sums[i]) * (them / self._sums[others])
        least, most = np.maximum(one, them), np.minimum(one + them, self._most)
        found: Floats = np.clip(one + them - common, least, np.maximum(least, most))
        return found


def common_edges(sets: Sequence[Classes]) -> Floats:
    """Edges per tick that every two sets of classes have in common: exact for disjoint classes, else at most."""
    width = max(len(classes) for classes in sets)
    moduli, residues = np.ones((width, len(sets)), np.int64), np.zeros((width, len(sets)), np.int64)
    there = np.zeros((width, len(sets)), bool)
    for number, classes in enumerate(sets):
        for k, (modulus, residue) in enumerate(classes):
            moduli[k, number], residues[k, number], there[k, number] = modulus, residue, True
    common = np.zeros((len(sets), len(sets)))
    for k in range(width):
        for other in range(width):
            shared = np.gcd.outer(moduli[k], moduli[other])
            meet = (residues[k][:, None] - residues[other][None, :]) % shared == 0
            meet &= np.logical_and.outer(there[k], there[other])
            common += np.where(meet, shared / moduli[k].astype(np.float64)[:, None] / moduli[other], 0)
    return common
