"""Lanes: what a picture of a plan shows of each tree, in whole ticks, before anything has a place on paper.

    query a      |------------|                  a row: the first windows that begin at or after 0
                          |------------|
    slices       |--------|---|-----|--|-----|   blocks: from each edge to the next, first and last beyond the picture
                 0                       stretch

A tree's own stretch holds the windows of its rows, unless that would be more edges than can be told apart: then as many
edges as can, but never less than two of the longest slides, and if even these hold too many the lane has no blocks.
All lanes of a unit share the stretch that suits most of them; those that it does not suit keep their own.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, pairwise

import numpy as np
import numpy.typing as npt

from weft.plans.plan import Plan, Tree
from weft.queries.query import Query
from weft.queries.window import LONGEST
from weft.queries.workload import Workload
from weft.slicing.edges import Classes
from weft.slicing.slicers import residues

TREES = 12
"""Trees drawn, the dearest ones, before the rest is counted."""
_WINDOWS = 3
_EDGES_OF_ALL = 1_200
_AT_ONCE = 4096
_TOO_SMALL = 20
"""A lane shares a stretch only if its own is not that many times shorter."""


@dataclass(frozen=True)
class Row:
    """A query and the intervals [start, end) that its first windows cover."""

    query: Query
    windows: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Block:
    """A slice [start, end), and whether any window of the tree covers it."""

    start: int
    end: int
    covered: bool


@dataclass(frozen=True)
class Lane:
    """A tree, drawn from 0 to `stretch` in microseconds or rows."""

    number: int
    """The tree's place in the plan, from 1."""
    tree: Tree
    unit: str
    stretch: int
    alone: bool
    """Whether there are other lanes of the unit, and none has this stretch."""
    blocks: tuple[Block, ...]
    """Slices that tile the stretch; none where there are too many to draw."""
    gap: Fraction
    """Ticks from edge to edge, on an average over the first edges."""
    rows: tuple[Row, ...]


def lanes(plan: Plan) -> list[Lane]:
    """The lanes of the dearest trees, in the plan's order, those over time first."""
    dearest = sorted(range(len(plan.trees)), key=lambda place: (-plan.trees[place].cost, place))[:TREES]
    found = [lane for unit in ("time", "rows") for lane in _lanes(plan, sorted(dearest), unit)]
    assert len(found) == len(dearest)
    return found


def _lanes(plan: Plan, places: Sequence[int], unit: str) -> Iterator[Lane]:
    workload, most = plan.workload, max(60, _EDGES_OF_ALL // max(6, len(places)))
    shown = max(2, min(8, 30 // max(1, len(places))))
    places = [place for place in places if workload.counts_rows[plan.trees[place].queries[0]] == (unit == "rows")]
    trees = [plan.trees[place] for place in places]
    rows = [[_row(workload[position]) for position in _first(tree.queries.tolist(), shown)] for tree in trees]
    holds = [_holds(tree.slices, most) for tree in trees]
    own = [_own_stretch(rows_, held) for rows_, held in zip(rows, holds, strict=True)]

    def suits(stretch: int, lane: int) -> bool:
        held = holds[lane]
        roomy = own[lane] <= stretch < own[lane] * _TOO_SMALL
        return stretch == own[lane] or (roomy and (held is None or stretch <= held))

    common = max(own, key=lambda stretch: (sum(suits(stretch, lane) for lane in range(len(own))), stretch), default=1)
    stretches = [common if suits(common, lane) else own[lane] for lane in range(len(own))]
    for lane, stretch in enumerate(stretches):
        held, tree = holds[lane], trees[lane]
        blocks = () if held is not None and stretch > held else _blocks(plan, tree, stretch)
        alone = len(trees) > 1 and stretches.count(stretch) == 1
        gap = Fraction(stretch if held is None else held, most)
        yield Lane(places[lane] + 1, tree, unit, stretch, alone, blocks, gap, tuple(rows[lane]))


def _first(positions: list[int], shown: int) -> list[int]:
    """The first few; a single one that is left over takes no more room than saying so."""
    return positions if len(positions) == shown + 1 else positions[:shown]


def _row(query: Query) -> Row:
    window = query.window
    first, _ = residues(window)
    starts = [first + number * window.slide for number in range(_WINDOWS)]
    return Row(query, tuple((start, start + window.range) for start in starts))


def _own_stretch(rows: Sequence[Row], held: int | None) -> int:
    whole = max(row.windows[-1][1] for row in rows)
    least = 2 * max(row.query.window.slide for row in rows)
    return whole if held is None or whole <= held else max(held, least)


def _holds(classes: Classes, most: int) -> int | None:
    """The longest stretch with no more edges than that; None if there is no edge at all."""
    first = list(islice(edges(classes), most + 1))
    return first[-1] if first else None


def edges(classes: Classes, start: int = 0) -> Iterator[int]:
    """The edges at or after an instant, one by one, without end.

    >>> list(islice(edges(((9, 0), (9, 3), (6, 0), (6, 4))), 8))
    [0, 3, 4, 6, 9, 10, 12, 16]
    """

    def every(modulus: int, residue: int) -> Iterator[int]:
        at = start + (residue - start) % modulus
        while True:
            yield at
            at += modulus

    last = None
    for edge in heapq.merge(*(every(*edge_class) for edge_class in classes)):
        if edge != last:
            yield edge
        last = edge


def _blocks(plan: Plan, tree: Tree, stretch: int) -> tuple[Block, ...]:
    if not tree.slices:
        return (Block(0, stretch, True),)
    cuts = [max(-(-residue % modulus) for modulus, residue in tree.slices)]
    for edge in edges(tree.slices, cuts[0] + 1):
        cuts.append(edge)
        if edge >= stretch:
            break
    found = list(pairwise(cuts))
    covered = _covered(plan.workload, tree.queries, found)
    return tuple(Block(start, end, inside) for (start, end), inside in zip(found, covered, strict=True))


def _covered(workload: Workload, queries: npt.NDArray[np.int64], blocks: Sequence[tuple[int, int]]) -> list[bool]:
    """Which slices hold a part of a window: all of them, unless every query leaves rows out."""
    covered = [True] * len(blocks)
    if (workload.ranges[queries] >= workload.slides[queries]).any() or blocks[-1][1] >= LONGEST:
        return covered
    bare = list(range(len(blocks)))
    for at in range(0, len(queries), _AT_ONCE):  # the first thousands of windows cover nearly everything there is
        some = queries[at : at + _AT_ONCE]
        ranges, slides = workload.ranges[some], workload.slides[some]
        begins = (workload.offsets[some] - workload.delays[some]) % slides
        still = []
        for number in bare:
            start, end = blocks[number]
            since = (start - begins) % slides
            if not ((since < ranges) | (since + (end - start) > slides)).any():
                still.append(number)
        bare = still
    for number in bare:
        covered[number] = False
    return covered
