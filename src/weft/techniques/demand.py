"""Demand: what the windows of a tree ask of final aggregation; and Load, once its edges are known.

    P = range x edge rate       the slices in a window, on average a fraction (Shein and Chrysanthis, TKDE 2020, 4.1)

Demands add up when trees merge; the load at an edge is worked out anew, because more queries cut more edges. Fields of
a Load are exact numbers for one tree, or arrays of floats for many at once: the formulas of `omega.py` do not mind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

Ticks = npt.NDArray[np.int64]


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
    asked: tuple[tuple[Ticks, Ticks], ...] = field(default=(), compare=False, repr=False)
    """Ranges and slides of all queries, in pieces; `ranges` puts them together when somebody wants to know."""

    def __add__(self, other: Demand) -> Demand:
        return Demand(
            self.queries + other.queries,
            self.overlap + other.overlap,
            self.answers + other.answers,
            max(self.longest, other.longest),
            self.asked + other.asked,
        )

    def without(self, part: Demand, longest: int) -> Demand:
        """Less a demand that has been added; the longest range that is left has to be said."""
        gone = {id(ranges) for ranges, _ in part.asked}
        return Demand(
            self.queries - part.queries,
            self.overlap - part.overlap,
            self.answers - part.answers,
            longest,
            tuple(piece for piece in self.asked if id(piece[0]) not in gone),
        )

    @cached_property
    def ranges(self) -> tuple[Ticks, Ticks, npt.NDArray[np.float64]]:
        """The different ranges, ascending, how many queries ask for each, and how many answers per tick."""
        ranges = np.concatenate([ranges for ranges, _ in self.asked])
        slides = np.concatenate([slides for _, slides in self.asked])
        distinct, which, counts = np.unique(ranges, return_inverse=True, return_counts=True)
        answers: npt.NDArray[np.float64] = np.bincount(which, 1 / slides, len(distinct)).astype(np.float64)
        return distinct, counts.astype(np.int64), answers

    @property
    def has_many_ranges(self) -> bool:
        """Whether the queries ask for more than one range."""
        return any(int(ranges.min()) != self.longest for ranges, _ in self.asked)


def total(demands: Sequence[Demand]) -> Demand:
    """The sum of some demands, in one go."""
    return Demand(
        sum(demand.queries for demand in demands),
        sum((demand.overlap for demand in demands), Fraction(0)),
        sum((demand.answers for demand in demands), Fraction(0)),
        max(demand.longest for demand in demands),
        tuple(piece for demand in demands for piece in demand.asked),
    )


def demanded(ranges: Ticks, slides: Ticks) -> Demand:
    """What windows of these ranges and slides ask for."""
    overlap = answers = Fraction(0)
    for slide in [int(slides[0])] if slides.min() == slides.max() else np.unique(slides).tolist():
        chosen = ranges[slides == slide]
        overlap += Fraction(_sum(chosen), slide)
        answers += Fraction(len(chosen), slide)
    return Demand(len(ranges), overlap, answers, int(ranges.max()), ((ranges, slides),))


def _sum(numbers: Ticks) -> int:
    """A sum that does not overflow."""
    return (int((numbers >> 32).sum()) << 32) + int((numbers & 0xFFFF_FFFF).sum())


@dataclass(frozen=True)
class Load:
    """What final aggregation meets at an edge: of one tree in exact numbers, or of many trees in arrays."""

    queries: Any
    """Q: how many queries there are."""
    overlap: Any
    """Sum of range / slide."""
    due: Any
    """Answers due per edge: sum of 1 / slide, over the edge rate."""
    slices: Any
    """P_max: slices in the longest window, rounded up."""
    demand: Demand | None = None
    """For formulas that ask for every range; None where many trees are weighed at once."""
    edge_rate: Fraction = Fraction(1)
    """Edges per tick."""
    answering: Fraction = Fraction(1)
    """The share of the answers that is charged."""

    def parts(self, rounded_up: bool = False) -> tuple[npt.NDArray[Any], Ticks, npt.NDArray[np.float64]]:
        """Whole slices in the different windows, how many queries ask for each, and answers due per edge."""
        assert self.demand is not None, "this formula needs every range"
        ranges, counts, answers = self.demand.ranges
        up, down = self.edge_rate.as_integer_ratio()
        wide = int(ranges[-1]) * up >= 1 << 62 or down >= 1 << 62
        scaled = (ranges.astype(object) if wide else ranges) * up
        whole = -(-scaled // down) if rounded_up else scaled // down
        return whole.astype(np.int64), counts, answers * (float(self.answering) / float(self.edge_rate))

    @property
    def lengths(self) -> npt.NDArray[np.float64]:
        """Slices in the different windows, on average."""
        assert self.demand is not None, "this formula needs every range"
        return np.asarray(self.demand.ranges[0] * float(self.edge_rate), np.float64)


def load(demand: Demand, edge_rate: Fraction, answering: Fraction = Fraction(1)) -> Load:
    """The load of one tree, for edges per tick."""
    slices = max(int(-(-demand.longest * edge_rate // 1)), 1)
    due = demand.answers * answering / edge_rate
    return Load(demand.queries, demand.overlap, due, slices, demand, edge_rate, answering)
