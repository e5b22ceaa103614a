"""Technique: one final-aggregation algorithm, as a card that people read and functions that run.

`build` turns the partials of a stretch of slices into a state, a tuple of arrays. `fold` answers windows from it:
window j covers the slices lo[j], ..., hi[j] - 1, of which there is at least one. Slices of different keys may follow
each other in one state; a run never crosses from one key to the next.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from weft.algebra.operators import Matrix
from weft.algebra.partials import Law

State = tuple[npt.NDArray[Any], ...]
Positions = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Demand:
    """What a tree's windows ask of a technique, in ticks. Demands add up."""

    queries: int
    overlap: Fraction
    """Sum of range / slide."""
    answers: Fraction
    """Answers due per tick: sum of 1 / slide."""
    longest: int
    """The longest range."""
    asked: tuple[npt.NDArray[np.int64], ...] = field(default=(), compare=False, repr=False)
    """The ranges of all queries, in pieces; `ranges` puts them together when somebody wants to know."""

    def __add__(self, other: Demand) -> Demand:
        return Demand(
            self.queries + other.queries,
            self.overlap + other.overlap,
            self.answers + other.answers,
            max(self.longest, other.longest),
            self.asked + other.asked,
        )

    @cached_property
    def ranges(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The different ranges, ascending, and how many queries ask for each."""
        distinct, counts = np.unique(np.concatenate(self.asked), return_counts=True)
        return distinct, counts


def total(demands: Sequence[Demand]) -> Demand:
    """The sum of some demands, in one go."""
    return Demand(
        sum(demand.queries for demand in demands),
        sum((demand.overlap for demand in demands), Fraction(0)),
        sum((demand.answers for demand in demands), Fraction(0)),
        max(demand.longest for demand in demands),
        tuple(piece for demand in demands for piece in demand.asked),
    )


@dataclass(frozen=True, slots=True)
class Technique:
    """A final-aggregation algorithm.

    Its Omega, operations per edge, is `per_slice` (given the edges per tick) plus `per_answer` for each answer due.
    """

    name: str
    title: str
    first_appeared: str
    ranges: str
    time: str
    space: str
    needs: frozenset[Law]
    build: Callable[[int, Matrix, int], State]
    fold: Callable[[int, State, Positions, Positions, Matrix], None]
    per_slice: Callable[[Demand, Fraction], Fraction]
    per_answer: int
    formula: str

    def operations(self, demand: Demand, edge_rate: Fraction) -> Fraction:
        """Omega, for edges per tick."""
        return self.per_slice(demand, edge_rate) + self.per_answer * demand.answers / edge_rate
