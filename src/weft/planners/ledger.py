"""Ledger: what any set of candidates costs as one tree, exactly, looked up if it was asked before.

For planners that try many groupings of few candidates. Sets are frozensets of candidate numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cached_property

import numpy as np

from weft.planners.candidates import NOBODY, Candidate, joined, together
from weft.planners.prices import Price, cut
from weft.slicing.edge_sets import bit_rows, common_period
from weft.techniques.demand import total

Members = frozenset[int]


class Ledger:
    """Costs of sets of candidates under a price."""

    def __init__(self, candidates: Sequence[Candidate], price: Price) -> None:
        self.candidates, self.price = candidates, price
        self.evaluations = 0
        """Sets priced so far."""
        self._rows = bit_rows([candidate.classes for candidate in candidates])
        self._known: dict[Members, Fraction] = {}
        self._least: dict[Members, Fraction] = {}

    def __len__(self) -> int:
        return len(self.candidates)

    def cost(self, members: Members) -> Fraction:
        """What the candidates of these numbers cost as one tree."""
        if members not in self._known:
            self.evaluations += 1
            self._known[members] = self._price(members)
        return self._known[members]

    def least(self, members: Members) -> Fraction:
        """What a tree costs at least that has the candidates of these numbers, whoever else is in it."""
        if members not in self._least:
            shape, per_tick = self._shape(members)
            self._least[members] = self.price.least_cost(shape, per_tick, self.most)
        return self._least[members]

    @cached_property
    def most(self) -> Fraction:
        """Edges per tick that no tree exceeds."""
        if self._rows is not None:
            return self._counted(range(len(self)))
        # where a tree's edges cannot be counted it is cut at every common tick
        return Fraction(1, common_period([candidate.classes for candidate in self.candidates])[1])

    def benefit(self, left: Members, right: Members) -> Fraction:
        """What putting two trees together saves."""
        return self.cost(left) + self.cost(right) - self.cost(left | right)

    def total(self, trees: Iterable[Members]) -> Fraction:
        """What some trees cost together."""
        return sum((self.cost(members) for members in trees), Fraction(0))

    def trees(self, trees: Iterable[Members]) -> list[Candidate]:
        """The trees as candidates."""
        return [together([self.candidates[i] for i in sorted(members)]) for members in trees]

    def _price(self, members: Members) -> Fraction:
        if self._rows is None:
            return self.price.cost(together([self.candidates[i] for i in members]))
        return self.price.cost(*self._shape(members))

    def _shape(self, members: Members) -> tuple[Candidate, Fraction]:
        """The candidates as one, less who they are, and their edges per tick, or no more than these."""
        parts = [self.candidates[i] for i in members]
        shape = Candidate(
            NOBODY,
            (),
            frozenset().union(*(part.partials for part in parts)),
            total([part.demand for part in parts]),
            joined([lane for part in parts for lane in part.lanes]),
        )
        if self._rows is not None:
            return shape, self._counted(members)
        classes = together(parts).classes
        cut_at, per_tick = cut(classes)
        if cut_at != classes:  # at more than its edges, and a larger tree may be cut at fewer
            per_tick = max(cut(part.classes)[1] for part in parts)
        return shape, per_tick

    def _counted(self, members: Iterable[int]) -> Fraction:
        assert self._rows is not None
        edges = np.bitwise_count(np.bitwise_or.reduce(self._rows.rows[list(members)])).sum(dtype=np.int64)
        return Fraction(int(edges), self._rows.period * self._rows.tick)


def alone(count: int) -> list[Members]:
    """Every candidate for itself."""
    return [frozenset({number}) for number in range(count)]


def whole(values: Sequence[Fraction]) -> list[int]:
    """Fractions as integers of one scale, to be added and compared quickly.

    >>> whole([Fraction(1, 2), Fraction(2, 3)])
    [3, 4]
    """
    scale = math.lcm(*(value.denominator for value in values))
    return [value.numerator * (scale // value.denominator) for value in values]
