"""Edge sets: the edges of many sets of classes at once, for planners that weigh thousands of unions.

`BitRows` has a row of bits for every set, one bit per tick of the common period (the "Edges Bitmap" of Guirguis et al.,
CIKM 2011, section 8). A union is an `or`, its size a count of bits, and one expression does it for all rows:

    set 0    # . . # . .        edges         3 3 2
    set 1    # . # . # .        union_edges(0)
    set 2    . # . # . .                      2 4 3     (set 0 with 0, 1 and 2)

`subset_edges` goes further for up to eighteen sets: the edges of the union of every subset. Each instant has a
signature, the sets that have an edge there. A union misses the instants whose signature lies within the sets left
out, so one pass over the period counts signatures, and one sum over subsets (Yates' algorithm, 1937) turns these into
the counts of all 2^n unions. Where the period is too long to be walked, intersections are counted instead, as far as
these are few.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from weft.slicing.bit_set import PIECE, laid_out
from weft.slicing.edges import Classes, in_ticks, reduced
from weft.slicing.signed_map import SignedMap, common, edges_within, signed_map

Bits = npt.NDArray[np.uint64]
Counts = npt.NDArray[np.int64]

_MOST_BITS = 1 << 31
_MOST_SETS = 18
_LONGEST_WALK = 1 << 26
_MOST_MEETINGS = 1 << 18
_BLOCK = 1 << 15
"""Words counted at a time: what fits the processor's cache is counted twice as fast."""


@dataclass(slots=True)
class BitRows:
    """Rows of edges over one common period. State: `unite` changes a row."""

    rows: Bits
    period: int
    """In ticks."""
    tick: int
    edges: Counts
    """Edges of each row within the period."""
    origin: int = 0
    """The instant that the first bit stands for."""

    def union_edges(self, i: int, first: int = 0) -> Counts:
        """Edges of row i united with every row from `first` on."""
        return self.union_edges_of(self.rows[i], first)

    def union_edges_of(self, bits: Bits, first: int = 0) -> Counts:
        """Edges of some bits united with every row from `first` on."""
        block = max(1, _BLOCK // self.rows.shape[1])
        parts = [_count(self.rows[at : at + block] | bits) for at in range(first, len(self.rows), block)]
        return np.concatenate(parts) if parts else np.zeros(0, np.int64)

    def edges_of_pair(self, i: int, j: int) -> int:
        """Edges of rows i and j united."""
        return int(_count(self.rows[i] | self.rows[j]))

    def unite(self, i: int, j: int) -> None:
        """Put the union of rows i and j into row i."""
        self.rows[i] |= self.rows[j]
        self.edges[i] = _count(self.rows[i])

    def laid(self, classes: Classes) -> Bits | None:
        """A row of this period for some classes; None where they have another period, or a finer tick."""
        counted = []
        for modulus, residue in classes:
            ticks, left = divmod(modulus, self.tick)
            if left or (residue - self.origin) % self.tick or self.period % ticks:
                return None
            counted.append((ticks, (residue - self.origin) // self.tick % ticks))
        return _packed(tuple(counted), self.period)

    def put(self, i: int, bits: Bits) -> None:
        """Row i is now this one; it may be one more than there were."""
        if i == len(self.rows):
            self.rows, self.edges = np.vstack((self.rows, bits)), np.append(self.edges, 0)
        self.rows[i], self.edges[i] = bits, _count(bits)

    def copy(self) -> BitRows:
        """The same rows, to be changed apart."""
        return BitRows(self.rows.copy(), self.period, self.tick, self.edges.copy(), self.origin)


def bit_rows(sets: Sequence[Classes]) -> BitRows | None:
    """A row for each set, or None where the rows would take more than 2^31 bits.

    >>> rows = bit_rows([((60, 0),), ((90, 0), (90, 60))])
    >>> rows.period, rows.tick, rows.edges.tolist(), rows.union_edges(0).tolist()
    (6, 30, [3, 4], [3, 5])
    """
    tick, period, counted = _in_common_ticks(sets)
    if len(sets) * period > _MOST_BITS:
        return None
    rows = np.zeros((len(sets), -(-period // 64)), np.uint64)
    for number, classes in enumerate(counted):
        rows[number] = _packed(classes, period)
    origin = next((residue for classes in sets for _, residue in classes), 0)
    found = BitRows(rows, period, tick, np.zeros(len(sets), np.int64), origin)
    found.edges = found.union_edges_of(np.zeros(rows.shape[1], np.uint64))
    return found


def common_period(sets: Sequence[Classes]) -> tuple[int, int]:
    """The common period of some sets in ticks, and the tick.

    >>> common_period([((60, 7),), ((90, 37),)])
    (6, 30)
    """
    tick, period, _ = _in_common_ticks(sets)
    return period, tick


def subset_edges(sets: Sequence[Classes]) -> npt.NDArray[Any] | None:
    """Edges of the union of every subset within the common period, or None where they are too many to count.

    Subset number b has set k just when bit k of b is set. Counts of periods beyond 2^62 ticks are Python's integers.

    >>> subset_edges([((2, 0),), ((3, 0),), ((6, 1),)]).tolist()  # of 6 ticks
    [0, 3, 2, 4, 1, 4, 3, 5]
    """
    if len(sets) > _MOST_SETS:
        return None
    _, period, counted = _in_common_ticks(sets)
    if period > _LONGEST_WALK:
        return _by_intersections(counted, period)
    within = _signatures(counted, period)
    _sum_over_subsets(within)
    return np.asarray(period - within[::-1])


def _packed(classes: Classes, period: int) -> Bits:
    row = np.zeros(-(-period // 64), np.uint64)
    for at in range(0, period, PIECE):
        packed = np.packbits(laid_out(classes, at, min(at + PIECE, period)))
        row.view(np.uint8)[at // 8 : at // 8 + len(packed)] = packed
    return row


def _count(bits: Bits) -> Counts:
    found: Counts = np.bitwise_count(bits).sum(axis=-1, dtype=np.int64)
    return found


def _in_common_ticks(sets: Sequence[Classes]) -> tuple[int, int, list[Classes]]:
    tick, classes = in_ticks(edge_class for each in sets for edge_class in each)
    waiting = iter(classes)
    counted = [reduced(next(waiting) for _ in each) for each in sets]
    return tick, math.lcm(*{modulus for modulus, _ in classes}), counted


def _signatures(sets: Sequence[Classes], period: int) -> Counts:
    """How many instants of the period have an edge in exactly which sets."""
    found = np.zeros(1 << len(sets), np.int64)
    for at in range(0, period, PIECE):
        signature = np.zeros(min(PIECE, period - at), np.int32)
        for number, classes in enumerate(sets):
            for modulus, residue in classes:
                signature[(residue - at) % modulus :: modulus] |= 1 << number
        found += np.bincount(signature, minlength=len(found))
    return found


def _by_intersections(sets: Sequence[Classes], period: int) -> npt.NDArray[Any] | None:
    """Inclusion and exclusion: what the sets of each subset have in common, with alternating signs, summed up."""
    signed = [signed_map(classes) for classes in sets]
    terms = np.zeros(1 << len(sets), object if period >> 62 else np.int64)
    waiting: list[tuple[int, int, SignedMap]] = [(0, 0, {(1, 0): -1})]
    meetings = 0
    while waiting:
        subset, first, met = waiting.pop()
        for number in range(first, len(sets)):
            meetings += len(met) * len(signed[number])
            if meetings > _MOST_MEETINGS:
                return None
            both = {edge_class: -count for edge_class, count in common(met, signed[number]).items()}
            if both:
                larger = subset | 1 << number
                terms[larger] = edges_within(both, period)
                waiting.append((larger, number + 1, both))
    _sum_over_subsets(terms)
    return terms


def _sum_over_subsets(terms: npt.NDArray[Any]) -> None:
    """Make each term the sum over all subsets of its own, in place."""
    width = 1
    while width < len(terms):
        halves = terms.reshape(-1, 2, width)
        halves[:, 1] += halves[:, 0]
        width *= 2
