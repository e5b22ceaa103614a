"""Prices: what a tree costs, and which technique makes it cheapest.

`operations` is the cost model of Weave Share (Guirguis et al., CIKM 2011, equations 1 to 3):

    C(tree) = rate + E x Omega        E edges per second, Omega final-aggregation operations per edge
    C(plan) = sum over its trees

With `Stats(keys=k)` every edge closes a slice in each of the k groups that have a row (at most one per row), so the
second term is E x groups x Omega. With one key and `technique="panes"` the cost is exactly that of the paper.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from weft.algebra.partials import Partial
from weft.errors import BadRequest
from weft.planners.candidates import Candidate
from weft.plans.plan import Tree
from weft.plans.stats import Stats
from weft.slicing.density import density
from weft.techniques import BY_NAME, TECHNIQUES, why_not
from weft.techniques.technique import Technique

SECOND = 1_000_000


@dataclass(frozen=True)
class Price:
    """What a candidate would cost as a tree, given the stream, the clock, and the techniques that may be used."""

    stats: Stats
    keys: int
    """Groups of the candidate's kin: `stats.keys`, or 1 where nothing is grouped by."""
    counts_rows: bool
    techniques: tuple[Technique, ...]

    def per_second(self, per_tick: Fraction) -> Fraction:
        """Edges per second from edges per tick: a microsecond, or a row."""
        return per_tick * (self.stats.rate if self.counts_rows else SECOND)

    def groups(self, edge_rate: Fraction) -> Fraction:
        """Groups that have a row between two edges, at most."""
        return Fraction(1) if self.keys == 1 else min(Fraction(self.keys), self.stats.rate / edge_rate)

    def admissible(self, candidate: Candidate) -> list[Technique]:
        """The techniques that can serve all of the candidate's partials."""
        return [t for t in self.techniques if _refusal(t, candidate.partials, self.stats) is None]

    def final_cost(self, candidate: Candidate) -> Fraction:
        """The final aggregation's operations per second, by the cheapest technique."""
        per_tick = density(candidate.classes)
        omega = min(technique.operations(candidate.demand, per_tick) for technique in self.admissible(candidate))
        edge_rate = self.per_second(per_tick)
        return edge_rate * self.groups(edge_rate) * omega

    def cost(self, candidate: Candidate) -> Fraction:
        """What the candidate costs as a tree of its own: a pass over the rows, and the final aggregation."""
        return self.stats.rate + self.final_cost(candidate)

    def tree(self, candidate: Candidate) -> Tree:
        """The candidate as a tree, with the reasons why the other techniques were not chosen."""
        per_tick = density(candidate.classes)
        omegas = {t.name: t.operations(candidate.demand, per_tick) for t in self.admissible(candidate)}
        best = min(omegas, key=lambda name: omegas[name])
        lost = []
        for technique in self.techniques:
            refusal = _refusal(technique, candidate.partials, self.stats)
            if refusal is not None:
                lost.append((technique.name, refusal))
            elif technique.name != best:
                more = float(omegas[technique.name]), float(omegas[best])
                lost.append((technique.name, f"{more[0]:,.4g} operations per edge, against {more[1]:,.4g}"))
        edge_rate = self.per_second(per_tick)
        return Tree(
            candidate.queries,
            candidate.classes,
            best,
            edge_rate,
            self.groups(edge_rate),
            omegas[best],
            tuple(lost),
        )


@lru_cache(maxsize=4096)
def _refusal(technique: Technique, partials: frozenset[Partial], stats: Stats) -> str | None:
    return why_not(technique, sorted(partials, key=str), stats.types)


def choose_techniques(name: str) -> tuple[Technique, ...]:
    """The techniques that `technique=` allows: all of them, or one."""
    if name == "auto":
        return TECHNIQUES
    if name not in BY_NAME:
        raise BadRequest(f"there is no technique '{name}'", field="technique", remedy=f"Use auto, {', '.join(BY_NAME)}")
    return (BY_NAME[name],)


Pricing = Callable[[Stats, int, bool, tuple[Technique, ...]], Price]
PRICES: Mapping[str, Pricing] = {"operations": Price}
