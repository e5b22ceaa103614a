"""Technique: one final-aggregation algorithm, as a card that people read and functions that run.

A technique keeps a structure over a sequence of slices, which are numbered from 0 in the order in which they arrive.
`slide` takes in the next slices and answers windows: window j covers the slices lo[j], ..., hi[j] - 1, of which there
is at least one, and is a query's, of[j], where a technique wants to know.

    slices       0   1   2   3   4   5   6   7   8
    window j         [----------------)              lo[j] = 1, hi[j] = 5: answered once slice 4 is in

Older is always combined with newer, never the other way round, so operators need not commute.

The structure is a tuple of arrays and nothing else, so that it can be stored, restored (`snapshots.py`) and built again
from the slices. Slices of different keys may follow each other in one structure: a window never crosses from one key to
the next, what has been left behind costs nothing, and so a key without a row in most slices costs as much as it has
slices. Nothing here knows about time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from weft.algebra.operators import Matrix, Operator, laws
from weft.algebra.partials import Law
from weft.errors import BadRequest
from weft.jit import kernel
from weft.techniques.demand import Demand, load
from weft.techniques.omega import Omega

State = tuple[npt.NDArray[Any], ...]
"""The first array are the registers."""
Positions = npt.NDArray[np.int64]

AT, BEGUN, WIDEST, KEPT, OWN = range(5)
"""Registers: slices that have come in, where the last window began, the shape; from OWN on, the technique's own."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What a structure has to hold."""

    widest: int
    """Slices of the widest window."""
    retained: int = 0
    """Slices that windows may still reach back to, where any window can be asked for; at least `widest`."""
    queries: int = 1
    """Queries that are told apart, where a technique tells them apart."""
    widths: tuple[int, ...] = ()
    """The widths that windows will have, where they are known."""

    @property
    def kept(self) -> int:
        """Slices that have to be kept."""
        return max(self.widest, self.retained)


@dataclass(frozen=True, slots=True, eq=False)
class Technique:
    """A final-aggregation algorithm: what it is, what it costs, and what runs it."""

    name: str
    title: str
    first_appeared: str
    ranges: str
    """Which windows it serves."""
    time: str
    space: str
    needs: frozenset[Law]
    """Laws that an operator has to obey, besides being associative."""
    omega: Omega
    init: Callable[[Operator, Shape], State]
    slide: Callable[[Operator, State, Matrix, Positions, Positions, Positions, Matrix], None]
    """Without any checks; `advance` has them."""
    historical: bool = False
    """Whether any window that is still kept can be asked for; otherwise windows end at the newest slice, in order."""
    one_range: bool = False
    """Whether windows have to begin in order too, as those of one query do."""

    @property
    def ordering(self) -> str:
        """In which order windows may be asked for, in words."""
        if self.historical:
            return "any, as far back as slices are kept"
        return "by end and by begin" if self.one_range else "by end"

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

    def start(self, operator: Operator, shape: Shape) -> State:
        """An empty structure."""
        obeyed = laws(operator)
        if Law.RANKED in obeyed - self.needs:
            raise BadRequest("a quantile cannot be put together from partials", field=self.name, remedy="Use b_int_qnt")
        for law in sorted(self.needs - obeyed):
            raise BadRequest(
                f"{type(operator).__name__.lower()} is not {law}",
                field="technique",
                remedy=f"{self.name} needs that; use another technique",
            )
        if shape.widest < 1:
            raise BadRequest(f"the widest window has {shape.widest} slices", field="technique", remedy="Give 1 or more")
        return self.init(operator, shape)

    def advance(
        self,
        operator: Operator,
        state: State,
        partials: Matrix,
        lo: Positions,
        hi: Positions,
        of: Positions | None = None,
        out: Matrix | None = None,
    ) -> Matrix:
        """Take in the next slices, and answer windows; windows that the structure cannot answer are refused."""
        wrong = _checked(state[0], len(partials), lo, hi, self.historical, self.one_range)
        if wrong >= 0:
            raise BadRequest(self._why(state[0], len(partials), int(lo[wrong]), int(hi[wrong])), field=self.name)
        if out is None:
            out = np.empty((len(lo), partials.shape[1]), partials.dtype)
        try:
            self.slide(operator, state, partials, lo, hi, np.zeros(len(lo), np.int64) if of is None else of, out)
        except ValueError as error:  # what a kernel refuses by itself
            raise BadRequest(str(error), field=self.name) from None
        if len(lo):
            state[0][BEGUN] = lo[-1]
        return out

    def _why(self, registers: Positions, more: int, lo: int, hi: int) -> str:
        """Why a window cannot be answered."""
        at, widest, kept = (int(registers[number]) for number in (AT, WIDEST, KEPT))
        window = f"window [{lo}, {hi})"
        if hi <= lo:
            return f"{window} covers no slice"
        if hi - lo > widest:
            return f"{window} covers {hi - lo:,} slices, and the structure was made for {widest:,}"
        if hi > at + more:
            return f"{window} ends after the newest slice, which is {at + more - 1:,}"
        if self.historical:
            return f"{window} begins before the {kept:,} slices that are kept"
        return f"{window} is out of order: windows are answered {self.ordering}, and {at:,} slices had come in"


@kernel
def _checked(registers, more, lo, hi, historical, one_range):
    """The first window that cannot be answered, or -1."""
    at, widest, kept = registers[AT], registers[WIDEST], registers[KEPT]
    if _in_order(at, at + more, widest, kept, registers[BEGUN] if one_range else 0, lo, hi, one_range):
        return -1
    newest, begun = at, registers[BEGUN]
    for j in range(len(lo)):
        if hi[j] <= lo[j] or hi[j] - lo[j] > widest or hi[j] > at + more or lo[j] < 0:
            return j
        if historical:
            newest = max(newest, hi[j])
            if lo[j] < newest - kept:
                return j
        else:
            if hi[j] < newest or (one_range and lo[j] < begun):
                return j
            newest, begun = hi[j], lo[j]
    return -1


@kernel
def _in_order(at, end, widest, kept, begun, lo, hi, one_range):
    """Whether windows are such that anybody can answer them: found out without a branch, several at a time."""
    if not len(lo):
        return True
    wrong = (hi[0] < at) | (lo[0] < begun) | (lo[0] < 0) | (hi[-1] > end)
    if in_step(lo, hi):
        return not (wrong | (hi[0] <= lo[0]) | (hi[0] - lo[0] > widest))
    for j in range(len(lo)):
        wrong |= (hi[j] <= lo[j]) | (hi[j] - lo[j] > widest)
    if one_range:
        for j in range(1, len(lo)):
            wrong |= (hi[j] < hi[j - 1]) | (lo[j] < lo[j - 1])
    else:
        for j in range(1, len(lo)):
            wrong |= (hi[j] < hi[j - 1]) | (lo[j] < 0)
    return not wrong


@kernel
def in_step(lo, hi):
    """Whether each window begins and ends one slice after the one before; found out as `_in_order` does."""
    begin, end, wrong = lo[0], hi[0], lo[-1] - lo[0] != len(lo) - 1
    if not wrong:
        for j in range(len(lo)):
            wrong |= (lo[j] - j != begin) | (hi[j] - j != end)
    return not wrong


def ring(count: int) -> int:
    """The length of a ring that holds so many: a power of two, so that a position's place is a few bits of it.

    >>> ring(1), ring(5), ring(8)
    (1, 8, 8)
    """
    return 1 << max(count - 1, 0).bit_length()


def registers(shape: Shape, *own: int) -> npt.NDArray[np.int64]:
    """The numbers of an empty structure."""
    return np.array((0, 0, shape.widest, shape.kept, *own), np.int64)
