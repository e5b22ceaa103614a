"""Weaver: live queries, woven in and out one at a time. Incremental Weave Share.

    add      the query is a new tree, merged with the tree that it saves most with, and so on while something is saved
    remove   the query leaves its tree, and what is left of it looks for a partner in the same way
    alter    both, for a query that keeps its name

Trees are never split, so the plan gets worse with time. When it costs more than the tolerance above what the plan-cost
curve leads one to expect (`curve.py`), or the curve is too far from its last point to say, all queries are planned from
scratch, in the background unless told otherwise: changes go on meanwhile, and are made again on the new plan when it is
ready (Guirguis et al., CIKM 2011, section 5.2).

Over shared slices (`planner="tri_weave"`) every change moves what each tree reads, so all trees may be merged after it.

A `Weaver` is running state, for one thread at a time. `snapshot` is a frozen value of it, and `Weaver.restore` goes on
from there; what was being planned in the background is begun again with the next change that calls for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from weft.errors import BadRequest, nearest, shown
from weft.planners.candidates import Candidate
from weft.planners.change import Change
from weft.planners.curve import Curve
from weft.planners.loom import Entry, Groups, Kin, Loom, entries, grouped_from_scratch
from weft.planners.optimize import PLANNERS, Request
from weft.planners.prices import Price
from weft.plans.picture import counted
from weft.plans.plan import Plan
from weft.plans.stats import Stats
from weft.queries import expressions as ex
from weft.queries.query import Query
from weft.queries.window import Window
from weft.queries.workload import Workload

_INCREMENTAL = ("weave_share", "tri_weave")
TOLERANCE = Fraction(1, 5)
"""20 to 30 % "achieves a good balance between performance and overhead" (section 6 there)."""


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
        planner: str = "weave_share",
    ) -> None:
        if isinstance(tolerance, bool) or not isinstance(tolerance, (int, float, Fraction)) or not tolerance >= 0:
            raise BadRequest(f"the tolerance is {tolerance!r}", field="tolerance", remedy="Give 0 or more, as 0.2")
        if planner not in _INCREMENTAL:
            raise BadRequest(
                f"'{planner}' does not take queries one at a time",
                field="planner",
                remedy=f"Use {' or '.join(_INCREMENTAL)}, or weft.optimize whenever the queries change",
            )
        self.tolerance, self.background = tolerance, background
        self.comparisons = 0
        """Pairs of trees that have been weighed."""
        self.reconstructions = 0
        """Plans made from scratch."""
        self._asked = Request(Workload([_ANY]), stats, planner, technique, slicing, price)
        self._planner = PLANNERS[planner]
        self._entries: dict[str, Entry] = {}
        self._names: dict[int, str] = {}
        """By the candidates of the entries, which are told apart by `id`."""
        self._looms: dict[Kin, Loom] = {}
        self._curve = Curve(least=stats.rate)
        self._workers: ThreadPoolExecutor | None = None
        self._building: tuple[Future[tuple[Groups, int]], int] | None = None
        self._time: ex.Column | None = None
        """The time that queries have which name none."""
        self._since: list[tuple[Entry, bool]] = []
        """Queries that have come (True) or gone since the queries in `_building` were taken."""

    @classmethod
    def of(cls, plan: Plan, tolerance: Fraction | float = TOLERANCE, background: bool = True) -> Weaver:
        """A weaver that goes on from a plan, whichever planner made it: its trees stay, and are never split."""
        if not isinstance(plan, Plan):
            raise BadRequest(f"{shown(plan)} is no plan", field="plan", remedy="Give what weft.optimize made")
        ids = plan.workload.ids
        planner = next(name for name in _INCREMENTAL if PLANNERS[name].feed == plan.feed)
        trees = tuple(tuple(ids[i] for i in tree.queries.tolist()) for tree in plan.trees)
        request = Request(plan.workload, plan.stats, planner, plan.technique, plan.slicing, plan.price)
        weaver = cls.restore(Snapshot(request, trees, Curve((), plan.stats.rate), tolerance, 0, 0), background)
        weaver._curve = weaver._curve.with_point(len(weaver), weaver.cost)
        return weaver

    @classmethod
    def restore(cls, snapshot: Snapshot, background: bool = True) -> Weaver:
        """A weaver that goes on from a snapshot."""
        if not isinstance(snapshot, Snapshot):
            raise BadRequest(
                f"{shown(snapshot)} is no snapshot", field="snapshot", remedy="Give what snapshot() returned"
            )
        asked = snapshot.request
        how = (asked.technique, asked.slicing, asked.price)
        weaver = cls(asked.stats, *how, snapshot.tolerance, background, asked.planner)
        weaver._curve, weaver.comparisons = snapshot.curve, snapshot.comparisons
        weaver.reconstructions = snapshot.reconstructions
        workload = asked.workload
        weaver._time = workload.time
        for one in entries(workload, asked, workload.time) if snapshot.trees else ():
            weaver._keep(one)
        trees: Groups = {}
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

    def __repr__(self) -> str:
        return f"Weaver({counted(len(self), 'query')}, {counted(self._trees, 'tree')}, cost {float(self.cost):g})"

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, id_: object) -> bool:
        return id_ in self._entries

    @property
    def cost(self) -> Fraction:
        """What the plan costs now."""
        feeding = self._asked.stats.rate * sum(1 for loom in self._looms.values() if loom.trees)
        trees = sum((loom.cost for loom in self._looms.values()), Fraction(0))
        return trees + feeding if self._planner.feed == "slices" else trees

    @property
    def edges(self) -> Fraction:
        """Edges per second of all trees."""
        return sum((loom.edges for loom in self._looms.values()), Fraction(0))

    @property
    def deviation(self) -> Fraction:
        """How far the plan is above what the plan-cost curve leads one to expect, as a share of that."""
        return self._curve.deviation(len(self), self.cost) if self._entries else Fraction(0)

    @property
    def reconstructing(self) -> bool:
        """Whether all queries are being planned from scratch, in the background."""
        return self._building is not None

    def add(self, query: Query) -> Change:
        """Weave a query in."""
        if isinstance(query, Query) and query.id in self._entries:
            raise BadRequest("there is a query of this name", query=query.id, field="id", remedy="Alter it, or rename")
        found = self._checked(query)
        return self._change(query.id, "added", lambda: self._join(found))

    def alter(self, query: Query) -> Change:
        """Another definition for a query that is there."""
        found, gone = self._checked(query), self._known(query.id, "Add it first")

        def change() -> Sequence[Candidate]:
            self._leave(gone)
            return self._join(found)

        return self._change(query.id, "altered", change)

    def remove(self, id_: str) -> Change:
        """Take a query out."""
        gone = self._known(id_, f"There are {', '.join(list(self._entries)[:5])}" if self._entries else "Add one first")
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
            workload,
            asked.stats,
            in_order,
            asked.planner,
            asked.slicing,
            asked.price,
            self._planner.feed,
            technique=asked.technique,
        )

    def settle(self) -> None:
        """Wait for what is being planned in the background, and take it over."""
        while self._building is not None:
            self._adopt(wait=True)

    def _checked(self, query: Query) -> Entry:
        """A query that may be woven in: of the same stream, and with a time that all queries can have."""
        if not isinstance(query, Query):
            raise BadRequest(f"{shown(query)} is no query", field="query", remedy="Give a weft.Query")
        others = [one.query for one in self._entries.values() if one.query.id != query.id]
        if query.source is not None:
            source = next((other.source for other in others if other.source is not None), query.source)
            if source.lower() != query.source.lower():
                raise BadRequest(
                    f"it reads {query.source}, the others {source}",
                    query=query.id,
                    field="source",
                    remedy="Make a weaver for each stream",
                )
        times = {other.time for other in (*others, query) if other.time is not None}
        if len(times) > 1 and any(other.time is None for other in (*others, query)):
            raise BadRequest(
                "some queries name a time and others leave it to them, so there can be only one",
                query=query.id,
                field="time",
                remedy="Name the time in every query",
            )
        return entries(Workload([query]), self._asked, next(iter(times), self._time))[0]

    def _known(self, id_: str, otherwise: str) -> Entry:
        if not isinstance(id_, str):
            raise BadRequest(f"{shown(id_)} is no name", field="id", remedy="Give the name of a query")
        if id_ not in self._entries:
            near = nearest(id_, self._entries)
            remedy = f"Did you mean '{near}'" if near else otherwise
            raise BadRequest("there is no query of this name", query=str(id_), field="id", remedy=remedy)
        return self._entries[id_]

    def _keep(self, one: Entry) -> None:
        self._entries[one.query.id] = one
        self._names[id(one.candidate)] = one.query.id

    def _change(self, id_: str, what: str, change: Callable[[], Sequence[Candidate]]) -> Change:
        self._adopt(wait=False)
        before, edges, trees, weighed = self.cost, self.edges, self._trees, self.comparisons
        partners = tuple(sorted(self._names[id(partner)] for partner in change()))
        deviation = self.deviation
        due = bool(self._entries) and self._curve.calls_for_planning(len(self), self.cost, self.tolerance)
        reconstructed = due and self._building is None
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
            trees,
            self._trees,
            self.comparisons - weighed,
            deviation,
            reconstructed,
        )

    @property
    def _trees(self) -> int:
        return sum(len(loom.trees) for loom in self._looms.values())

    def _join(self, new: Entry) -> Sequence[Candidate]:
        if new.query.time is not None and new.query.time != self._time:
            self._tell_time(new.query.time)
        self._keep(new)
        self._note(new, True)
        return self._woven(new)

    def _leave(self, gone: Entry) -> Sequence[Candidate]:
        del self._entries[gone.query.id], self._names[id(gone.candidate)]
        self._note(gone, False)
        return self._unwoven(gone)

    def _note(self, one: Entry, has_come: bool) -> None:
        if self._building is not None:
            self._since.append((one, has_come))

    def _woven(self, new: Entry) -> Sequence[Candidate]:
        loom = self._looms.get(new.kin) or Loom([], new.price)
        loom = self._looms[new.kin] = self._repriced(loom, [*_all(loom.trees), new.candidate], new.price)
        partners, weighed = loom.add(new.candidate)
        self.comparisons += weighed
        return partners

    def _unwoven(self, gone: Entry) -> Sequence[Candidate]:
        loom = self._looms[gone.kin]
        left = [candidate for candidate in _all(loom.trees) if candidate is not gone.candidate]
        loom = self._looms[gone.kin] = self._repriced(loom, left, gone.price)
        partners, weighed = loom.remove(gone.candidate)
        self.comparisons += weighed
        return partners

    def _repriced(self, loom: Loom, queries: Sequence[Candidate], price: Price) -> Loom:
        """The loom under the price that it has with these queries."""
        if self._planner.feed == "events" or not queries:
            return loom
        return loom.repriced(self._planner.priced(queries, price))

    def _tell_time(self, time: ex.Column) -> None:
        """A time is named, and queries that leave theirs to the others take it."""
        waiting = {one.kin: one.at(time).kin for one in self._entries.values() if one.query.time is None}
        if waiting:
            self.settle()
        for id_, one in self._entries.items():
            if one.query.time is None:
                self._entries[id_] = one.at(time)
        self._looms = {waiting.get(kin, kin): loom for kin, loom in self._looms.items()}
        self._time = time

    def _reconstruct(self) -> None:
        """Plan all queries from scratch, now or in the background."""
        live: dict[Kin, list[Entry]] = {}
        for one in self._entries.values():
            live.setdefault(one.kin, []).append(one)
        if self._workers is None:
            self._workers = ThreadPoolExecutor(1, "weft-weaver")
        self._building = self._workers.submit(grouped_from_scratch, live, self._planner), len(self._entries)
        if not self.background:
            self._adopt(wait=True)

    def _adopt(self, wait: bool) -> None:
        """Take over what has been planned from scratch, and make the changes since then again."""
        if self._building is None or not (wait or self._building[0].done()):
            return
        future, planned = self._building
        trees, weighed = future.result()
        self._plant(trees)
        self._building = None
        self.comparisons += weighed
        self.reconstructions += 1
        self._curve = self._curve.with_point(planned, self.cost)
        since, self._since = self._since, []
        for one, has_come in since:
            if has_come:
                self._woven(one)
            else:
                self._unwoven(one)

    def _plant(self, trees: Groups) -> None:
        prices = {one.kin: one.price for one in self._entries.values()} | {one.kin: one.price for one, _ in self._since}
        self._looms = {
            kin: Loom(groups, self._planner.priced(_all(groups), prices[kin])) for kin, groups in trees.items()
        }


def _all(trees: Iterable[Sequence[Candidate]]) -> list[Candidate]:
    return [candidate for members in trees for candidate in members]


_ANY = Query("any", "count(*)", Window.of(1, 1))
"""Stands where a request needs a query and there is none."""
