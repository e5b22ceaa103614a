"""Diff: what changed from one plan to another, as a value that prints like EXPLAIN.

Queries are the same if they have the same name, trees if they share queries: the pair of trees with most queries in
common is one tree that was kept, then the next pair of which neither is taken, and so on. A query has moved if its old
tree was kept and it is no longer there, or if its old tree is gone.

    t1  a b c d          t1  e f            kept  t1 -> t2, with b c d
    t2  e f              t2  b c d g        kept  t2 -> t1, with e f
                                            removed a, added g, nothing moved
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from weft.errors import BadRequest, shown
from weft.plans import explain
from weft.plans.plan import Plan
from weft.plans.stats import Stats
from weft.queries.workload import Workload

Places = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Pair:
    """A tree that both plans have, by its place in each from 1, and how many queries it had and has."""

    old: int
    new: int
    common: int


@dataclass(frozen=True)
class Move:
    """A query that left the tree that it was in, by the trees' places in the old and in the new plan."""

    query: str
    old: int
    new: int


@dataclass(frozen=True)
class Difference:
    """What changed from one plan to another. Queries are named in the order of their workload."""

    old: Plan
    new: Plan
    added: tuple[str, ...]
    removed: tuple[str, ...]
    altered: tuple[str, ...]
    """Queries of the same name with another definition."""
    moved: tuple[Move, ...]
    kept_trees: tuple[Pair, ...]
    """In the order of the old plan."""
    gone_trees: tuple[int, ...]
    """Places in the old plan, from 1."""
    new_trees: tuple[int, ...]
    """Places in the new plan, from 1."""

    @cached_property
    def incomparable(self) -> str | None:
        """Why the costs of the two plans say nothing about each other; None if they can be compared."""
        pairs = {"price": (self.old.price, self.new.price)}
        for field in fields(Stats):
            pairs[field.name] = (getattr(self.old.stats, field.name), getattr(self.new.stats, field.name))
        reasons = [_other(name, old, new) for name, (old, new) in pairs.items() if old != new]
        return ", ".join(reasons) or None

    @cached_property
    def unchanged(self) -> bool:
        """Whether both plans have the same queries in the same trees, with the same techniques and edges."""
        kept = [(self.old.trees[pair.old - 1], self.new.trees[pair.new - 1]) for pair in self.kept_trees]
        alike = all((old.technique, old.slices) == (new.technique, new.slices) for old, new in kept)
        queries = self.added or self.removed or self.altered or self.moved
        return alike and not (queries or self.gone_trees or self.new_trees)

    def __str__(self) -> str:
        from weft.plans.changes import text

        return text(self)

    def __repr__(self) -> str:
        counts = f"{len(self.added)} added, {len(self.removed)} removed, {len(self.altered)} altered"
        return f"Difference({counts}, {len(self.moved)} moved)"

    def _repr_html_(self) -> str:
        from weft.plans.changes import html

        return html(self)


def diff(old: Plan, new: Plan) -> Difference:
    """What changed from one plan to another: queries, trees, techniques, edges and costs."""
    for name, plan in (("old", old), ("new", new)):
        if not isinstance(plan, Plan):
            raise BadRequest(
                f"{shown(plan)} is no plan", field=name, remedy="Give what weft.optimize or Plan.from_json made"
            )
    ids, ids_now = old.workload.ids, new.workload.ids
    known, places = set(ids), {id_: place for place, id_ in enumerate(ids_now)}
    here = np.array([place for place, id_ in enumerate(ids) if id_ in places], np.int64)
    there = np.array([places[ids[place]] for place in here.tolist()], np.int64)
    after = tree_of(new)[there]
    kept = _kept(tree_of(old)[here], after)
    altered = here[_altered(old.workload, here, new.workload, there)]
    return Difference(
        old,
        new,
        tuple(id_ for id_ in ids_now if id_ not in known),
        tuple(id_ for id_ in ids if id_ not in places),
        tuple(ids[place] for place in altered.tolist()),
        tuple(_moves(old, here, after, kept)),
        tuple(kept),
        _unpaired(old, {pair.old for pair in kept}),
        _unpaired(new, {pair.new for pair in kept}),
    )


def _altered(old: Workload, here: Places, new: Workload, there: Places) -> npt.NDArray[np.bool_]:
    """Which of the queries that both have are defined in another way."""
    numbers: dict[object, int] = {}
    kinds = [
        np.array([numbers.setdefault((query, query.assumed), len(numbers)) for query in workload.prototypes], np.int64)
        for workload in (old, new)
    ]
    differ: npt.NDArray[np.bool_] = kinds[0][old.prototype[here]] != kinds[1][new.prototype[there]]
    for field in ("ranges", "slides", "offsets", "delays", "counts_rows"):
        differ |= getattr(old, field)[here] != getattr(new, field)[there]
    return differ


def tree_of(plan: Plan) -> Places:
    """The place of each query's tree, from 1."""
    number = np.zeros(len(plan.workload), np.int64)
    for place, tree in enumerate(plan.trees, 1):
        number[tree.queries] = place
    return number


def _kept(before: Places, after: Places) -> list[Pair]:
    """The trees of both plans in pairs, those with most queries in common first taken."""
    met, common = np.unique(np.stack([before, after], axis=1), axis=0, return_counts=True)
    found: dict[int, Pair] = {}
    taken: set[int] = set()
    for count, old, new in sorted(zip((-common).tolist(), *met.T.tolist(), strict=True)):
        if old not in found and new not in taken:
            found[old] = Pair(old, new, -count)
            taken.add(new)
    return [found[place] for place in sorted(found)]


def _unpaired(plan: Plan, paired: set[int]) -> tuple[int, ...]:
    return tuple(place for place in range(1, len(plan.trees) + 1) if place not in paired)


def _moves(old: Plan, here: Places, after: Places, kept: list[Pair]) -> Iterator[Move]:
    successor = np.zeros(len(old.trees) + 1, np.int64)
    for pair in kept:
        successor[pair.old] = pair.new
    before = tree_of(old)[here]
    for place in np.flatnonzero(successor[before] != after).tolist():
        yield Move(old.workload.id(int(here[place])), int(before[place]), int(after[place]))


def _other(name: str, old: object, new: object) -> str:
    if isinstance(old, Mapping) or isinstance(new, Mapping):
        return f"other {name}"
    said = [explain.number(value) if isinstance(value, int | Fraction) else str(value) for value in (old, new)]
    return f"other {name} ({' -> '.join(said)})"
