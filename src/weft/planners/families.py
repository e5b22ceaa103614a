"""Families: a workload comes apart into kin, and each kin is planned by itself.

Only queries of one kin can share a tree, so a plan of the whole is the plans of its families side by side, and so are
its cost and its bound.

Planners start from queries with the same edges together, since these never lose by sharing. But they may

    where different techniques serve them      a sum of integers alone is cheap; with a maximum it is served as that is
    where filters keep different rows          two shards at each edge, for few rows that both read
    where queries group by different keys      more groups together than each has, to be rolled up at each edge

so these start apart, and planners may merge them. Only where that makes more candidates than a planner takes time for
(`Planner.apart`) is each filter woven by itself first, or else, of very many, different filters over the same edges put
together as far as that pays: what is together never parts again, and plans that start so have been six times as dear.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from weft.algebra.partials import Partial, known_as, partials
from weft.errors import BadRequest
from weft.planners.candidates import Candidate, candidates, partials_of_prototypes, together
from weft.planners.forest import Forest
from weft.planners.planner import Grouping, Planner
from weft.planners.prices import Price, Pricing
from weft.planners.weave_share import weave
from weft.plans.kin import kin
from weft.plans.plan import Tree
from weft.plans.stats import Keys, Stats
from weft.queries import expressions as ex
from weft.queries.workload import Workload
from weft.techniques import why_not
from weft.techniques.technique import Technique

_WEIGHED = 32
"""Different filters over the same edges up to which it is weighed who shares with whom."""


@dataclass(frozen=True)
class Family:
    """The queries of one kin and their price."""

    workload: Workload
    positions: npt.NDArray[np.int64]
    slicing: str
    price: Price

    @cached_property
    def collapsed(self) -> Sequence[Candidate]:
        """The queries, those with the same edges as a candidate for each filter and for what techniques serve them."""
        price, filters, keys = self.price, bool(self.price.stats.filters), self.price.mixed
        one_range = all(technique.one_range for technique in price.techniques)
        known: dict[object, int] = {}
        kinds = [
            known.setdefault(
                (
                    price.serving(needed),
                    prototype.where if filters else None,
                    frozenset(prototype.group_by) if keys else None,
                ),
                len(known),
            )
            for needed, prototype in zip(partials_of_prototypes(self.workload), self.workload.prototypes, strict=True)
        ]
        return candidates(self.workload, self.positions, self.slicing, filters, keys, one_range, kinds=np.array(kinds))

    def parts(self, planner: Planner) -> list[Family]:
        """The family, or one for each set of keys, where there are too many trees to weigh who shares across these."""
        if not self.price.mixed or planner.alone or len(self._begun(planner.apart)) <= planner.apart:
            return [self]
        workload, found = self.workload, []
        by_keys: dict[Keys, list[int]] = {}
        for number, prototype in enumerate(workload.prototypes):
            by_keys.setdefault(frozenset(prototype.group_by), []).append(number)
        for keys, prototypes in by_keys.items():
            mine = self.positions[np.isin(workload.prototype[self.positions], prototypes)]
            if len(mine):
                found.append(Family(workload, mine, self.slicing, self.price.of_one_set(keys)))
        return found

    def _begun(self, apart: int) -> list[list[Candidate]]:
        """Which of the collapsed start together, under the family's own price; woven once, whoever asks."""
        if apart not in self._began:
            self._began[apart] = begun(self.collapsed, self.price, apart)
        return self._began[apart]

    @cached_property
    def _began(self) -> dict[int, list[list[Candidate]]]:
        return {}

    @cached_property
    def alone(self) -> Sequence[Candidate]:
        """A candidate for every query."""
        filters = bool(self.price.stats.filters)
        return candidates(self.workload, self.positions, self.slicing, filters, self.price.mixed, alone=True)

    def start(self, planner: Planner, price: Price) -> Sequence[Candidate]:
        """What a planner starts from."""
        if planner.alone:
            self._refuse(planner, len(self.positions), "queries")
        found = self.alone if planner.alone or len(self.positions) <= planner.few else self.collapsed
        if found is self.collapsed and (self.price.stats.filters or self.price.mixed):
            groups = self._begun(planner.apart) if price is self.price else begun(found, price, planner.apart)
            found = sorted((together(parts) for parts in groups), key=lambda candidate: int(candidate.queries[0]))
        self._refuse(planner, len(found), "different sets of edges")
        return found

    def _refuse(self, planner: Planner, count: int, what: str) -> None:
        """Say no to more than a planner can take."""
        if planner.most is not None and count > planner.most:
            raise BadRequest(
                f"{planner.name} takes at most {planner.most} {what}, and here are {count:,} that could share",
                field="planner",
                remedy=f"Use {planner.instead}",
            )

    def grouped(self, planner: Planner, options: Mapping[str, object]) -> tuple[Grouping, Price]:
        """What a planner makes of the family, and the price that it planned with."""
        price = planner.priced(self.collapsed, self.price)
        return planner.group(self.start(planner, price), price, **options), price

    def trees(self, grouping: Grouping, price: Price) -> list[Tree]:
        """The candidates of a grouping as trees; one that no allowed technique can serve is refused."""
        for candidate in grouping.trees:
            if not price.admissible(candidate):
                raise BadRequest(
                    f"{price.techniques[0].name} cannot be used: {price.refusal(price.techniques[0], candidate)}",
                    query=self.workload.id(int(candidate.queries[0])),
                    field="technique",
                    remedy='Use planner="weave_share", which keeps such queries apart, or technique="auto"',
                )
        return [price.tree(candidate) for candidate in grouping.trees]


def begun(queries: Sequence[Candidate], price: Price, apart: int) -> list[list[Candidate]]:
    """Those that start together: the same edges, keys and filters that the same techniques serve.

    If that makes more than `apart`, the queries of each filter and keys are woven first, among themselves. If that
    would take as long, or leaves more trees than `apart`, different filters over the same edges are put together.
    """
    one_range = all(technique.one_range for technique in price.techniques)
    alike: dict[tuple[Any, ...], list[Candidate]] = {}
    for query in queries:
        size, keys = query.demand.longest if one_range else 0, frozenset(lane.keys for lane in query.lanes)
        filters = frozenset(lane.where for lane in query.lanes)
        alike.setdefault((query.classes, price.serving(query.partials), size, keys, filters), []).append(query)
    if len(alike) <= apart:
        return list(alike.values())
    by_filter: dict[tuple[frozenset[Any], object], list[list[Candidate]]] = {}
    by_edges: dict[object, list[list[Candidate]]] = {}
    for (*edges, keys, passed), parts in alike.items():
        by_filter.setdefault((keys, passed), []).append(parts)
        by_edges.setdefault((*edges, keys), []).append(parts)
    if price.mixed and not price.stats.filters:
        # those of one set of keys can be weighed many at a time, under the price of that set alone
        return [
            woven
            for ((keys,), _), groups in by_filter.items()
            for woven in _woven(groups, price.of_one_set(keys), bare=True)
        ]
    if sum(len(groups) ** 2 for groups in by_filter.values()) <= apart**2:
        found = [woven for groups in by_filter.values() for woven in _woven(groups, price)]
        if len(found) <= apart:
            return found
    found = []
    for groups in by_edges.values():
        weighed = len(groups) <= _WEIGHED
        found += _woven(groups, price) if weighed else [[query for parts in groups for query in parts]]
    return found


def _woven(groups: Sequence[list[Candidate]], price: Price, bare: bool = False) -> list[list[Candidate]]:
    """Groups, put together as far as that pays; `bare` where the price asks neither filters nor keys."""
    if len(groups) == 1:
        return list(groups)
    starts = [together(parts) for parts in groups]
    forest = Forest([replace(start, lanes=()) for start in starts] if bare else starts, price)
    behind = {id(members[0]): parts for members, parts in zip(forest.members, groups, strict=True)}
    weave(forest)
    return [[one for part in members for one in behind[id(part)]] for members in forest.members if members]


def families(
    workload: Workload,
    stats: Stats,
    slicing: str,
    pricing: Pricing,
    techniques: tuple[Technique, ...],
    united: bool = False,
    growing: bool = False,
) -> list[Family]:
    """A workload's families; a query that none of the techniques can serve is refused.

    With `united`, queries with different keys may share, where it is known how many groups these have together; with
    `growing`, queries with other keys may still come.
    """
    found = []
    united = united and stats.unites
    for positions in kin(workload, united):
        several = {
            frozenset(workload.prototypes[n].group_by) for n in np.unique(workload.prototype[positions]).tolist()
        }
        groups = stats.groups(frozenset(key for keys in several for key in keys))
        rows = bool(workload.counts_rows[positions[0]])
        mixed = len(several) > 1 or (growing and united and not rows)
        price = replace(pricing(stats, groups, rows, techniques), mixed=mixed)
        family = Family(workload, positions, slicing, price)
        for candidate in family.collapsed:
            if not price.admissible(candidate):
                _refuse(workload, candidate, price)
        found.append(family)
    return found


def cost(trees: Sequence[Candidate], price: Price) -> Fraction:
    """What trees cost. Those that differ in their positions alone are priced once."""
    alike: dict[object, tuple[Candidate, int]] = {}
    for tree in trees:
        key = (tree.classes, tree.partials, tree.demand, tree.lanes)
        alike[key] = (tree, alike[key][1] + 1 if key in alike else 1)
    return sum((count * price.cost(tree) for tree, count in alike.values()), Fraction(0))


def _refuse(workload: Workload, candidate: Candidate, price: Price) -> None:
    """Name a query that none of the allowed techniques can serve, and why."""
    for position in candidate.queries.tolist():
        needed = frozenset(partial for aggregate in workload[position].aggregates for partial in partials(aggregate))
        alone = replace(candidate, partials=needed)
        for technique in price.techniques:
            reason = price.refusal(technique, alone)
            if reason is not None:
                raise BadRequest(
                    f"{technique.name} cannot be used: {reason}",
                    query=workload.id(position),
                    field="technique",
                    remedy=f'Use technique="auto"{_types_that_help(technique, needed, price.stats)}',
                )


def _types_that_help(technique: Technique, needed: frozenset[Partial], stats: Stats) -> str:
    """What to say of columns with which the technique could be used, if only they were known to be exact."""
    columns = [one.argument for one in needed if isinstance(one.argument, ex.Column)]
    untold = {name: "bigint" for name in sorted(map(known_as, columns)) if name not in stats.types}
    if not untold or why_not(technique, needed, {**untold, **stats.types}) is not None:
        return ""
    told = ", ".join(f'"{name}": "{type_}"' for name, type_ in untold.items())
    given = ",".join(f"{name}={type_}" for name, type_ in untold.items())
    return f"; or, where {' and '.join(untold)} cannot be floating-point, Stats(types={{{told}}}), --types {given}"
