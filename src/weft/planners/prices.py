"""Prices: what a tree costs, and which technique makes it cheapest.

The cost model is that of Weave Share (Guirguis et al., CIKM 2011, equations 1 to 3):

    C(tree) = rate + E x Omega        E edges per second, Omega final-aggregation operations per edge
    C(plan) = sum over its trees

With `Stats(keys=k)` every edge closes a slice in each of the k groups that have a row (at most one per row), so the
second term is E x groups x Omega. With one key and a technique of the papers, `operations` is exactly their cost; its
variants `quick` and `refined` read Omega as `techniques/omega.py` says, and `refined` expects k (1 - (1 - 1/k)^n) of k
groups in a slice of n rows.

Where `Stats(filters=...)` says how many rows pass which filter, a tree reads the rows that pass one of its filters, and
every filter's partials arrive as often as there are shards for it at an edge (see `shards.py`):

    C(tree) = rate x passing + E x groups x sum of shards x Omega, over its filters

Where the queries of a tree group by different keys (`Stats(keys={...})`), the rows are grouped by all of them together
and each set is rolled up from another (see `rollups.py`):

    C(tree) = rate + E x sum of (2.5 x partials that are rolled up + groups x Omega), over its sets
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from weft.algebra.partials import Partial
from weft.errors import BadRequest
from weft.planners import shards
from weft.planners.candidates import Candidate
from weft.planners.rollups import rolled_up
from weft.plans.explain import number
from weft.plans.plan import ROLL_UP, GroupSet, Tree
from weft.plans.stats import Keys, Stats
from weft.queries import expressions as ex
from weft.slicing.density import density_within
from weft.slicing.edges import Classes, in_ticks
from weft.techniques import AUTO, BY_NAME, why_not
from weft.techniques.demand import Demand, total
from weft.techniques.technique import Technique

SECOND = 1_000_000

UNPAYABLE = Fraction(1 << 200)
"""The price of a tree that no technique serves."""
_HARDLY_ANY = 1e-9
"""Shards at an edge of a filter that nobody passes."""


_STEPS = 200_000
"""Steps of exact counting that a tree's edges are worth: about a second."""


@lru_cache(maxsize=1 << 16)
def cut(classes: Classes) -> tuple[Classes, Fraction]:
    """Where a tree with these edge classes is cut, and its edges per tick.

    That is at its edges, where they can be counted. Where they cannot in reasonable time (hundreds of unrelated slides
    with unrelated ends: counting them is #P-hard), it is at every common tick: so many classes cut at nearly all ticks
    anyway, and the count is exact again.
    """
    exact = density_within(classes, _STEPS)
    if exact is not None:
        return classes, exact
    tick, _ = in_ticks(classes)
    return ((tick, classes[0][1] % tick),), Fraction(1, tick)


@dataclass(frozen=True)
class Grouped:
    """A set of keys, and what reaches it at an edge."""

    keys: Keys | None
    """None where the whole kin groups by it."""
    source: int | None
    """The place of the set that it is rolled up from."""
    groups: Fraction
    read: Fraction
    """Partials that are added up to make it."""
    arriving: list[tuple[Fraction, Demand]]
    """For each filter, the partials of a group, and what is asked of them."""


@dataclass(frozen=True)
class Price:
    """What a candidate would cost as a tree, given the stream, the clock, and the techniques that may be used."""

    stats: Stats
    keys: int
    """Groups of the candidate's kin, of its finest set of keys; 1 where nothing is grouped by."""
    counts_rows: bool
    techniques: tuple[Technique, ...]
    reading: str = "paper"
    """How Omega is read: paper, quick or refined."""
    fed: Fraction | None = None
    """Partials per second that every tree reads instead of the rows, where shared slices feed them."""
    mixed: bool = False
    """Whether queries of the kin group by different keys; the lanes of its candidates say by which."""

    def of_one_set(self, keys: Keys) -> Price:
        """The price for queries of the kin that all group by these keys."""
        return replace(self, mixed=False, keys=self.stats.groups(keys))

    def per_second(self, per_tick: Fraction) -> Fraction:
        """Edges per second from edges per tick: a microsecond, or a row."""
        return per_tick * (self.stats.rate if self.counts_rows else SECOND)

    def edges_per_tick(self, classes: Classes) -> Fraction:
        """Edges per tick of a tree with these edge classes."""
        return cut(classes)[1]

    def groups(self, edge_rate: Fraction, keys: Keys | None = None) -> Fraction:
        """Groups that have a row between two edges: at most, or expected. Of the kin's keys, unless told of which."""
        count = self.keys if keys is None else self.stats.groups(keys)
        return _with_rows(count, self.stats.rate / edge_rate, self.reading)

    def rows(self, edge_rate: Fraction, keys: Keys | None = None) -> float:
        """Rows between two edges of a group that has one."""
        return _of_a_group(self.stats.rate / edge_rate, self.groups(edge_rate, keys))

    @property
    def base_rate(self) -> Fraction:
        """What a tree reads per second: all rows, or the shared slices' partials."""
        return self.stats.rate if self.fed is None else self.fed

    def input_rate(self, candidate: Candidate) -> Fraction:
        """What a tree reads per second, less the rows that pass none of its filters."""
        return self.base_rate * self.passing(candidate)

    def passing(self, candidate: Candidate) -> Fraction:
        """The share of rows that pass one of the candidate's filters."""
        shares = self.shares(candidate)
        filtered = bool(shares) and all(lane.where is not None for lane in candidate.lanes)
        return Fraction(shards.passing(shares)) if filtered else Fraction(1)

    def refusal(self, technique: Technique, candidate: Candidate) -> str | None:
        """Why a technique cannot serve a candidate; None if it can."""
        if technique.one_range and candidate.demand.has_many_ranges:
            return "it serves windows of one range, and here are several"
        return _refusal(technique, candidate.partials, self.stats)

    def serving(self, partials: frozenset[Partial]) -> frozenset[str]:
        """The techniques that can serve some partials."""
        return frozenset(t.name for t in self.techniques if _refusal(t, partials, self.stats) is None)

    def admissible(self, candidate: Candidate) -> list[Technique]:
        """The techniques that can serve all of the candidate's partials."""
        return [technique for technique in self.techniques if self.refusal(technique, candidate) is None]

    def operations(self, candidate: Candidate, per_tick: Fraction) -> dict[str, Fraction]:
        """Omega under each admissible technique, for edges per tick: at an edge, for each group of the finest set."""
        sets = self.sets(candidate, per_tick)
        groups = sets[0].groups
        read = ROLL_UP * sum((each.read for each in sets), Fraction(0)) / groups
        arriving = [
            (each.groups / groups * times, demand, per_tick * times) for each in sets for times, demand in each.arriving
        ]
        return {
            technique.name: read
            + sum(
                (often * technique.operations(demand, at, self.reading) for often, demand, at in arriving), Fraction(0)
            )
            for technique in self.admissible(candidate)
        }

    def sets(self, candidate: Candidate, per_tick: Fraction) -> list[Grouped]:
        """What the candidate's queries group by, the finest set first, and what reaches each at an edge."""
        edge_rate = self.per_second(per_tick)
        if not self.mixed:
            return [Grouped(None, None, self.groups(edge_rate), Fraction(0), self._arriving(candidate, per_tick, None))]
        asked = frozenset(lane.keys for lane in candidate.lanes if lane.keys is not None)
        made = _made(self._partials(candidate, edge_rate), asked)
        return [
            Grouped(keys, source, self.groups(edge_rate, keys), read, self._arriving(candidate, per_tick, keys))
            for keys, source, read in made
        ]

    def _partials(self, candidate: Candidate, edge_rate: Fraction) -> _Partials:
        shares = self.shares(candidate)
        if not shares and self.reading != "refined":  # more rows than there are groups change nothing
            edge_rate = max(edge_rate, self.stats.rate / self.stats.groups(self.finest(candidate) or frozenset()))
        every_row = any(lane.where is None for lane in candidate.lanes)
        return _Partials(self.stats, self.reading, edge_rate, tuple(shares.items()), every_row)

    def final_cost(self, candidate: Candidate, per_tick: Fraction | None = None) -> Fraction:
        """The final aggregation's operations per second, by the cheapest technique."""
        per_tick = self.edges_per_tick(candidate.classes) if per_tick is None else per_tick
        omegas = self.operations(candidate, per_tick)
        if not omegas:
            return UNPAYABLE
        edge_rate = self.per_second(per_tick)
        return edge_rate * self.groups(edge_rate, self.finest(candidate)) * min(omegas.values())

    def finest(self, candidate: Candidate) -> Keys | None:
        """All that the candidate's queries group by, where that is not the same for the whole kin."""
        if not self.mixed:
            return None
        return frozenset(key for lane in candidate.lanes for key in lane.keys or ())

    def cost(self, candidate: Candidate, per_tick: Fraction | None = None) -> Fraction:
        """What the candidate costs as a tree of its own: a pass over the rows, and the final aggregation.

        `per_tick` is its edges per tick, where somebody has counted them already.
        """
        return self.input_rate(candidate) + self.final_cost(candidate, per_tick)

    def least_cost(self, candidate: Candidate, per_tick: Fraction, most: Fraction) -> Fraction:
        """What every tree costs at least that has the candidate's queries, and edges from `per_tick` up to `most`.

        Rows, and slices that are closed, only get more with more edges. Answers are charged for each group that has a
        row in the slice, and the more edges, the fewer these are. A set of keys is rolled up from one that has no
        fewer groups, whatever other sets there will be; but which one is the finest is not known before.
        """
        edge_rate, asked = self.per_second(per_tick), [self.finest(candidate)]
        if self.mixed:
            asked = list({lane.keys for lane in candidate.lanes})
        admissible = self.admissible(candidate)
        found: dict[str, Fraction] = {technique.name: Fraction(0) for technique in admissible}
        rolled = []
        for keys in asked:
            groups = self.groups(edge_rate, keys)
            answering = self.groups(self.per_second(most), keys) / groups
            for technique in admissible:
                found[technique.name] += groups * sum(
                    (times * technique.least_operations(demand, per_tick * times, answering, self.reading))
                    for times, demand in self._arriving(candidate, per_tick, keys)
                )
            rolled.append(min(groups, self.stats.rate / edge_rate))  # one key is a group even where there is no row
        if not found:
            return UNPAYABLE
        rolling = Fraction(0) if self.shares(candidate) else sum(rolled, Fraction(0)) - max(rolled)
        return self.input_rate(candidate) + edge_rate * (ROLL_UP * rolling + min(found.values()))

    def tree(self, candidate: Candidate) -> Tree:
        """The candidate as a tree, with the reasons why the other techniques were not chosen."""
        classes, per_tick = cut(candidate.classes)
        omegas = self.operations(candidate, per_tick)
        best = min(omegas, key=lambda name: omegas[name])
        edge_rate, sets = self.per_second(per_tick), self.sets(candidate, per_tick)
        shown = sets[0].groups if len(sets) > 1 else 1  # of one set, for each of its groups; of several, for all
        lost = []
        for technique in self.techniques:
            refusal = self.refusal(technique, candidate)
            if refusal is not None:
                lost.append((technique.name, refusal))
            elif technique.name != best:
                more, least = number(shown * omegas[technique.name]), number(shown * omegas[best])
                lost.append((technique.name, f"{more} operations per edge, against {least}"))
        return Tree(
            candidate.queries,
            classes,
            best,
            self.input_rate(candidate),
            edge_rate,
            sets[0].groups,
            omegas[best],
            tuple(lost),
            self._by_filter(candidate, per_tick, BY_NAME[best]) if len(sets) == 1 else (),
            tuple(self._shown(each, per_tick, BY_NAME[best]) for each in sets) if len(sets) > 1 else (),
        )

    def _shown(self, grouped: Grouped, per_tick: Fraction, technique: Technique) -> GroupSet:
        operations = (
            times * technique.operations(demand, per_tick * times, self.reading) for times, demand in grouped.arriving
        )
        keys = tuple(sorted(map(ex.to_sql, grouped.keys or ())))
        return GroupSet(keys, grouped.source, grouped.groups, grouped.read, sum(operations, Fraction(0)))

    def shares(self, candidate: Candidate) -> dict[ex.Expression, float]:
        """The share of rows that passes each filter, where all that differ are known."""
        return {
            lane.where: float(self.stats.filters.get(ex.to_sql(lane.where), 1))
            for lane in candidate.lanes
            if lane.where is not None
        }

    def _by_filter(
        self, candidate: Candidate, per_tick: Fraction, technique: Technique
    ) -> tuple[tuple[str | None, Fraction, Fraction], ...]:
        """Each filter, its shards at an edge, and the operations for each; nothing where only one partial arrives."""
        if not self.shares(candidate):
            return ()
        found = [
            (
                None if lane.where is None else ex.to_sql(lane.where),
                times,
                technique.operations(demand, per_tick * times, self.reading),
            )
            for lane, (times, demand) in zip(
                candidate.lanes, self._arriving(candidate, per_tick, self.finest(candidate)), strict=True
            )
        ]
        return tuple(sorted(found, key=lambda part: part[0] or ""))

    def _arriving(self, candidate: Candidate, per_tick: Fraction, keys: Keys | None) -> list[tuple[Fraction, Demand]]:
        """How many partials arrive at an edge of a group for each filter, and what the queries by these keys ask."""
        shares, lanes = self.shares(candidate), [lane for lane in candidate.lanes if lane.keys == keys]
        if not shares and keys is None:
            return [(Fraction(1), candidate.demand)]
        if not shares:
            return [(Fraction(1), total([lane.demand for lane in lanes]))] if lanes else []
        found = shards.expected(shares, self.rows(self.per_second(per_tick), keys))
        return [(Fraction(max(found[lane.where], _HARDLY_ANY)), lane.demand) for lane in lanes]


@dataclass(frozen=True)
class _Partials:
    """How many partials there are of a set of keys at an edge."""

    stats: Stats
    reading: str
    edge_rate: Fraction
    shares: tuple[tuple[ex.Expression, float], ...]
    every_row: bool
    """Whether rows that pass none of the filters are kept."""

    def __call__(self, keys: Keys) -> Fraction:
        rows = self.stats.rate / self.edge_rate
        groups = _with_rows(self.stats.groups(keys), rows, self.reading)
        if not self.shares:
            return groups
        return groups * Fraction(shards.kept(dict(self.shares), _of_a_group(rows, groups), self.every_row))


@lru_cache(maxsize=1 << 14)
def _made(partials: _Partials, asked: frozenset[Keys]) -> list[tuple[Keys, int | None, Fraction]]:
    """The sets that are made, where each comes from, and the partials that are added up for it."""
    made = rolled_up(asked, partials)
    read = [Fraction(0) if source is None else partials(made[source][0]) for _, source in made]
    return [(keys, source, each) for (keys, source), each in zip(made, read, strict=True)]


def _with_rows(count: int, rows: Fraction, reading: str) -> Fraction:
    """Of so many groups, those that have one of so many rows."""
    if count == 1:
        return Fraction(1)
    if reading == "refined":
        return Fraction(count * -_power_less_one(1 - 1 / count, float(rows)))
    return min(Fraction(count), rows)


def _of_a_group(rows: Fraction, groups: Fraction) -> float:
    """Rows of a group that has one."""
    return max(float(rows / groups), 1.0)


def _power_less_one(base: float, exponent: float) -> float:
    """base^exponent - 1, without cancellation."""
    return math.expm1(exponent * math.log(base))


@lru_cache(maxsize=4096)
def _refusal(technique: Technique, partials: frozenset[Partial], stats: Stats) -> str | None:
    return why_not(technique, sorted(partials, key=str), stats.types)


def choose_techniques(name: str) -> tuple[Technique, ...]:
    """The techniques that `technique=` allows: those that auto chooses from, or one."""
    if name == "auto":
        return AUTO
    if name not in BY_NAME:
        raise BadRequest(f"there is no technique '{name}'", field="technique", remedy=f"Use auto, {', '.join(BY_NAME)}")
    return (BY_NAME[name],)


Pricing = Callable[[Stats, int, bool, tuple[Technique, ...]], Price]


def _reading(reading: str) -> Pricing:
    return lambda stats, keys, counts_rows, techniques: Price(stats, keys, counts_rows, techniques, reading)


PRICES: Mapping[str, Pricing] = {
    "operations": _reading("paper"),
    "quick": _reading("quick"),
    "refined": _reading("refined"),
}
