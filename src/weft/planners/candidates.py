"""Candidates: what the planners put together. A candidate is a set of queries that could be one tree.

Queries with the same edges never lose by sharing (merging them adds no edge and saves a pass), so a workload of a
million windows collapses to as many candidates as there are different edge sets, before any planner starts. Only
queries of one kin can share (see `weft.plans.kin`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from weft.algebra.partials import Partial, partials
from weft.queries.window import Window
from weft.queries.workload import Workload
from weft.slicing.edges import Classes, reduced
from weft.slicing.slicers import SLICERS
from weft.techniques.technique import Demand, total


@dataclass(frozen=True, slots=True)
class Candidate:
    """Queries that could share a tree: their positions, edges, partials, and what they ask of a technique."""

    queries: npt.NDArray[np.int64]
    classes: Classes
    partials: frozenset[Partial]
    demand: Demand

    def __or__(self, other: Candidate) -> Candidate:
        return together((self, other))


def together(parts: Sequence[Candidate]) -> Candidate:
    """Some candidates as one."""
    if len(parts) == 1:
        return parts[0]
    return Candidate(
        np.sort(np.concatenate([part.queries for part in parts])),
        reduced(edge_class for part in parts for edge_class in part.classes),
        frozenset().union(*(part.partials for part in parts)),
        total([part.demand for part in parts]),
    )


def candidates(workload: Workload, queries: npt.NDArray[np.int64], slicing: str) -> list[Candidate]:
    """Queries of one kin, those with the same edges together, in order of their first query."""
    classes_of, signature = _signatures(workload, queries, slicing)
    needed = _partials_of_prototypes(workload)
    # few signatures fit 16 bits, which numpy sorts in linear time
    order = np.argsort(signature.astype(np.int16) if len(classes_of) < 1 << 15 else signature, kind="stable")
    borders = np.cumsum(np.bincount(signature, minlength=len(classes_of)))[:-1]
    found = []
    for classes, piece in zip(classes_of, np.split(order, borders), strict=True):
        positions = queries[piece]
        partials_ = frozenset().union(*(needed[i] for i in np.unique(workload.prototype[positions])))
        demand = _demand(workload.ranges[positions], workload.slides[positions])
        found.append(Candidate(positions, classes, partials_, demand))
    return sorted(found, key=lambda candidate: int(candidate.queries[0]))


def singletons(workload: Workload, queries: npt.NDArray[np.int64], slicing: str) -> list[Candidate]:
    """A candidate for every query of one kin, in order."""
    classes_of, signature = _signatures(workload, queries, slicing)
    needed = _partials_of_prototypes(workload)
    return [
        Candidate(
            queries[i : i + 1],
            classes_of[number],
            needed[workload.prototype[queries[i]]],
            _demand(workload.ranges[queries[i : i + 1]], workload.slides[queries[i : i + 1]]),
        )
        for i, number in enumerate(signature.tolist())
    ]


def _signatures(
    workload: Workload, queries: npt.NDArray[np.int64], slicing: str
) -> tuple[list[Classes], npt.NDArray[np.int64]]:
    """The different edge sets of some queries of one kin, and which one each query has.

    A window's edges depend on its slide, on where it begins within the slide and on what is left of its range, so a
    slicer is asked once for each of these.
    """
    slides = workload.slides[queries]
    begins = (workload.offsets[queries] - workload.delays[queries]) % slides
    rests = workload.ranges[queries] % slides
    first, alike = _alike((slides, begins, rests))
    unit = "rows" if workload.counts_rows[queries[0]] else "time"
    known: dict[Classes, int] = {}
    numbers = [
        known.setdefault(reduced(SLICERS[slicing](Window.of(rest or slide, slide, begin, 0, unit))), len(known))
        for slide, begin, rest in zip(
            slides[first].tolist(), begins[first].tolist(), rests[first].tolist(), strict=True
        )
    ]
    return list(known), np.array(numbers)[alike]


def _alike(columns: Sequence[npt.NDArray[np.int64]]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The first row of each different one, and which of these every row is like."""
    code = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        values, number = np.unique(column, return_inverse=True)
        if len(values) > 1:
            # fewer rows than 2^31, so neither factor reaches it
            code = np.unique(code * len(values) + number, return_inverse=True)[1]
    _, first, alike = np.unique(code, return_index=True, return_inverse=True)
    return first, alike


def _partials_of_prototypes(workload: Workload) -> list[frozenset[Partial]]:
    return [
        frozenset(partial for aggregate in prototype.aggregates for partial in partials(aggregate))
        for prototype in workload.prototypes
    ]


def _demand(ranges: npt.NDArray[np.int64], slides: npt.NDArray[np.int64]) -> Demand:
    """What windows of these ranges and slides ask for."""
    distinct, which = np.unique(slides, return_inverse=True)
    overlap = answers = Fraction(0)
    for number, slide in enumerate(distinct.tolist()):
        chosen = ranges if len(distinct) == 1 else ranges[which == number]
        overlap += Fraction(_sum(chosen), slide)
        answers += Fraction(len(chosen), slide)
    return Demand(len(ranges), overlap, answers, int(ranges.max()), (ranges,))


def _sum(numbers: npt.NDArray[np.int64]) -> int:
    """A sum that does not overflow."""
    return (int((numbers >> 32).sum()) << 32) + int((numbers & 0xFFFF_FFFF).sum())
