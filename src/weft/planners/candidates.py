"""Candidates: what the planners put together. A candidate is a set of queries that could be one tree.

Merging queries with the same edges adds no edge and saves a pass, so a workload of a million windows collapses to as
many candidates as there are different edge sets, before any planner starts. Where operations add up query by query,
nothing is lost by that. Where they do not (one long window makes a table deep for all), a plan that tears equal edges
apart can be cheaper, by less than a percent where it was looked for; where other techniques serve them or other filters
keep rows from them, `families.py` keeps them apart. Only queries of one kin can share (see `weft.plans.kin`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from weft.algebra.partials import Partial, partials
from weft.plans.stats import Keys
from weft.queries import expressions as ex
from weft.queries.window import Window
from weft.queries.workload import Workload
from weft.slicing.edges import Classes, reduced
from weft.slicing.slicers import SLICERS
from weft.techniques.demand import Demand, demanded, total

Ticks = npt.NDArray[np.int64]


class Lane(NamedTuple):
    """What the queries of one filter ask for, that group by the same keys."""

    where: ex.Expression | None
    demand: Demand
    keys: Keys | None = None
    """What they group by, where queries of other keys could share with them."""


NOBODY = np.empty(0, np.int64)
"""The queries of a candidate that is only weighed."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """Queries that could share a tree: their positions, edges, partials, and what they ask of a technique."""

    queries: npt.NDArray[np.int64]
    classes: Classes
    partials: frozenset[Partial]
    demand: Demand
    lanes: tuple[Lane, ...] = ()
    """The demand by filter, where something is known of the filters, and by keys, where several may share."""

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
        joined([lane for part in parts for lane in part.lanes]),
    )


def joined(lanes: Sequence[Lane]) -> tuple[Lane, ...]:
    """Demands of the same filter and keys added up."""
    alike: dict[tuple[ex.Expression | None, Keys | None], list[Demand]] = {}
    for where, demand, keys in lanes:
        alike.setdefault((where, keys), []).append(demand)
    return tuple(Lane(where, total(demands), keys) for (where, keys), demands in alike.items())


def candidates(
    workload: Workload,
    queries: Ticks,
    slicing: str,
    filters: bool = False,
    keys: bool = False,
    one_range: bool = False,
    alone: bool = False,
    kinds: Ticks | None = None,
) -> list[Candidate]:
    """Queries of one kin, those with the same edges together, in order of their first query.

    `filters` and `keys` keep these in sight, `one_range` keeps ranges apart, `kinds` keeps prototypes of different
    kinds apart, and `alone` keeps everybody apart.
    """
    classes_of, signature = _signatures(workload, queries, slicing)
    needed = partials_of_prototypes(workload)
    columns = [signature]
    if one_range:
        columns.append(workload.ranges[queries])
    if kinds is not None and kinds.min() < kinds.max():
        columns.append(kinds[workload.prototype[queries]])
    group = np.arange(len(queries)) if alone else signature if len(columns) == 1 else _alike(columns)[1]
    count = int(group.max()) + 1
    # few groups fit 16 bits, which numpy sorts in linear time
    order = np.argsort(group.astype(np.int16) if count < 1 << 15 else group, kind="stable")
    borders = np.cumsum(np.bincount(group, minlength=count))[:-1]
    found = []
    for piece in np.split(order, borders):
        positions = queries[piece]
        partials_ = frozenset().union(*(needed[i] for i in np.unique(workload.prototype[positions])))
        demand = demanded(workload.ranges[positions], workload.slides[positions])
        kept = _lanes(workload, positions, filters, keys) if filters or keys else ()
        found.append(Candidate(positions, classes_of[signature[piece[0]]], partials_, demand, kept))
    return sorted(found, key=lambda candidate: int(candidate.queries[0]))


def _lanes(workload: Workload, positions: npt.NDArray[np.int64], filters: bool, keys: bool) -> tuple[Lane, ...]:
    prototype = workload.prototype[positions]
    lanes = []
    for number in np.unique(prototype).tolist():
        here = positions[prototype == number]
        asks = workload.prototypes[number]
        lanes.append(
            Lane(
                asks.where if filters else None,
                demanded(workload.ranges[here], workload.slides[here]),
                frozenset(asks.group_by) if keys else None,
            )
        )
    return joined(lanes)


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


def partials_of_prototypes(workload: Workload) -> list[frozenset[Partial]]:
    """The partials that the queries of each prototype need."""
    return [
        frozenset(partial for aggregate in prototype.aggregates for partial in partials(aggregate))
        for prototype in workload.prototypes
    ]
