"""Plan: a partition of a workload into trees. A tree is a set of queries that share slices and one technique.

A planner makes a plan; the runtime executes it and decides nothing. Positions are those of the queries in the
workload. All costs are exact fractions, in operations per second of stream time.

What only a planner can answer of a plan (`what_if`, `savings`) is asked of that room when it is called.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from weft.plans.kin import kin
from weft.plans.stats import Stats
from weft.queries import expressions as ex
from weft.queries.workload import Workload
from weft.slicing.edges import Classes

if TYPE_CHECKING:
    from weft.planners.savings import Savings
    from weft.planners.what_if import Asked, WhatIf


ROLL_UP = Fraction(5, 2)
"""Operations that it takes to add up a partial of another set of keys: it is shuffled, as a row of a pass is not."""


@dataclass(frozen=True)
class GroupSet:
    """One of several sets of keys that queries of a tree group by, or that others are rolled up from."""

    keys: tuple[str, ...]
    source: int | None
    """The place of the set, among the tree's, that this one is rolled up from; None where it is made of the rows."""
    groups: Fraction
    """Groups that have a partial at an edge, expected."""
    read: Fraction
    """Partials that are added up at an edge to make it; none where it is made of the rows."""
    operations: Fraction
    """Omega: final-aggregation operations per edge and group, none where nobody groups by it."""

    @property
    def per_edge(self) -> Fraction:
        """Operations at an edge, for all groups."""
        return ROLL_UP * self.read + self.groups * self.operations


@dataclass(frozen=True)
class Tree:
    """Queries that share their slices and a technique. All read one time column."""

    queries: npt.NDArray[np.int64]
    """Positions in the workload, ascending."""
    slices: Classes
    """The edge classes between which the tree's slices lie, in microseconds (or rows)."""
    technique: str
    input_rate: Fraction
    """What the tree reads per second: rows, or partials of the slices that feed it."""
    edge_rate: Fraction
    """Edges per second (or per row, for windows of rows)."""
    groups: Fraction
    """Groups that have a partial at an edge, expected; by all keys together, where queries group by different ones."""
    operations: Fraction
    """Omega: final-aggregation operations per edge and group, with those of all roll-ups."""
    lost: tuple[tuple[str, str], ...]
    """The other techniques, each with the reason why it was refused or lost."""
    filters: tuple[tuple[str | None, Fraction, Fraction], ...] = ()
    """Where shares are known: each filter, its shards at an edge, and the operations for each. Omega is their sum."""
    sets: tuple[GroupSet, ...] = ()
    """What is grouped by, where that is several sets of keys: the finest first, each behind the one it is made from."""

    @property
    def final_cost(self) -> Fraction:
        """Operations per second of the final aggregation: edge rate x groups x Omega."""
        return self.edge_rate * self.groups * self.operations

    @property
    def cost(self) -> Fraction:
        """Operations per second: what the tree reads, and its final aggregation."""
        return self.input_rate + self.final_cost

    def _parts(self) -> tuple[object, ...]:
        numbers = (self.input_rate, self.edge_rate, self.groups, self.operations)
        return (self.queries.tobytes(), self.slices, self.technique, *numbers, self.lost, self.filters, self.sets)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tree) and self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash(self._parts())


@dataclass(frozen=True)
class Plan:
    """How a workload is executed, and what that costs."""

    workload: Workload
    stats: Stats
    trees: tuple[Tree, ...]
    planner: str
    slicing: str
    price: str
    feed: str = "events"
    """What the trees read: `events`, a pass over the data each; or `slices`, one pass that cuts at all trees' edges."""
    alternatives: tuple[tuple[str, Fraction], ...] = ()
    """Other planners' costs for the same workload, stats and price."""
    technique: str = "auto"
    """The technique that was asked for."""
    bound: Fraction | None = None
    """What any plan of this workload, stats and price costs at least, where the planner has proved it."""
    bound_among: str = ""
    """The plans that the bound is on, where it is not on all: those that keep something together."""

    @cached_property
    def cost(self) -> Fraction:
        """Operations per second: all trees, and the passes over the rows that feed them where they share one."""
        return self.feeding_cost + sum((tree.cost for tree in self.trees), Fraction(0))

    @cached_property
    def feeding_cost(self) -> Fraction:
        """Operations per second to make the slices that feed the trees: a pass over the rows for each kin, or none."""
        return Fraction(0) if self.feed == "events" else self.stats.rate * self.passes

    @property
    def passes(self) -> int:
        """How often the rows are read: once for each tree, or once for each kin where shared slices feed the trees."""
        return len(self.trees) if self.feed == "events" else len(kin(self.workload))

    @property
    def gap(self) -> Fraction | None:
        """How far above the bound the plan may be, at most: 0 for an optimal plan, None where nothing is proved."""
        return None if self.bound is None else self.cost / self.bound - 1

    def group_by(self, tree: Tree) -> tuple[ex.Expression, ...]:
        """All that queries of a tree group by."""
        workload = self.workload
        prototypes = dict.fromkeys(workload.prototype[tree.queries].tolist())
        return tuple(dict.fromkeys(key for number in prototypes for key in workload.prototypes[number].group_by))

    def explain(self) -> str:
        """The plan as text, one fact per line."""
        from weft.plans.explain import lines

        return "\n".join(lines(self))

    def what_if(self, add: Asked = (), remove: str | Iterable[str] = ()) -> WhatIf:
        """What would become of the plan if queries came (a query, queries, a workload, SQL) and others, named, went."""
        from weft.planners.what_if import what_if

        return what_if(self, add, remove)

    def savings(self) -> Savings:
        """What each query and each owner saves, against running alone."""
        from weft.planners.savings import savings

        return savings(self)

    def to_json(self) -> str:
        """The plan and its workload as JSON; `Plan.from_json` reads it back to an equal plan."""
        from weft.plans.codec import encode

        return encode(self)

    @staticmethod
    def from_json(text: str) -> Plan:
        """Read what `to_json` wrote."""
        from weft.plans.codec import decode

        return decode(text)

    def __str__(self) -> str:
        return self.explain()

    def __repr__(self) -> str:
        from weft.plans.picture import counted

        queries, trees = counted(len(self.workload), "query"), counted(len(self.trees), "tree")
        return f"Plan({self.planner}: {queries}, {trees}, cost {float(self.cost):g})"

    def _repr_html_(self) -> str:
        from weft.plans.html import render

        return render(self)

    def __iter__(self) -> Iterator[Tree]:
        return iter(self.trees)
