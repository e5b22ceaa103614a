"""Loom: the trees of one kin, and how a query joins one of them or leaves it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from weft.planners.candidates import Candidate, together
from weft.planners.families import begun, families
from weft.planners.forest import Forest
from weft.planners.optimize import PLANNERS, Request
from weft.planners.planner import Planner
from weft.planners.prices import PRICES, Price, choose_techniques
from weft.planners.tree_edges import Live
from weft.planners.weave_share import weave
from weft.queries import expressions as ex
from weft.queries.query import Query
from weft.queries.workload import Workload

Kin = tuple[object, ...]


@dataclass(frozen=True, eq=False)
class Entry:
    """A live query: who it can share with, what it weighs there, and the price."""

    query: Query
    kin: Kin
    candidate: Candidate
    price: Price

    def at(self, time: ex.Column) -> Entry:
        """The query once others have named the time that it leaves to them."""
        keys, _, *clock = self.kin
        return replace(self, kin=(keys, time, *clock))


def entries(workload: Workload, asked: Request, time: ex.Column | None) -> list[Entry]:
    """Queries, checked, among others whose time is in the given column."""
    pricing, techniques = PRICES[asked.price], choose_techniques(asked.technique)
    united = PLANNERS[asked.planner].feed == "events" and asked.stats.unites
    found = {}
    for family in families(workload, asked.stats, asked.slicing, pricing, techniques, united, growing=True):
        for candidate in family.alone:
            query = workload[position := int(candidate.queries[0])]
            counted = (query.where,) if query.window.unit == "rows" else None
            keys = None if family.price.mixed else frozenset(query.group_by)
            kin = (keys, query.time or time, query.window.unit, counted)
            found[position] = Entry(query, kin, candidate, family.price)
    return [found[position] for position in sorted(found)]


Groups = dict[Kin, list[list[Candidate]]]
"""The candidates of every tree, by kin."""


def grouped_from_scratch(live: Mapping[Kin, Sequence[Entry]], planner: Planner) -> tuple[Groups, int]:
    """Weave Share over live queries, each kin by itself, and how many pairs of trees were weighed."""
    found, weighed = {}, 0
    for kin, entries in live.items():
        queries = [one.candidate for one in entries]
        price = planner.priced(queries, entries[0].price)
        groups = begun(queries, price, planner.apart)
        start = [together(candidates) for candidates in groups]
        behind = {id(candidate): members for candidate, members in zip(start, groups, strict=True)}
        forest = Forest(start, price)
        weave(forest)
        weighed += forest.evaluations
        found[kin] = [[one for start in members for one in behind[id(start)]] for members in forest.members if members]
    return found, weighed


class Loom:
    """Trees of live queries. State: queries come and go."""

    _all_changed = False

    def __init__(self, trees: Sequence[Sequence[Candidate]], price: Price) -> None:
        self.price = price
        self._forest = Forest([together(members) for members in trees], price, Live)
        self._forest.members = [list(members) for members in trees]
        self._add_up()

    @property
    def numbered(self) -> list[tuple[int, list[Candidate]]]:
        """The trees' numbers and queries."""
        return [(i, self._forest.members[i]) for i in np.flatnonzero(self._forest.alive).tolist()]

    @property
    def trees(self) -> list[list[Candidate]]:
        """The queries of every tree."""
        return [members for _, members in self.numbered]

    def _add_up(self) -> None:
        numbers = np.flatnonzero(self._forest.alive).tolist()
        self.cost = sum((self._forest.cost(i) for i in numbers), Fraction(0))
        """What the trees cost."""
        self.edges = self.price.per_second(sum((self._forest.density(i) for i in numbers), Fraction(0)))
        """Edges per second of all trees."""

    def shape(self, number: int) -> Candidate:
        """A tree as a candidate, less who its queries are."""
        return self._forest.shape(number)

    def repriced(self, price: Price) -> Loom:
        """The same trees under another price, under which any two of them may have become worth merging."""
        loom = Loom(self.trees, price)
        loom._all_changed = True
        return loom

    def add(self, query: Candidate) -> tuple[list[Candidate], int]:
        """Weave a query in; the others of its tree, and how many pairs of trees were weighed."""
        weighed = self._settle(self._forest.append(query))
        tree = next(members for members in self.trees if any(member is query for member in members))
        return [member for member in tree if member is not query], weighed

    def remove(self, query: Candidate) -> tuple[list[Candidate], int]:
        """Take a query out; the others of the tree that it was in, and how many pairs of trees were weighed."""
        number = next(i for i, members in self.numbered if any(member is query for member in members))
        self._forest.drop(number, query)
        left = list(self._forest.members[number])
        return left, self._settle(number)

    def _settle(self, number: int) -> int:
        """Merge a tree that has changed while that saves something, and say how many pairs of trees were weighed."""
        forest = self._forest
        before = forest.evaluations
        while forest.members[number] and (partner := forest.partner(number, forest.ceilings(number))) is not None:
            number, other = sorted((number, partner))
            forest.merge(number, other)
        if self._all_changed:
            forest.compact()
            weave(forest)
            self._all_changed = False
        if 2 * np.count_nonzero(forest.alive) < len(forest):
            forest.compact()
        self._add_up()
        return forest.evaluations - before
