"""Forest: trees in the making. What merging two of them would save, estimated for many at once and exact for one pair.

    ceilings(i)     upper bounds on what a merge of tree i with each other tree saves, one vector expression
    benefit(i, j)   what merging i and j saves, as an exact fraction

A planner looks for the largest benefit. Comparing fractions for millions of pairs would take minutes, comparing floats
could pick the wrong pair; so floats, rounded up by more than they can err, say which few pairs are worth a fraction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from weft.planners.candidates import NOBODY, Candidate, Lane, joined, together
from weft.planners.estimates import Bounds, Estimates, Floats, Longs, above, long, roundings, weighable
from weft.planners.prices import Price
from weft.planners.tree_edges import Edges, Live, edges_of
from weft.slicing.edges import reduced

TIED = 8
"""So many benefits that agree to the last digit of a float are taken to be equal, and the first pair is chosen."""


class Forest:
    """Trees of one kin that are being merged, numbered in order."""

    def __init__(
        self,
        trees: Sequence[Candidate],
        price: Price,
        edges: Callable[[Sequence[Candidate]], Edges] = edges_of,
    ) -> None:
        self.price = price
        self.members: list[list[Candidate]] = [[tree] for tree in trees]
        self.alive = np.ones(len(trees), bool)
        self.evaluations = 0
        """Pairs weighed so far, in bounds or exactly."""
        self._shapes = [Candidate(NOBODY, tree.classes, tree.partials, tree.demand, tree.lanes) for tree in trees]
        self._edges = edges(trees)
        self._costs = [price.cost(shape, self._edges.density(i)) for i, shape in enumerate(self._shapes)]
        self._longs = np.array([long(cost) for cost in self._costs], np.longdouble)
        self._floats = self._longs.astype(np.float64)
        self._bounds = Bounds(self._shapes, price) if weighable(price) else None
        self.slack = 0.0
        """How far ceilings may be above the benefits by rounding."""

    def __len__(self) -> int:
        return len(self.members)

    @property
    def tight(self) -> bool:
        """Whether ceilings are within twice the slack of the benefits."""
        return self._bounds is None or self._edges.exact_unions

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
            return np.array([long(self._weigh(i, j)) for i, j in pairs])
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

    def partner(self, i: int, ceilings: Floats) -> int | None:
        """The tree that saves most together with tree i, the first one of several; None where none saves anything."""
        best, chosen = Fraction(0), None
        order = np.argsort(-ceilings, kind="stable").tolist()
        if order and self.tight and np.count_nonzero(ceilings >= ceilings[order[0]] - 2 * self.slack) > TIED:
            order = order[:1]
        for j in order:
            if ceilings[j] <= 0 or (chosen is not None and ceilings[j] < above(best)):
                break
            benefit = self.benefit(min(i, j), max(i, j))
            if benefit > best or (benefit == best and chosen is not None and j < chosen):
                best, chosen = benefit, j
        return chosen

    def merge(self, i: int, j: int) -> None:
        """Put tree j's queries into tree i."""
        shape, self._costs[i] = self._merged(i, j)
        self._edges.unite(i, j)
        self._shapes[i] = shape
        self._longs[i] = long(self._costs[i])
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

    def shape(self, i: int) -> Candidate:
        """Tree i as a candidate, less who its queries are."""
        members = self.members[i]
        classes = reduced(edge_class for member in members for edge_class in member.classes)
        return replace(self._shapes[i], classes=classes)

    def density(self, i: int) -> Fraction:
        """Edges per tick of tree i."""
        return self._edges.density(i)

    def append(self, tree: Candidate) -> int:
        """Another tree, and its number; only where the edges are `Live`."""
        assert isinstance(self._edges, Live)
        self._edges.put(len(self), tree.classes)
        self.members.append([tree])
        self.alive = np.append(self.alive, True)
        self._shapes.append(tree)
        self._costs.append(Fraction(0))
        self._longs, self._floats = np.append(self._longs, np.longdouble(0)), np.append(self._floats, 0.0)
        self._put(len(self) - 1, replace(tree, queries=NOBODY))
        return len(self) - 1

    def drop(self, i: int, member: Candidate) -> None:
        """Tree i without one of its members; only where the edges are `Live`."""
        assert isinstance(self._edges, Live)
        self.members[i] = left = [other for other in self.members[i] if other is not member]
        if not left:
            self.alive[i] = False
            return
        shape = self._shapes[i]
        demand = shape.demand.without(member.demand, max(other.demand.longest for other in left))
        lanes = joined([lane for other in left for lane in other.lanes])
        partials = frozenset().union(*{other.partials for other in left})
        self._edges.put(i, reduced({edge_class for other in left for edge_class in other.classes}))
        self._put(i, Candidate(NOBODY, (), partials, demand, lanes))

    def _put(self, i: int, shape: Candidate) -> None:
        self._shapes[i], self._costs[i] = shape, self.price.cost(shape, self._edges.density(i))
        self._longs[i] = self._floats[i] = long(self._costs[i])
        if self._bounds is not None:
            self._bounds.put(i, shape)

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
