"""Forest: trees in the making. What merging two of them would save, estimated for many at once and exact for one pair.

    ceilings(i)     upper bounds on what a merge of tree i with each other tree saves, one vector expression
    benefit(i, j)   what merging i and j saves, as an exact fraction

A planner looks for the largest benefit. Comparing fractions for millions of pairs would take minutes, comparing floats
could pick the wrong pair; so floats, rounded up by more than they can err, say which few pairs are worth a fraction.

Edges of many trees are counted in bit sets over their common period where that is short. Where it is not (the least
common multiple of unrelated slides has hundreds of digits) the bounds come from what pairs of queries have in common:

    E(x with y) >= E(x) + E(y) - sum over pairs of their queries of common edges

which is exact for two queries, and the exact density is only counted for the pairs that matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from operator import or_
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from weft.planners.candidates import NOBODY, Candidate, Lane, joined, together
from weft.planners.prices import UNPAYABLE, Price
from weft.slicing.edge_sets import BitRows, bit_rows
from weft.slicing.edges import Classes, common_tick, reduced
from weft.techniques.demand import Load

Floats = npt.NDArray[np.float64]
Longs = npt.NDArray[np.longdouble]
Positions = npt.NDArray[np.int64]
Estimates = npt.NDArray[np.floating[Any]]


def roundings(kind: npt.DTypeLike) -> float:
    """How far an estimate may err, relative to the costs that it is a difference of: some thirty roundings."""
    return 32 * float(np.finfo(kind).eps)


_WIDE = 20_000
"""Classes in all beyond which what two trees have in common is not looked up class by class."""


class Forest:
    """Trees of one kin that are being merged, numbered in order."""

    def __init__(self, trees: Sequence[Candidate], price: Price) -> None:
        self.price = price
        self.members: list[list[Candidate]] = [[tree] for tree in trees]
        self.alive = np.ones(len(trees), bool)
        self.evaluations = 0
        """Pairs weighed so far, in bounds or exactly."""
        self._shapes = [Candidate(NOBODY, tree.classes, tree.partials, tree.demand, tree.lanes) for tree in trees]
        self._edges = edges_of(trees, price)
        self._costs = [price.cost(shape, self._edges.density(i)) for i, shape in enumerate(self._shapes)]
        self._longs = np.array([_long(cost) for cost in self._costs], np.longdouble)
        self._floats = self._longs.astype(np.float64)
        self._bounds = Bounds(self._shapes, price) if weighable(trees, price) else None
        self.tight = self._bounds is None or isinstance(self._edges, _Rows)
        """Whether ceilings are within twice the slack of the benefits."""
        self.slack = 0.0
        """How far ceilings may be above the benefits by rounding."""

    def __len__(self) -> int:
        return len(self.members)

    def cost(self, i: int) -> Fraction:
        """What tree i costs."""
        return self._costs[i]

    def ceilings(self, i: int, first: int = 0) -> Floats:
        """Upper bounds on the benefit of merging tree i with each from `first` on; -inf for itself and the dead."""
        others = self.alive[first:].copy()
        if i >= first:
            others[i - first] = False
        self.evaluations += int(np.count_nonzero(others))
        found = np.full(len(others), -np.inf)
        if self._bounds is None:
            for j in (np.flatnonzero(others) + first).tolist():
                found[j - first] = above(self._weigh(min(i, j), max(i, j)))
        elif others.any():
            least, most = self._edges.unions(i, first)
            estimated = self._estimated(i, slice(first, None), least, most, np.float64)
            np.copyto(found, estimated, where=others)
        return found

    def sharpened(self, pairs: Sequence[tuple[int, int]]) -> Longs:
        """Upper bounds on the benefits of some pairs, in the longest floats that there are; only where `tight`."""
        left, right = np.array(pairs).T
        if self._bounds is None:
            return np.array([_long(self._weigh(i, j)) for i, j in pairs])
        union = self._edges.unions_of_pairs(left, right)
        return self._estimated(left, right, union, union, np.longdouble)

    def _estimated(self, left: Any, right: Any, least: Estimates, most: Estimates, kind: type) -> Estimates:
        assert self._bounds is not None
        costs = self._floats if kind is np.float64 else self._longs
        apart, merged = costs[left] + costs[right], self._bounds.merged(left, right, least, most, kind)
        slack = roundings(kind) * (apart + merged)
        if kind is np.float64:
            self.slack = max(self.slack, float(slack.max()))
        return np.asarray(apart - merged + slack)

    def benefit(self, i: int, j: int) -> Fraction:
        """What merging trees i and j saves: C(i) + C(j) - C(i with j)."""
        self.evaluations += 1
        return self._weigh(i, j)

    def merge(self, i: int, j: int) -> None:
        """Put tree j's queries into tree i."""
        shape, self._costs[i] = self._merged(i, j)
        self._edges.unite(i, j)
        self._shapes[i] = shape
        self._longs[i] = _long(self._costs[i])
        self._floats[i] = self._longs[i]
        self.members[i] += self.members[j]
        self.members[j] = []
        self.alive[j] = False
        if self._bounds is not None:
            self._bounds.put(i, shape)

    def compact(self) -> npt.NDArray[np.bool_]:
        """Forget the trees that are gone, and return which are left; those are numbered anew, in order."""
        kept = self.alive
        numbers = np.flatnonzero(kept).tolist()
        self.members = [self.members[i] for i in numbers]
        self._shapes = [self._shapes[i] for i in numbers]
        self._costs = [self._costs[i] for i in numbers]
        self._longs, self._floats, self.alive = self._longs[kept], self._floats[kept], self.alive[kept]
        self._edges.keep(kept)
        if self._bounds is not None:
            self._bounds.keep(kept)
        return kept

    def candidates(self) -> list[Candidate]:
        """The trees that are left."""
        return [together(members) for members in self.members if members]

    def _weigh(self, i: int, j: int) -> Fraction:
        return self._costs[i] + self._costs[j] - self._merged(i, j)[1]

    def _merged(self, i: int, j: int) -> tuple[Candidate, Fraction]:
        """Trees i and j as one, and what it costs; kept for the pair that was weighed last."""
        left, right = self._shapes[i], self._shapes[j]
        if self._weighed is None or self._weighed[0] is not left or self._weighed[1] is not right:
            lanes: tuple[Lane, ...] = joined([*left.lanes, *right.lanes])
            shape = Candidate(NOBODY, (), left.partials | right.partials, left.demand + right.demand, lanes)
            cost = self.price.cost(shape, self._edges.density_of_union(i, j))
            self._weighed = left, right, shape, cost
        return self._weighed[2:]

    _weighed: tuple[Candidate, Candidate, Candidate, Fraction] | None = None


def _long(value: Fraction) -> np.longdouble:
    """A fraction with all the digits that the longest float holds."""
    high = float(value)
    return np.longdouble(high) + np.longdouble(float(value - Fraction(high)))


def above(value: Fraction) -> float:
    """A float that is not below the fraction."""
    return float(np.nextafter(float(value), np.inf))


def weighable(trees: Sequence[Candidate], price: Price) -> bool:
    """Whether trees can be weighed many at a time: no single range, filter or one-range technique matters."""
    return not any(tree.lanes for tree in trees) and all(
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
        """Tree i is now of this shape."""
        demand = shape.demand
        self._longs[:, i] = demand.queries, _long(demand.overlap), _long(demand.answers), demand.longest
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

    def of_subsets(self, per_tick: Floats) -> Floats:
        """Costs of every set of the trees but the empty one, by its bits, for edges per tick of their unions."""
        sums, longest, serve = np.zeros((3, 1)), np.zeros(1), np.full(1, -1)
        for column, able in zip(self._floats.T, self._serve.tolist(), strict=True):
            sums = np.concatenate((sums, sums + column[:3, None]), axis=1)
            longest = np.concatenate((longest, np.maximum(longest, column[3])))
            serve = np.concatenate((serve, serve & able))
        columns = (*sums[:, 1:], longest[1:])
        return np.asarray(self._cost(columns, serve[1:], per_tick, per_tick, np.float64))

    def _cost(
        self, columns: Sequence[Estimates], serve: Positions, least: Estimates, most: Estimates, kind: type
    ) -> Estimates:
        price, (queries, overlap, answers, longest) = self._price, columns
        scale, rate = kind(_long(price.per_second(Fraction(1)))), kind(_long(price.base_rate))
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
    rows = edge_rate.dtype.type(_long(price.stats.rate)) / edge_rate
    if price.reading == "refined":
        return np.asarray(price.keys * -np.expm1(rows * np.log1p(-1 / edge_rate.dtype.type(price.keys))))
    return np.minimum(rows, price.keys)


class Edges(Protocol):
    """The edges of all trees: per tick, and of unions."""

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


def edges_of(trees: Sequence[Candidate], price: Price) -> Edges:
    """The edges of some trees, counted in the way that suits them."""
    rows = bit_rows([tree.classes for tree in trees])
    return _Rows(rows) if rows is not None else _Pairs([tree.classes for tree in trees], price)


class _Rows:
    """Edges in bit sets over one common period."""

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

    def keep(self, kept: npt.NDArray[np.bool_]) -> None:
        self._rows = replace(self._rows, rows=self._rows.rows[kept], edges=self._rows.edges[kept])


class _Pairs:
    """Edges as classes, and how much every two trees have in common at most."""

    def __init__(self, classes: list[Classes], price: Price) -> None:
        self._classes, self._price = classes, price
        self._known: dict[Classes, Fraction] = {}
        self._most = 1 / float(common_tick(edge_class for some in classes for edge_class in some))
        self._densities = np.array([float(self.density(i)) for i in range(len(classes))])
        wide = max(len(some) for some in classes) * len(classes) > _WIDE
        self._common = np.minimum.outer(self._densities, self._densities) if wide else common_edges(classes)

    def density(self, i: int) -> Fraction:
        return self._density(self._classes[i])

    def density_of_union(self, i: int, j: int) -> Fraction:
        return self._density(reduced(self._classes[i] + self._classes[j]))

    def _density(self, classes: Classes) -> Fraction:
        if classes not in self._known:
            self._known[classes] = self._price.edges_per_tick(classes)
        return self._known[classes]

    def unions(self, i: int, first: int) -> tuple[Estimates, Estimates]:
        one, others = self._densities[i], self._densities[first:]
        both = others + one
        least = np.maximum(np.maximum(others, one), both - self._common[i, first:])
        loose = 4 * roundings(np.float64)
        return least * (1 - loose), np.minimum(both, self._most) * (1 + loose)

    def unions_of_pairs(self, left: Positions, right: Positions) -> Longs:
        pairs = zip(left.tolist(), right.tolist(), strict=True)
        return np.array([_long(self.density_of_union(i, j)) for i, j in pairs])

    def unite(self, i: int, j: int) -> None:
        self._classes[i] = reduced(self._classes[i] + self._classes[j])
        self._densities[i] = float(self.density(i))
        common = np.minimum(self._common[i] + self._common[j], np.minimum(self._densities, self._densities[i]))
        self._common[i] = self._common[:, i] = common

    def keep(self, kept: npt.NDArray[np.bool_]) -> None:
        self._classes = [classes for classes, stays in zip(self._classes, kept, strict=True) if stays]
        self._densities, self._common = self._densities[kept], self._common[np.ix_(kept, kept)]


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
