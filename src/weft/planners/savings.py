"""Savings: what each query, and each owner, saves by sharing, against running alone.

The savings of a plan are what it would cost not to share at all, less what the plan costs (Chung, Guirguis and Kurdia,
COCOON 2014, section 3). To say whose they are, the cost of a tree is divided among its queries:

    share of a query = cost of its tree x its cost alone / what all queries of the tree would cost alone

So all queries of a tree save the same percentage, nobody pays more than alone where the tree as a whole saves, and the
shares add up to what the plan costs, exactly. Where shared slices feed the trees, the pass that makes them is divided
among all queries that read them, by the same rule. A query's cost alone is that of a tree of its own, under the plan's
own price and techniques, that reads the rows itself.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from weft.errors import BadRequest, shown
from weft.planners.families import Family, families
from weft.planners.prices import PRICES, choose_techniques
from weft.plans.diff import tree_of
from weft.plans.explain import number
from weft.plans.picture import counted
from weft.plans.plain import plain
from weft.plans.plan import Plan
from weft.plans.table import Table

_SHOWN = 20
"""Queries and owners listed, those that save most, before the rest is counted."""
NOBODY = "(no owner)"


@dataclass(frozen=True)
class Saving:
    """What somebody saves, in operations per second."""

    name: str
    """A query, an owner, or the plan's planner."""
    queries: int
    alone: Fraction
    """What the queries would cost if each ran alone."""
    cost: Fraction
    """Their share of what the plan costs."""

    @property
    def saved(self) -> Fraction:
        """What they save; below 0, what they pay for the others."""
        return self.alone - self.cost

    @property
    def ratio(self) -> Fraction:
        """What they save, as a share of what they would cost alone."""
        return self.saved / self.alone


@dataclass(frozen=True)
class Savings:
    """Who saves what by a plan."""

    plan: Plan
    alone: tuple[Fraction, ...]
    """What each query would cost alone, by its position."""
    cost: tuple[Fraction, ...]
    """Each query's share of the plan's cost. They add up to it."""

    @cached_property
    def total(self) -> Saving:
        """All queries together."""
        return self._of(self.plan.planner, range(len(self.cost)))

    @cached_property
    def owners(self) -> tuple[Saving, ...]:
        """Each owner's queries together, in order of first query; queries that nobody owns come last."""
        found: dict[str | None, list[int]] = {}
        for position, owner in enumerate(self.plan.workload.owners or [None] * len(self.cost)):
            found.setdefault(owner, []).append(position)
        ownerless = found.pop(None, [])
        savings = [self._of(owner or "", positions) for owner, positions in found.items()]
        return (*savings, *([self._of(NOBODY, ownerless)] if ownerless else []))

    def __len__(self) -> int:
        return len(self.cost)

    def __getitem__(self, query: str | int) -> Saving:
        """The saving of a query, by its name or its position."""
        workload = self.plan.workload
        position = workload.position(query) if isinstance(query, str) else range(len(self))[query]
        return self._of(workload.id(position), [position])

    def _of(self, name: str, positions: Sequence[int]) -> Saving:
        alone = sum((self.alone[i] for i in positions), Fraction(0))
        return Saving(name, len(positions), alone, sum((self.cost[i] for i in positions), Fraction(0)))

    def to_json(self) -> str:
        """All of it as JSON: in all, by owner and by query, in operations per second. Nobody's queries are null's."""
        trees, owned = tree_of(self.plan).tolist(), self.plan.workload.owners
        names = owned or [None] * len(self)
        owners = sorted(dict.fromkeys(owned or ()), key=lambda name: name is None)
        document = {
            "planner": self.plan.planner,
            "total": {"queries": len(self), **_in_floats(self.total)},
            "owners": [
                {"owner": name, "queries": saving.queries, **_in_floats(saving)}
                for name, saving in zip(owners, self.owners if owned else (), strict=True)
            ],
            "queries": [
                {"query": self[i].name, "owner": names[i], "tree": trees[i], **_in_floats(self[i])}
                for i in range(len(self))
            ],
        }
        return json.dumps(document, indent=1)

    def __str__(self) -> str:
        return "\n\n".join([self._head(), *(table.text() + rest for table, rest in self._tables())])

    def __repr__(self) -> str:
        return f"Savings({plain(self._head())})"

    def _repr_html_(self) -> str:
        from html import escape

        tables = "".join(f"{table.html()}<p>{escape(rest.strip())}</p>" for table, rest in self._tables())
        return f"<div><p><b>{escape(self._head())}</b></p>{tables}</div>"

    def _head(self) -> str:
        total = self.total
        return (
            f"{counted(total.queries, 'query')}: {number(total.alone)} operations/s alone, {number(total.cost)} by "
            f"{total.name}, {_saved(total)}"
        )

    def _tables(self) -> list[tuple[Table, str]]:
        """The owners, where there are any, and the queries; each table with what is left out of it."""
        trees, owned = tree_of(self.plan), self.plan.workload.owners
        found = []
        if owned is not None:
            owners = sorted(self.owners, key=lambda saving: (saving.name == NOBODY, -saving.saved))
            told = [(one.name, f"{one.queries:,}", *_cells(one)) for one in owners[:_SHOWN]]
            found.append((_table(("owner", "queries"), told), _more(owners)))
        rows = [
            (self[i].name, *([owned[i] or "-"] if owned is not None else []), f"t{trees[i]}", *_cells(self[i]))
            for i in self._dearest()
        ]
        header = ("query", "tree") if owned is None else ("query", "owner", "tree")
        return [*found, (_table(header, rows), _more(self.cost))]

    def _dearest(self) -> list[int]:
        """The queries that save most, or all in their order where they are few."""
        if len(self) <= _SHOWN:
            return list(range(len(self)))
        return sorted(range(len(self)), key=lambda i: (self.cost[i] - self.alone[i], i))[:_SHOWN]


def savings(plan: Plan) -> Savings:
    """What every query and every owner saves by a plan, against running alone."""
    if not isinstance(plan, Plan):
        raise BadRequest(
            f"{shown(plan)} is no plan", field="plan", remedy="Give what weft.optimize or Plan.from_json made"
        )
    given = families(plan.workload, plan.stats, plan.slicing, PRICES[plan.price], choose_techniques(plan.technique))
    alone = [Fraction(0)] * len(plan.workload)
    for family in given:
        for positions, cost in _costs_alone(family):
            for position in positions.tolist():
                alone[position] = cost
    shares = [Fraction(0)] * len(plan.workload)
    _divide([(tree.cost, tree.queries) for tree in plan.trees], alone, shares)
    if plan.feed == "slices":
        _divide([(plan.stats.rate, family.positions) for family in given], alone, shares)
    return Savings(plan, tuple(alone), tuple(shares))


def _divide(
    bills: Sequence[tuple[Fraction, npt.NDArray[np.int64]]], alone: Sequence[Fraction], shares: list[Fraction]
) -> None:
    """Charge each bill to its queries, in proportion to what they would cost alone."""
    for bill, queries in bills:
        positions = queries.tolist()
        part = bill / sum((alone[position] for position in positions), Fraction(0))
        for position in positions:
            shares[position] += part * alone[position]


def _costs_alone(family: Family) -> list[tuple[npt.NDArray[np.int64], Fraction]]:
    """What queries cost alone, wherever their windows begin; those that are alike are priced once."""
    workload, positions = family.workload, family.positions
    sizes = (workload.prototype[positions], workload.ranges[positions], workload.slides[positions])
    shape = np.stack(sizes, axis=1)
    _, first, alike = np.unique(shape, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(alike.reshape(-1), kind="stable")
    groups = np.split(positions[order], np.cumsum(np.bincount(alike.reshape(-1)))[:-1])
    priced = Family(workload, positions[first], family.slicing, family.price).alone
    place = {int(position): number for number, position in enumerate(positions[first].tolist())}
    costs = {place[int(one.queries[0])]: family.price.cost(one) for one in priced}
    return [(group, costs[number]) for number, group in enumerate(groups)]


def _in_floats(saving: Saving) -> dict[str, float]:
    costs = {"alone": saving.alone, "cost": saving.cost, "saved": saving.saved, "ratio": saving.ratio}
    return {name: float(value) for name, value in costs.items()}


_COSTS = ("alone", "share", "saved", "")


def _table(header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Table:
    width = len(header) + len(_COSTS)
    first = len(header) - (header[-1] == "queries")
    return Table((*header, *_COSTS), frozenset(range(first, width)), rows)


def _cells(saving: Saving) -> tuple[str, ...]:
    percent = f"{number(float(f'{float(100 * saving.ratio):.3g}'))} %"
    return number(saving.alone), number(saving.cost), number(saving.saved), percent


def _saved(saving: Saving) -> str:
    percent = f"{number(float(f'{float(abs(100 * saving.ratio)):.3g}'))} %"
    return f"{percent} saved" if saving.saved >= 0 else f"{percent} more than alone"


def _more(things: Sequence[object]) -> str:
    return f"\nand {len(things) - _SHOWN:,} more" if len(things) > _SHOWN else ""
