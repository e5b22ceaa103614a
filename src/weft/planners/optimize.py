"""optimize: the door of the planners."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from weft.errors import BadRequest, nearest, shown
from weft.planners import (
    contiguous,
    exhaustive,
    insert_then_weave,
    local_search,
    no_share,
    optimal,
    pairing,
    random,
    shared,
    tri_weave,
    weave_share,
)
from weft.planners.families import Family, cost, families
from weft.planners.planner import Planner
from weft.planners.prices import PRICES, UNPAYABLE, choose_techniques
from weft.plans.plan import Plan
from weft.plans.stats import Stats
from weft.queries.workload import Workload
from weft.slicing.slicers import SLICERS

PLANNERS: Mapping[str, Planner] = {
    planner.name: planner
    for planner in (
        no_share.PLANNER,
        shared.PLANNER,
        random.PLANNER,
        insert_then_weave.PLANNER,
        local_search.PLANNER,
        exhaustive.PLANNER,
        weave_share.PLANNER,
        tri_weave.PLANNER,
        pairing.PLANNER,
        contiguous.PLANNER,
        optimal.PLANNER,
    )
}
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
    **options: object,
) -> Plan:
    """Decide which queries share what, and how slices become answers.

    `options` are the planner's own: `weft.planners.PLANNERS[planner].options` names them.
    """
    return Request(workload, stats or Stats(), planner, technique, slicing, price, options).plan()


@dataclass(frozen=True)
class Request:
    """What is asked of a planner, checked."""

    workload: Workload
    stats: Stats
    planner: str = "weave_share"
    technique: str = "auto"
    slicing: str = "pairs"
    price: str = "operations"
    options: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        one_of(self.planner, PLANNERS, "planner")
        one_of(self.slicing, SLICERS, "slicing")
        one_of(self.price, PRICES, "price")
        choose_techniques(self.technique)
        for name in self.options:
            known = PLANNERS[self.planner].options
            if name not in known:
                takes = f"it takes {', '.join(known)}" if known else "it takes none"
                raise BadRequest(f"{self.planner} has no option '{name}'", field="planner", remedy=f"Drop it: {takes}")
        if not isinstance(self.workload, Workload):
            raise BadRequest(
                f"{shown(self.workload)} is no workload", field="workload", remedy="Give weft.Workload([...])"
            )
        if not isinstance(self.stats, Stats):
            raise BadRequest(
                f"{shown(self.stats)} is no stats", field="stats", remedy="Give weft.Stats(rate=..., keys=...)"
            )
        if not len(self.workload):
            raise BadRequest("the workload is empty", field="workload", remedy="Give at least one query")

    def families(self) -> list[Family]:
        """The workload's families under the price that was asked for."""
        planner, techniques = PLANNERS[self.planner], choose_techniques(self.technique)
        united = planner.feed == "events"
        found = families(self.workload, self.stats, self.slicing, PRICES[self.price], techniques, united)
        return [part for family in found for part in family.parts(planner)]

    def plan(self) -> Plan:
        """Plan it."""
        planner, given = PLANNERS[self.planner], self.families()
        found = [family.grouped(planner, self.options) for family in given]
        trees = [tree for family, grouped in zip(given, found, strict=True) for tree in family.trees(*grouped)]
        return Plan(
            self.workload,
            self.stats,
            tuple(sorted(trees, key=lambda tree: int(tree.queries[0]))),
            planner.name,
            self.slicing,
            self.price,
            planner.feed,
            tuple(self._alternatives(given)),
            self.technique,
            _total(grouping.bound for grouping, _ in found),
            next((grouping.among for grouping, _ in found if grouping.among), ""),
        )

    def _alternatives(self, given: list[Family]) -> Iterable[tuple[str, Fraction]]:
        """What the baselines would cost."""
        if len(self.workload) > _COMPARED_UP_TO:
            return
        for name in _COMPARED:
            if name != self.planner:
                found = (family.grouped(PLANNERS[name], {}) for family in given)
                spent = sum((cost(grouping.trees, price) for grouping, price in found), Fraction(0))
                if spent < UNPAYABLE:
                    yield name, spent


def _total(bounds: Iterable[Fraction | None]) -> Fraction | None:
    """The sum of bounds, where all are known."""
    found = Fraction(0)
    for bound in bounds:
        if bound is None:
            return None
        found += bound
    return found


def one_of(name: str, known: Mapping[str, object], field: str) -> None:
    """Refuse a name that is not known, and suggest one that is."""
    if name not in known:
        near = nearest(name, known)
        raise BadRequest(
            f"there is no {field} '{name}'",
            field=field,
            remedy=f"Did you mean '{near}'" if near else f"Use one of {', '.join(known)}",
        )
