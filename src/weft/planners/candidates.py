"""Candidates: what the planners put together. A candidate is a set of queries that could be one tree.

Queries with the same edges never lose by sharing (merging them adds no edge and saves a pass), so a workload of a
million windows collapses to as many candidates as there are different edge sets, before any planner starts. Only
queries of one kin can share (see `weft.plans.kin`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from weft.algebra.partials import Partial, partials
from weft.queries.window import Window
from weft.queries.workload import Workload
from weft.slicing.edges import Classes, reduced
from weft.slicing.slicers import SLICERS
from weft.techniques.technique import Demand


@dataclass(frozen=True, slots=True)
class Candidate:
    """Queries that could share a tree: their positions, edges, partials, and what they ask of a technique."""

    queries: npt.NDArray[np.int64]
    classes: Classes
    partials: frozenset[Partial]
    demand: Demand

    def __or__(self, other: Candidate) -> Candidate:
        return Candidate(
            np.sort(np.concatenate((self.queries, other.queries))),
            reduced(self.classes + other.classes),
            self.partials | other.partials,
            self.demand + other.demand,
        )


def candidates(workload: Workload, queries: npt.NDArray[np.int64], slicing: str) -> list[Candidate]:
    """Queries of one kin, those with the same edges together, in order of their first query."""
    windows, window_of = _distinct_windows(workload, queries)
    signatures: dict[Classes, int] = {}
    signature_of_window = np.array(
        [signatures.setdefault(reduced(SLICERS[slicing](window)), len(signatures)) for window in windows]
    )
    signature = signature_of_window[window_of]
    needed = _partials_of_prototypes(workload)
    counts = np.bincount(window_of, minlength=len(windows))
    demanded: list[Counter[tuple[int, int]]] = [Counter() for _ in signatures]
    for window, number, count in zip(windows, signature_of_window, counts, strict=True):
        demanded[number][(window.range, window.slide)] += int(count)
    order = np.argsort(signature, kind="stable")
    borders = np.cumsum(np.bincount(signature, minlength=len(signatures)))[:-1]
    found = []
    for classes, demand, piece in zip(signatures, demanded, np.split(order, borders), strict=True):
        positions = queries[piece]
        partials_ = frozenset().union(*(needed[i] for i in np.unique(workload.prototype[positions])))
        found.append(Candidate(positions, classes, partials_, _demand(demand)))
    return sorted(found, key=lambda candidate: int(candidate.queries[0]))


def singletons(workload: Workload, queries: npt.NDArray[np.int64], slicing: str) -> list[Candidate]:
    """A candidate for every query of one kin, in order."""
    windows, window_of = _distinct_windows(workload, queries)
    classes = [reduced(SLICERS[slicing](window)) for window in windows]
    demands = [_demand(Counter([(window.range, window.slide)])) for window in windows]
    needed = _partials_of_prototypes(workload)
    return [
        Candidate(queries[i : i + 1], classes[w], needed[workload.prototype[queries[i]]], demands[w])
        for i, w in enumerate(window_of.tolist())
    ]


def _distinct_windows(workload: Workload, queries: npt.NDArray[np.int64]) -> tuple[list[Window], npt.NDArray[np.int64]]:
    """The different windows of some queries of one kin, and which one each query has."""
    columns = (workload.ranges, workload.slides, workload.offsets, workload.delays)
    sizes = np.column_stack([column[queries] for column in columns])
    distinct, window_of = np.unique(sizes, axis=0, return_inverse=True)
    unit = "rows" if workload.counts_rows[queries[0]] else "time"
    windows = [Window.of(size, slide, offset, delay, unit) for size, slide, offset, delay in distinct.tolist()]
    return windows, window_of.reshape(-1)


def _partials_of_prototypes(workload: Workload) -> list[frozenset[Partial]]:
    return [
        frozenset(partial for aggregate in prototype.aggregates for partial in partials(aggregate))
        for prototype in workload.prototypes
    ]


def _demand(windows: Counter[tuple[int, int]]) -> Demand:
    """What windows of these ranges and slides, so many of each, ask for."""
    totals: dict[int, list[int]] = {}
    asked: Counter[int] = Counter()
    for (size, slide), count in windows.items():
        asked[size] += count
        total = totals.setdefault(slide, [0, 0])
        total[0] += size * count
        total[1] += count
    return Demand(
        windows.total(),
        sum((Fraction(total, slide) for slide, (total, _) in totals.items()), Fraction(0)),
        sum((Fraction(count, slide) for slide, (_, count) in totals.items()), Fraction(0)),
        max(asked),
        ((np.array(sorted(asked)), np.array([asked[size] for size in sorted(asked)])),),
    )
