"""Subsets: what every set of a few candidates costs as one tree, and the partition that costs least.

    best[S] = min over T within S, T with the highest element of S, of  cost[T] + best[S without T]

For all S with highest element k at once this is a convolution in (min, +) over disjoint subsets of the elements below
k. It halves like a product of polynomials: with the next element in neither, in T, or in the rest, three half-sized
ones, down to eight elements, where the 3^8 pairs stand in a table. 16 candidates are 3^16 = 43 million sums.

Costs are floats here; partitions that differ by less than the last few digits of a float count as equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from weft.planners.candidates import Candidate
from weft.planners.estimates import Bounds, Floats, weighable
from weft.planners.ledger import Ledger
from weft.planners.prices import Price
from weft.slicing.edge_sets import common_period, subset_edges

MOST = 16
ONE_BY_ONE = 10
"""Candidates up to which every set is priced by itself, where trees cannot be weighed many at once."""
_LEAF = 8


def subset_costs(queries: Sequence[Candidate], price: Price, most: float | None = None) -> Floats | None:
    """The cost of every set of candidates, by its bits; None where there are too many sets to price.

    With `most`, what every tree costs at least that has the set among others, and up to so many edges per tick.
    """
    if len(queries) > MOST:
        return None
    edges = subset_edges([query.classes for query in queries]) if weighable(price) else None
    if edges is None:
        return _one_by_one(queries, price) if len(queries) <= ONE_BY_ONE and most is None else None
    period, tick = common_period([query.classes for query in queries])
    per_tick = edges[1:].astype(np.float64) / (float(period) * tick)
    found = np.zeros(1 << len(queries))
    found[1:] = Bounds(queries, price).of_subsets(per_tick, most)
    return found


def _one_by_one(queries: Sequence[Candidate], price: Price) -> Floats:
    ledger, found = Ledger(queries, price), np.zeros(1 << len(queries))
    for bits in range(1, len(found)):
        found[bits] = float(ledger.cost(frozenset(i for i in range(len(queries)) if bits >> i & 1)))
    return found


def cheapest(costs: Floats) -> tuple[float, list[int]]:
    """The least that a partition of all candidates costs, and its trees as bits."""
    count = len(costs).bit_length() - 1
    best = np.zeros(len(costs))
    for k in range(count):
        half = 1 << k
        best[half : 2 * half] = _disjoint(costs[half : 2 * half], best[:half])
    trees, left = [], len(costs) - 1
    while left:
        top = 1 << (left.bit_length() - 1)
        within = _within(left ^ top)
        tree = int(top | within[int(np.argmin(costs[top | within] + best[left ^ (top | within)]))])
        trees.append(tree)
        left ^= tree
    return float(best[-1]), trees


def _disjoint(left: Floats, right: Floats) -> Floats:
    """For every set R, the least left[T] + right[R without T] over T within R."""
    if len(left) <= 1 << _LEAF:
        taken, rest, starts = _splits(len(left).bit_length() - 1)
        return np.asarray(np.minimum.reduceat(left[taken] + right[rest], starts))
    half = len(left) // 2
    without = _disjoint(left[:half], right[:half])
    within = np.minimum(_disjoint(left[half:], right[:half]), _disjoint(left[:half], right[half:]))
    return np.concatenate((without, within))


@lru_cache(maxsize=_LEAF + 1)
def _splits(count: int) -> tuple[npt.NDArray[np.int64], ...]:
    """All (T, R without T), by R, and where each R begins."""
    parts = [_within(bits) for bits in range(1 << count)]
    taken = np.concatenate(parts)
    rest = np.concatenate([bits ^ part for bits, part in enumerate(parts)])
    starts = np.cumsum([0, *(len(part) for part in parts[:-1])])
    return taken, rest, starts


def _within(bits: int) -> npt.NDArray[np.int64]:
    """All subsets of a set."""
    found = np.zeros(1, np.int64)
    while bits:
        lowest = bits & -bits
        found = np.concatenate((found, found | lowest))
        bits ^= lowest
    return found
