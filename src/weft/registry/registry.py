"""Registry: the door. Queries are added, altered and removed; each change is woven into the plan, and is a new version.

    registry = weft.Registry("registry/", weft.Stats(rate=5_000, keys=1_000))
    registry.add("-- name: high\\nSELECT max(price) AS high FROM trades [RANGE 10 MIN SLIDE 2 MIN]", reason="desk")
    results = weft.apply(trades, registry)      # a stream that follows the registry

A change is made by Incremental Weave Share (`Weaver`), upon the newest version; where another writer was quicker, it is
made again upon theirs. What the stream that runs cannot take in without being started again is said in the change's
line (`Line.restart`), and the query waits for that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from weft.errors import BadRequest, RunFailed
from weft.planners.change import Change
from weft.planners.curve import Curve
from weft.planners.optimize import Request, optimize
from weft.planners.weaver import Weaver
from weft.plans.diff import tree_of
from weft.plans.plan import Plan
from weft.plans.stats import Stats
from weft.queries.query import Query, moved
from weft.queries.window import Window
from weft.queries.workload import Workload
from weft.registry.grain import Grain
from weft.registry.versions import Folder, Line, Version

_TRIES = 100
_DEFAULTS = {"planner": "weave_share", "technique": "auto", "slicing": "pairs", "price": "operations"}
Queries = str | Query | Workload | Iterable[Query]


@dataclass(frozen=True)
class Listed:
    """A query of the registry, and why the stream that runs waits with it for a restart (None: it does not)."""

    query: Query
    restart: str | None


class Registry:
    """A query set in a folder, which changes while a stream runs on it.

    `stats`, `planner`, `technique`, `slicing` and `price` are those of `weft.optimize`; what is not given stays as it
    was when the registry was begun. Where another is given, the next change plans all queries from scratch.
    """

    def __init__(
        self,
        path: str | Path,
        stats: Stats | None = None,
        *,
        planner: str | None = None,
        technique: str | None = None,
        slicing: str | None = None,
        price: str | None = None,
    ) -> None:
        if not isinstance(path, (str, Path)) or not str(path):
            raise BadRequest(f"{path!r} is no path", field="registry", remedy='Give a folder, as "registry/"')
        if "://" in str(path):
            raise BadRequest(
                f"'{path}' is an address", field="registry", remedy="Give a folder, such as one that is mounted"
            )
        self.path = Path(path)
        if self.path.exists() and not self.path.is_dir():
            raise BadRequest(f"'{path}' is no folder", field="registry", remedy="Give one, or a path where none is yet")
        self._folder = Folder(self.path)
        given = {"stats": stats, "planner": planner, "technique": technique, "slicing": slicing, "price": price}
        self._given = {name: value for name, value in given.items() if value is not None}
        how: dict[str, Any] = {"stats": Stats(), **_DEFAULTS, **self._given}
        Request(Workload([_ANY]), **how)
        Weaver(**how)
        self._kept: tuple[int, Weaver] | None = None

    def __repr__(self) -> str:
        return f"Registry({str(self.path)!r}, version {self.version})"

    @property
    def version(self) -> int:
        """The number of the newest sound version; 0 where there is none yet."""
        newest = self._newest()
        return newest.number if newest else 0

    @property
    def broken(self) -> Mapping[str, str]:
        """The files newer than that which cannot be read, and why."""
        return self._folder.newest()[1]

    @property
    def stats(self) -> Stats:
        """What is known of the stream, as of the newest version."""
        known: Stats = (self._settings() | self._given)["stats"]
        return known

    def plan(self, version: int | None = None) -> Plan:
        """The plan of a version, or of the newest."""
        found = self._newest() if version is None else self._folder.read(version)
        if found is None or found.plan is None:
            raise BadRequest("there are no queries in it", field="registry", remedy="Add one first")
        return found.plan

    def list(self) -> tuple[Listed, ...]:
        """The queries that there are."""
        newest = self._newest()
        if newest is None or newest.plan is None:
            return ()
        waits = self._waits(newest.plan)
        return tuple(Listed(query, waits(query.id)) for query in newest.plan.workload)

    def history(self) -> tuple[Line, ...]:
        """All changes that can still be read, the first one first."""
        found: list[Line] = []
        for number in self._folder.numbers():
            try:
                found += self._folder.lines(number)
            except RunFailed:
                continue  # `broken` tells of those that matter
        return tuple(found)

    def add(self, queries: Queries, *, owner: str | None = None, reason: str = "") -> tuple[Line, ...]:
        """Weave queries in: objects, a workload, or text as `Workload.from_sql` takes it. None may be there yet."""
        asked = _queries(queries, owner)
        return self._change(lambda weaver: [weaver.add(query) for query in asked], asked, reason)

    def alter(self, queries: Queries, *, owner: str | None = None, reason: str = "") -> tuple[Line, ...]:
        """Give queries that are there another definition."""
        asked = _queries(queries, owner)
        return self._change(lambda weaver: [weaver.alter(query) for query in asked], asked, reason)

    def put(self, queries: Queries, *, owner: str | None = None, reason: str = "") -> tuple[Line, ...]:
        """Add the queries that are not there, and alter those that are and were defined in another way.

        An owner stays where none is given.
        """
        asked = _queries(queries, owner)

        def change(weaver: Weaver) -> list[Change]:
            known = {query.id: query for query in weaver.plan().workload} if len(weaver) else {}
            made = []
            for query in asked:
                there = known.get(query.id)
                if there is None:
                    made.append(weaver.add(query))
                elif there != query or query.owner not in (None, there.owner):
                    made.append(weaver.alter(moved(query, query.id, query.window, query.owner or there.owner)))
            return made

        return self._change(change, asked, reason)

    def remove(self, ids: str | Iterable[str], *, reason: str = "") -> tuple[Line, ...]:
        """Take queries out."""
        names = [ids] if isinstance(ids, str) else list(ids)
        return self._change(lambda weaver: [weaver.remove(id_) for id_ in names], (), reason)

    def grain(self) -> Grain | None:
        """What the stream makes that was last started on the registry; None where none was."""
        told = self._folder.told()
        return None if told is None else told[0]

    def begin(self, grain: Grain, version: int) -> None:
        """Say what a stream makes that is started on a version (`weft.apply` does), so that changes can be judged."""
        self._folder.tell(grain, version)

    @property
    def folder(self) -> str:
        """Where the versions are."""
        return str(self._folder.versions.resolve())

    def _waits(self, plan: Plan | None) -> _Waits:
        """What a plan, which is or will be the newest version's, has to wait for."""
        told = self._folder.told()
        if told is None or plan is None:
            return _Waits(None, {}, plan)
        grain, base = told
        places = self._folder.places(grain, base)
        found = Version(places.version + 1, (), plan, Curve())
        return _Waits(grain, places.then(found.number, found.filters, grain.comes_late).of, plan)

    def _newest(self) -> Version | None:
        return self._folder.newest()[0]

    def _change(
        self, change: Callable[[Weaver], Sequence[Change]], asked: Sequence[Query], reason: str
    ) -> tuple[Line, ...]:
        for _ in range(_TRIES):
            numbers, base = self._folder.numbers(), self._newest()
            weaver = self._weaver(base)
            before = {query.id: query for query in base.plan.workload} if base and base.plan else {}
            self._kept = None  # whatever happens now, this weaver is not that of a version that is there
            changes = change(weaver)
            if not changes:
                return ()
            number = max(numbers, default=0) + 1
            plan = weaver.plan() if len(weaver) else None
            lines = self._lines(changes, before, plan, base.number if base else 0, number, reason)
            if self._folder.write(Version(number, lines, plan, weaver.snapshot().curve)):
                self._kept = number, weaver
                return lines
        raise RunFailed(
            f"other writers were quicker {_TRIES} times", field="registry", remedy="Try again, one writer at a time"
        )

    def _lines(
        self,
        changes: Iterable[Change],
        before: Mapping[str, Query],
        plan: Plan | None,
        base: int,
        number: int,
        reason: str,
    ) -> tuple[Line, ...]:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        waits = self._waits(plan)
        lines = []
        for each in changes:
            gone = each.what == "removed"
            query = before.get(each.query) if gone or plan is None else plan.workload[each.query]
            owner, restart = None if query is None else query.owner, None if gone else waits(each.query)
            effect = (each.cost_before, each.cost, each.trees_before, each.trees, str(each))
            lines.append(Line(each.query, each.what, owner, now, reason, base, number, *effect, restart))
        return tuple(lines)

    def _weaver(self, base: Version | None) -> Weaver:
        """A weaver that goes on from a version."""
        if self._kept is not None and base is not None and self._kept[0] == base.number:
            return self._kept[1]
        if base is not None and base.plan is not None:
            how = _settings(base.plan) | self._given
            if how != _settings(base.plan):
                return Weaver.of(optimize(base.plan.workload, **how), background=False)
            weaver = Weaver.of(base.plan, background=False)
            return Weaver.restore(replace(weaver.snapshot(), curve=base.curve), background=False)
        return Weaver(**(self._settings() | self._given), background=False)

    def _settings(self) -> dict[str, Any]:
        """Those of the last version that had a query."""
        for number in reversed(self._folder.numbers()):
            try:
                last = self._folder.read(number).plan
            except RunFailed:
                continue
            if last is not None:
                return _settings(last)
        return {"stats": Stats(), **_DEFAULTS}


def _settings(plan: Plan) -> dict[str, Any]:
    return {name: getattr(plan, name) for name in ("stats", *_DEFAULTS)}


class _Waits:
    """Why the stream waits with a query of a plan for a restart."""

    def __init__(self, grain: Grain | None, places: Mapping[str, int], plan: Plan | None) -> None:
        self._grain, self._places, self._plan = grain, places, plan
        self._tree = None if grain is None or plan is None else tree_of(plan)

    def __call__(self, id_: str) -> str | None:
        if self._grain is None or self._plan is None or self._tree is None:
            return None
        position = self._plan.workload.position(id_)
        technique = self._plan.trees[int(self._tree[position]) - 1].technique
        return self._grain.why_not(self._plan.workload[position], technique, self._places)


def _queries(given: Queries, owner: str | None) -> list[Query]:
    """The queries of whatever was given, each fit for a stream."""
    if isinstance(given, str):
        given = Workload.from_sql(given)
    elif isinstance(given, Query):
        given = [given]
    queries = list(Workload(given) if not isinstance(given, Workload) else given)
    if owner is not None:
        Query("owner", "count(*)", _ANY.window, owner=owner)  # checks the name
        queries = [moved(query, query.id, query.window, owner) for query in queries]
    for query in queries:
        if query.having is not None:
            raise BadRequest(
                "Spark decides HAVING behind the workers, and its plan does not change while a stream runs",
                query=query.id,
                field="having",
                remedy="Leave HAVING out, and filter what comes out",
            )
        if query.window.unit == "rows":
            raise BadRequest(
                "a window of rows numbers them in time order, and on a stream an earlier row may still come",
                query=query.id,
                field="window",
                remedy="Use a window of time",
            )
    return queries


_ANY = Query("any", "count(*)", Window.of(1, 1))
"""Stands where a request needs a query and there is none."""
