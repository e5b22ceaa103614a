"""What if: what queries would do to a plan if they came or went, asked without running or changing anything.

    what if     2 added, 1 removed
    spread      joins tree 3, adds 2 edges per minute, costs 1.8 % more
    hourly      gets a tree of its own, adds 1 edge per hour, costs 12 % more
    low         leaves tree 1, takes no edge away, costs 0.4 % less
    in all      17,140 -> 19,440 operations/s, +13.4 %; 3 -> 4 trees
    assuming    ...

It is answered by incremental Weave Share (`weaver.py`), whichever planner made the plan: queries that are there stay
together, those that go leave first, those that come are woven in one by one, in the order given. Trees that a change
touches are merged where that pays, and what this saves is told with the change. Planned from scratch, the new plan may
cost less. `plan` is the plan that comes of it, ready to run.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from weft.errors import BadRequest, shown
from weft.planners.change import Change
from weft.planners.weaver import Weaver
from weft.plans.changes import from_to
from weft.plans.diff import tree_of
from weft.plans.explain import number, stream
from weft.plans.facts import Fact, as_html, as_text
from weft.plans.picture import counted
from weft.plans.plan import Plan
from weft.queries.query import Query
from weft.queries.workload import Workload

_SHOWN = 20
"""Queries told of before the rest is counted."""
_UNITS = {"second": 1, "minute": 60, "hour": 3_600, "day": 86_400}

Asked = Query | str | Iterable[Query]
"""Queries: one, some, a workload, or text in SQL."""


@dataclass(frozen=True)
class Effect:
    """What one query does by coming or going, when its turn comes."""

    change: Change
    trees: tuple[int, ...]
    """The trees of the old plan that it joins or leaves, by their places from 1; none for a tree that is new."""
    whole: Fraction
    """What the old plan costs."""

    @property
    def query(self) -> str:
        """The query's name."""
        return self.change.query

    @property
    def edges(self) -> Fraction:
        """Edges per second of all trees, more than before."""
        return self.change.edges - self.change.edges_before

    @property
    def cost(self) -> Fraction:
        """Operations per second, more than before."""
        return self.change.cost - self.change.cost_before

    @property
    def share(self) -> Fraction:
        """The cost as a share of what the old plan costs. All queries' shares add up to that of the answer."""
        return self.cost / self.whole

    @property
    def merged(self) -> int:
        """How many trees went into others, besides that of the query itself."""
        change = self.change
        own = 1 if change.what == "added" and not change.partners else 0
        gone = 1 if change.what == "removed" and not change.partners else 0
        return change.trees_before + own - gone - change.trees

    def __str__(self) -> str:
        return f"{self.query} {self.told}"

    @property
    def told(self) -> str:
        """The effect in words, less the query's name."""
        return f"{self._where()}, {_edges(self.edges, self.change.what)}, {_cost(self.share)}"

    def _where(self) -> str:
        change, merged = self.change, self.merged
        if change.what == "removed":
            left = f"leaves {_trees(self.trees)}" if self.trees else "leaves its tree"
            if not change.partners:
                return f"{left}, which goes with it"
            return left if merged == 0 else f"{left}, of which the rest joins {'another' if merged == 1 else 'others'}"
        if not change.partners:
            return "gets a tree of its own"
        if not self.trees:
            return f"shares a tree with {change.partners[0]}, which is new too"
        return f"joins {_trees(self.trees)}" + (", which become one" if len(self.trees) > 1 else "")


@dataclass(frozen=True)
class WhatIf:
    """What becomes of a plan when queries come and go."""

    old: Plan
    plan: Plan
    """The plan that would come of it."""
    effects: tuple[Effect, ...]
    """One for each query: first those that go, then those that come, each by what it changes when its turn comes."""

    def __getitem__(self, query: str) -> Effect:
        """The effect of the query of this name, of its coming where it goes and comes again."""
        return {effect.query: effect for effect in self.effects}[query]

    @property
    def share(self) -> Fraction:
        """How much more it costs, as a share of what the old plan costs."""
        return self.plan.cost / self.old.cost - 1

    @property
    def assumed(self) -> str:
        """What the answer stands on."""
        merged = sum(effect.merged for effect in self.effects)
        kept = f"queries stay in the trees that {self.old.planner} put them in, and those that come are woven in"
        if merged:
            went = "1 tree went into another" if merged == 1 else f"{merged:,} trees went into others"
            kept = (
                f"queries that {self.old.planner} put together stay so, those that come are woven in, and trees that a "
                f"change touches are merged where that pays: {went}, and what that saves is the merging's, not the "
                "queries'"
            )
        return f"{stream(self.old.stats)} as before; {kept}. Planned from scratch it may cost less"

    def __str__(self) -> str:
        facts = list(self._facts())
        return as_text(facts, max(12, *(len(name) + 2 for name, _ in facts)))

    def __repr__(self) -> str:
        return f"WhatIf({self._counts()}: cost {float(self.old.cost):g} -> {float(self.plan.cost):g})"

    def _repr_html_(self) -> str:
        return as_html(self._facts())

    def _counts(self) -> str:
        whats = [effect.change.what for effect in self.effects]
        counts = [f"{whats.count(word):,} {word}" for word in ("added", "removed") if word in whats]
        return ", ".join(counts) or "nothing changes"

    def _facts(self) -> Iterator[Fact]:
        yield "what if", self._counts()
        for effect in self.effects[:_SHOWN]:
            yield effect.query, effect.told
        if len(self.effects) > _SHOWN:
            yield "", f"and {len(self.effects) - _SHOWN:,} more"
        before, after = len(self.old.trees), len(self.plan.trees)
        trees = f"{before:,} -> {counted(after, 'tree')}" if before != after else f"{counted(after, 'tree')} as before"
        yield "in all", f"{from_to(self.old.cost, self.plan.cost, 'operations/s')}; {trees}"
        yield "assuming", self.assumed


def what_if(plan: Plan, add: Asked = (), remove: str | Iterable[str] = ()) -> WhatIf:
    """What a plan would become if queries were added and removed: which trees they join or leave, and what that costs.

    `add` takes a query, queries, a workload or SQL; `remove` takes names. To alter a query, remove it and add it.
    """
    weaver = Weaver.of(plan, tolerance=math.inf)
    come, go = _queries(add, len(plan.workload)), _names(remove)
    ids, places = plan.workload.ids, tree_of(plan)
    tree = dict(zip(ids, places.tolist(), strict=True))
    effects = []
    for id_ in go:
        effects.append(Effect(weaver.remove(id_), (tree.pop(id_),), plan.cost))
    for query in come:
        change = weaver.add(query)
        joined = tuple(sorted({tree[id_] for id_ in change.partners if id_ in tree}))
        effects.append(Effect(change, joined, plan.cost))
    if not len(weaver):
        raise BadRequest("no query would be left", field="remove", remedy="Leave one, or add one")
    return WhatIf(plan, weaver.plan() if effects else plan, tuple(effects))


def _queries(add: Asked, known: int) -> list[Query]:
    if isinstance(add, str):
        from weft.queries import sql  # sqlglot is only needed once there is text to read

        return sql.queries(add, known + 1)
    if isinstance(add, Query):
        return [add]
    try:
        return list(Workload(add))
    except BadRequest as error:
        raise BadRequest(error.rule, query=error.query, field="add", remedy=error.remedy) from None


def _names(remove: str | Iterable[str]) -> list[str]:
    if isinstance(remove, str):
        return [remove]
    if not isinstance(remove, Iterable):
        raise BadRequest(f"{shown(remove)} is no name", field="remove", remedy="Give names of queries")
    return list(dict.fromkeys(remove))


def _trees(places: tuple[int, ...]) -> str:
    if len(places) == 1:
        return f"tree {places[0]}"
    return f"trees {', '.join(map(str, places[:-1]))} and {places[-1]}"


def _edges(more: Fraction, what: str) -> str:
    """Edges in the unit of time that gives at least one.

    >>> _edges(Fraction(1, 30), "added"), _edges(Fraction(-1), "removed"), _edges(Fraction(0), "added")
    ('adds 2 edges per minute', 'takes 1 edge per second away', 'adds no edge')
    """
    if not more:
        return "adds no edge" if what == "added" else "takes no edge away"
    unit = next((unit for unit, seconds in _UNITS.items() if abs(more) * seconds >= 1), "day")
    count = number(abs(more) * _UNITS[unit])
    edges = f"{count} {'edge' if count == '1' else 'edges'} per {unit}"
    return f"adds {edges}" if more > 0 else f"takes {edges} away"


def _cost(share: Fraction) -> str:
    """A share of the cost in words.

    >>> _cost(Fraction(18, 1000)), _cost(Fraction(-1, 3)), _cost(Fraction(0)), _cost(Fraction(1, 10**6))
    ('costs 1.8 % more', 'costs 33.3 % less', 'costs the same', 'costs under 0.01 % more')
    """
    if not share:
        return "costs the same"
    percent = abs(100 * share)
    said = "under 0.01" if percent < Fraction(1, 100) else number(float(f"{float(percent):.3g}"))
    return f"costs {said} % {'more' if share > 0 else 'less'}"
