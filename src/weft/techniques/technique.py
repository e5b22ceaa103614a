"""Technique: one final-aggregation algorithm, as a card that people read and functions that run.

`build` turns the partials of a stretch of slices into a state, a tuple of arrays. `fold` answers windows from it:
window j covers the slices lo[j], ..., hi[j] - 1, of which there is at least one. Slices of different keys may follow
each other in one state; a run never crosses from one key to the next.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from weft.algebra.operators import Matrix
from weft.algebra.partials import Law
from weft.techniques.demand import Demand, load
from weft.techniques.omega import Omega

State = tuple[npt.NDArray[Any], ...]
Positions = npt.NDArray[np.int64]


def unbuilt(*_: object) -> Any:
    """What a technique does that is priced and not built."""
    raise AssertionError("this technique is priced and not built; a plan that uses it is refused before it runs")


@dataclass(frozen=True, slots=True, eq=False)
class Technique:
    """A final-aggregation algorithm, with what it costs and, where it is built, what runs it."""

    name: str
    title: str
    first_appeared: str
    ranges: str
    time: str
    space: str
    needs: frozenset[Law]
    omega: Omega
    one_range: bool = False
    """Whether it serves windows of one range only."""
    build: Callable[[int, Matrix, int], State] = unbuilt
    fold: Callable[[int, State, Positions, Positions, Matrix], None] = unbuilt

    @property
    def is_built(self) -> bool:
        """Whether it can run; otherwise it is priced, to be compared."""
        return self.build is not unbuilt

    def operations(self, demand: Demand, edge_rate: Fraction, reading: str = "paper") -> Fraction:
        """Omega of one tree, for edges per tick."""
        return Fraction(self.omega.read(reading)(load(demand, edge_rate)))

    def least_operations(
        self, demand: Demand, edge_rate: Fraction, answering: Fraction, reading: str = "paper"
    ) -> Fraction:
        """Omega of any tree that has these queries and edges among others, if only a share of the answers is charged.

        That is per edge of these, and never more than the tree's own Omega is per edge of its own.
        """
        return Fraction(self.omega.never_falling(reading)(load(demand, edge_rate, answering)))
