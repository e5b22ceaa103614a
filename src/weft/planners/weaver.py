"""Weaver: live queries, woven in and out one at a time. Incremental Weave Share.

    add      the query is a new tree, merged with the tree that it saves most with, and so on while something is saved
    remove   the query leaves its tree, and what is left of it looks for a partner in the same way
    alter    both, for a query that keeps its name

Trees are never split, so the plan gets worse with time. When it costs more than the tolerance above what the plan-cost
curve leads one to expect (`curve.py`), all queries are planned from scratch, in the background unless told otherwise:
changes go on meanwhile, and are made again on the new plan when it is ready (Guirguis et al., CIKM 2011, section 5.2).

A `Weaver` is running state. `snapshot` is a small frozen value of it, and `Weaver.restore` goes on from there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from weft.errors import BadRequest
from weft.planners.candidates import Candidate
from weft.planners.curve import Curve
from weft.planners.loom import Entry, Kin, Loom, entry, grouped_from_scratch
from weft.planners.optimize import Request
from weft.plans.plan import Plan
from weft.plans.stats import Stats
from weft.queries.query import Query
from weft.queries.window import Window
from weft.queries.workload import Workload

TOLERANCE = Fraction(1, 5)
"""20 to 30 % "achieves a good balance between performance and overhead" (section 6 there)."""


@dataclass(frozen=True)
class Change:
    """What a change of the query set did to the plan."""

    query: str
    what: str
    """added, altered or removed."""
    partners: tuple[str, ...]
    """The other queries of the tree that the query is in now, or that it has left."""
    cost_before: Fraction
    cost: Fraction
    edges_before: Fraction
    """Edges per second of all trees."""
    edges: Fraction
    comparisons: int
    """Pairs of trees weighed for it."""
    deviation: Fraction
    """From the cost that the plan-cost curve leads one to expect."""
    reconstructed: bool
    """Whether all queries have been, or are being, planned from scratch because of it."""


@dataclass(frozen=True)
class Snapshot:
    """All of a weaver's state that is worth keeping."""

    request: Request
    trees: tuple[tuple[str, ...], ...]
    """The names of the queries of each tree."""
    curve: Curve
    tolerance: Fraction | float
    comparisons: int
    reconstructions: int


class Weaver:
    """A plan that queries join and leave."""

    def __init__(
        self,
        stats: Stats,
        technique: str = "auto",
        slicing: str = "pairs",
        price: str = "operations",
        tolerance: Fraction | float = TOLERANCE,
        background: bool = True,
    ) -> None:
        if isinstance(tolerance, bool) or not isinstance(tolerance, (int, float, Fraction)) or not tolerance >= 0:
            raise BadRequest(f"the tolerance is {tolerance!r}", field="tolerance", remedy="Give 0 or more, as 0.2")
        self.tolerance, self.background = tolerance, background
        self.comparisons = 0
        """Pairs of trees that have been weighed."""
        self.reconstructions = 0
        """Plans made from scratch."""
        self._asked = Request(Workload([_ANY]), stats, "weave_share", technique, slicing, price)
        self._entries: dict[str, Entry] = {}
        self._names: dict[int, str] = {}
        """By the candidates of the entries, which are told apart by `id`."""
        self._looms: dict[Kin, Loom] = {}
        self._curve = Curve(least=stats.rate)
        self._workers: ThreadPoolExecutor | None = None
        self._building: tuple[Future[dict[Kin, list[list[Candidate]]]], int] | None = None
        self._since: list[tuple[Entry, bool]] = []
        """Queries that have come (True) or gone since the queries in `_building` were taken."""

    @classmethod
    def of(cls, plan: Plan, tolerance: Fraction | float = TOLERANCE, background: bool = True) -> Weaver:
        """A weaver that goes on from a plan."""
        ids = plan.workload.ids
        trees = tuple(tuple(ids[i] for i in tree.queries.tolist()) for tree in plan.trees)
        request = Request(plan.workload, plan.stats, "weave_share", plan.technique, plan.slicing, plan.price)
        weaver = cls.restore(Snapshot(request, trees, Curve((), plan.stats.rate), tolerance, 0, 0), background)
        weaver._curve = weaver._curve.with_point(len(weaver), weaver.cost)
        return weaver

    @classmethod
    def restore(cls, snapshot: Snapshot, background: bool = True) -> Weaver:
        """A weaver that goes on from a snapshot."""
        asked = snapshot.request
        weaver = cls(asked.stats, asked.technique, asked.slicing, asked.price, snapshot.tolerance, background)
        weaver._curve, weaver.comparisons = snapshot.curve, snapshot.comparisons
        weaver.reconstructions = snapshot.reconstructions
        workload = asked.workload
        for query in workload if snapshot.trees else ():
            weaver._keep(entry(query, asked, workload.time))
        trees: dict[Kin, list[list[Candidate]]] = {}
        for ids in snapshot.trees:
            found = [weaver._entries[id_] for id_ in ids]
            trees.setdefault(found[0].kin, []).append([one.candidate for one in found])
        weaver._plant(trees)
        return weaver

    def snapshot(self) -> Snapshot:
        """What it takes to go on from here."""
        trees = tuple(
            tuple(self._names[id(member)] for member in members)
            for loom in self._looms.values()
            for members in loom.trees
        )
        queries = [one.query for one in self._entries.values()] or [_ANY]
        asked = replace(self._asked, workload=Workload(queries))
        return Snapshot(asked, trees, self._curve, self.tolerance, self.comparisons, self.reconstructions)

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, id_: object) -> bool:
        return id_ in self._entries

    @property
    def cost(self) -> Fraction:
        """What the plan costs now."""
        return sum((loom.cost for loom in self._looms.values()), Fraction(0))

    @property
    def edges(self) -> Fraction:
        """Edges per second of all trees."""
        return sum((loom.edges for loom in self._looms.values()), Fraction(0))

    @property
    def deviation(self) -> Fraction:
        """How far the plan is above what the plan-cost curve leads one to expect, as a share of that."""
        return self._curve.deviation(len(self), self.cost) if self._entries else Fraction(0)

    def add(self, query: Query) -> Change:
        """Weave a query in."""
        if query.id in self._entries:
            raise BadRequest("there is a query of this name", query=query.id, field="id", remedy="Alter it, or rename")
        found = self._checked(query)
        return self._change(query.id, "added", lambda: self._join(found))

    def alter(self, query: Query) -> Change:
        """Another definition for a query that is there."""
        gone, found = self._known(query.id), self._checked(query)

        def change() -> Sequence[Candidate]:
            self._leave(gone)
            return self._join(found)

        return self._change(query.id, "altered", change)

    def remove(self, id_: str) -> Change:
        """Take a query out."""
        gone = self._known(id_)
        return self._change(id_, "removed", lambda: self._leave(gone))

    def plan(self) -> Plan:
        """The plan as it is now."""
        if not self._entries:
            raise BadRequest("there are no queries", field="workload", remedy="Add one first")
        self._adopt(wait=False)
        workload = Workload(one.query for one in self._entries.values())
        position = {id(one.candidate): number for number, one in enumerate(self._entries.values())}
        trees = [
            loom.price.tree(replace(loom.shape(number), queries=np.sort([position[id(member)] for member in members])))
            for loom in self._looms.values()
            for number, members in loom.numbered
        ]
        in_order = tuple(sorted(trees, key=lambda tree: int(tree.queries[0])))
        asked = self._asked
        return Plan(
            workload, asked.stats, in_order, asked.planner, asked.slicing, asked.price, technique=asked.technique
        )

    def settle(self) -> None:
        """Wait for what is being planned in the background, and take it over."""
        while self._building is not None:
            self._adopt(wait=True)

    def _checked(self, query: Query) -> Entry:
        """A query that may be woven in; a time column that splits the queries into other kin is refused."""
        others = [one.query for one in self._entries.values() if one.query.id != query.id]
        times = {other.time for other in (*others, query) if other.time is not None}
        if len(times) > 1 and any(other.time is None for other in (*others, query)):
            raise BadRequest(
                "some queries name a time and others leave it to them, so there can be only one",
                query=query.id,
                field="time",
                remedy="Name the time in every query",
            )
        return entry(query, self._asked, next(iter(times), None))

    def _known(self, id_: str) -> Entry:
        if id_ not in self._entries:
            raise BadRequest("there is no query of this name", query=id_, field="id", remedy="Add it first")
        return self._entries[id_]

    def _keep(self, one: Entry) -> None:
        self._entries[one.query.id] = one
        self._names[id(one.candidate)] = one.query.id

    def _change(self, id_: str, what: str, change: Callable[[], Sequence[Candidate]]) -> Change:
        self._adopt(wait=False)
        before, edges, weighed = self.cost, self.edges, self.comparisons
        partners = tuple(sorted(self._names[id(partner)] for partner in change()))
        deviation = self.deviation
        beyond = self.tolerance == 0 or deviation > self.tolerance or not self._curve.points
        reconstructed = bool(self._entries) and self._building is None and beyond
        if reconstructed:
            self._reconstruct()
        return Change(
            id_,
            what,
            partners,
            before,
            self.cost,
            edges,
            self.edges,
            self.comparisons - weighed,
            deviation,
            reconstructed,
        )

    def _join(self, new: Entry) -> Sequence[Candidate]:
        self._keep(new)
        self._since.append((new, True))
        return self._woven(new)

    def _leave(self, gone: Entry) -> Sequence[Candidate]:
        del self._entries[gone.query.id], self._names[id(gone.candidate)]
        self._since.append((gone, False))
        return self._unwoven(gone)

    def _woven(self, new: Entry) -> Sequence[Candidate]:
        loom = self._looms.setdefault(new.kin, Loom([], new.price))
        partners, weighed = loom.add(new.candidate)
        self.comparisons += weighed
        return partners

    def _unwoven(self, gone: Entry) -> Sequence[Candidate]:
        partners, weighed = self._looms[gone.kin].remove(gone.candidate)
        self.comparisons += weighed
        return partners

    def _reconstruct(self) -> None:
        """Plan all queries from scratch, now or in the background."""
        live: dict[Kin, list[Entry]] = {}
        for one in self._entries.values():
            live.setdefault(one.kin, []).append(one)
        self._since.clear()
        if self._workers is None:
            self._workers = ThreadPoolExecutor(1, "weft-weaver")
        self._building = self._workers.submit(grouped_from_scratch, live), len(self._entries)
        if not self.background:
            self._adopt(wait=True)

    def _adopt(self, wait: bool) -> None:
        """Take over what has been planned from scratch, and make the changes since then again."""
        if self._building is None or not (wait or self._building[0].done()):
            return
        future, planned = self._building
        self._plant(future.result())
        self._building = None
        self.reconstructions += 1
        self._curve = self._curve.with_point(planned, self.cost)
        since, self._since = self._since, []
        for one, has_come in since:
            if has_come:
                self._woven(one)
            else:
                self._unwoven(one)

    def _plant(self, trees: Mapping[Kin, list[list[Candidate]]]) -> None:
        prices = {one.kin: one.price for one in self._entries.values()} | {one.kin: one.price for one, _ in self._since}
        self._looms = {kin: Loom(groups, prices[kin]) for kin, groups in trees.items()}


_ANY = Query("any", "count(*)", Window.of(1, 1))
"""Stands where a request needs a query and there is none."""
