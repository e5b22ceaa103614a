"""optimize: the door of the planners."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from weft.algebra.partials import partials
from weft.errors import BadRequest
from weft.planners.candidates import Candidate, candidates, singletons
from weft.planners.no_share import no_share
from weft.planners.prices import PRICES, Price, choose_techniques
from weft.planners.shared import shared
from weft.planners.weave_share import weave_share
from weft.plans.kin import kin
from weft.plans.plan import Plan, Tree
from weft.plans.stats import Stats
from weft.queries.workload import Workload
from weft.slicing.slicers import SLICERS
from weft.techniques import why_not
from weft.techniques.technique import Technique

Planner = Callable[[Sequence[Candidate], Price], list[Candidate]]
PLANNERS: Mapping[str, Planner] = {"no_share": no_share, "shared": shared, "weave_share": weave_share}
_COMPARED = ("no_share", "shared")
_COMPARED_UP_TO = 20_000
"""Queries up to which the alternatives are priced too: pricing every query alone takes longer than planning."""


def optimize(
    workload: Workload,
    stats: Stats | None = None,
    planner: str = "weave_share",
    technique: str = "auto",
    slicing: str = "pairs",
    price: str = "operations",
) -> Plan:
    """Decide which queries share what, and how slices become answers."""
    stats = stats or Stats()
    _one_of(planner, PLANNERS, "planner")
    _one_of(slicing, SLICERS, "slicing")
    _one_of(price, PRICES, "price")
    techniques = choose_techniques(technique)
    if not isinstance(workload, Workload):
        raise BadRequest(f"{workload!r} is no workload", field="workload", remedy="Give weft.Workload([...])")
    if not len(workload):
        raise BadRequest("the workload is empty", field="workload", remedy="Give at least one query")
    families = [_family(workload, stats, queries, slicing, price, techniques) for queries in kin(workload)]
    trees = [tree for family in families for tree in _trees(family, planner)]
    alternatives = []
    if len(workload) <= _COMPARED_UP_TO:
        alternatives = [
            (name, sum((_cost(family, name) for family in families), Fraction(0)))
            for name in _COMPARED
            if name != planner
        ]
    in_order = tuple(sorted(trees, key=lambda tree: int(tree.queries[0])))
    return Plan(workload, stats, in_order, planner, slicing, price, "events", tuple(alternatives))


@dataclass(frozen=True)
class _Family:
    """The queries of one kin, each alone and collapsed, and their price."""

    price: Price
    alone: Callable[[], Sequence[Candidate]]
    collapsed: Sequence[Candidate]

    def start(self, planner: str) -> Sequence[Candidate]:
        """What a planner starts from: the queries themselves only where none may be shared."""
        return self.alone() if planner == "no_share" else self.collapsed


def _family(
    workload: Workload,
    stats: Stats,
    positions: npt.NDArray[np.int64],
    slicing: str,
    price: str,
    techniques: tuple[Technique, ...],
) -> _Family:
    first = positions[0]
    grouped = bool(workload.prototypes[workload.prototype[first]].group_by)
    pricing = PRICES[price](stats, stats.keys if grouped else 1, bool(workload.counts_rows[first]), techniques)
    collapsed = candidates(workload, positions, slicing)
    for candidate in collapsed:
        if not pricing.admissible(candidate):
            _refuse_techniques(workload, candidate, pricing)
    return _Family(pricing, lambda: singletons(workload, positions, slicing), collapsed)


def _refuse_techniques(workload: Workload, candidate: Candidate, price: Price) -> None:
    """Name a query that none of the allowed techniques can serve, and why."""
    for position in candidate.queries:
        query = workload[int(position)]
        needed = [partial for aggregate in query.aggregates for partial in partials(aggregate)]
        for technique in price.techniques:
            reason = why_not(technique, needed, price.stats.types)
            if reason is not None:
                raise BadRequest(
                    f"{technique.name} cannot be used: {reason}",
                    query=query.id,
                    field="technique",
                    remedy='Use technique="auto", or Stats(types={column: type}) where the type is an exact one',
                )


def _trees(family: _Family, planner: str) -> list[Tree]:
    return [family.price.tree(candidate) for candidate in PLANNERS[planner](family.start(planner), family.price)]


def _cost(family: _Family, planner: str) -> Fraction:
    """What a planner's plan would cost. Trees that differ in their positions alone are priced once."""
    trees = PLANNERS[planner](family.start(planner), family.price)
    alike = Counter((tree.classes, tree.partials, tree.demand) for tree in trees)
    nobody = np.empty(0, np.int64)
    return sum((count * family.price.cost(Candidate(nobody, *parts)) for parts, count in alike.items()), Fraction(0))


def _one_of(name: str, known: Mapping[str, object], field: str) -> None:
    if name not in known:
        near = difflib.get_close_matches(str(name), known, 1)
        raise BadRequest(
            f"there is no {field} '{name}'",
            field=field,
            remedy=f"Did you mean '{near[0]}'" if near else f"Use one of {', '.join(known)}",
        )
