"""Lower bounds: what no plan of so many candidates costs less than, when there are too many to try all plans.

What a tree costs at least, whoever else joins it, is what it costs now: more edges are more work. Where it may get
cheaper (a slice that is cut short has fewer groups to answer for; some formulas fall at places) it is the least that it
may come to (`Price.least_cost`). A query that joins a tree pays for its answers at all edges of the tree, and these are

    joined(q) = edges of q and of the other query that adds fewest to them        at least

which gives three bounds. The largest one counts.

1.  What any one candidate costs at least.
2.  The best plan of the sixteen dearest, and what each of the others adds at least at joined(q).
3.  The best plan if a tree had no more edges than the largest joined(q) in it. Who has fewer may as well join, so the
    queries of a tree stand next to each other in the order of joined(q), but for those that are better off alone: a
    dynamic programme over the last tree.

        tree of i, ..., j        what j costs at joined(j) + sum over the others of  min(answers at joined(j), alone)

The second is the closer one where few candidates cost most, the third where the rate is high and trees are few.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from weft.planners.estimates import Floats, roundings
from weft.planners.ledger import Ledger
from weft.planners.subsets import MOST, cheapest, subset_costs
from weft.planners.tree_edges import edges_of
from weft.techniques.demand import Load

AGREE = Fraction(1, 10**12)
"""Costs that differ by less than this share of them are equal."""


def lower_bound(ledger: Ledger, floors: Sequence[Fraction]) -> Fraction:
    """What no plan costs less than, given what each candidate adds at least."""
    alone = max(ledger.least(frozenset({i})) for i in range(len(ledger)))
    return max(alone, _of_the_dearest(ledger, floors), _relaxed(ledger))


def least_additions(ledger: Ledger) -> list[Fraction]:
    """What each candidate adds at least to what any others cost at least, whatever tree it is in."""
    alone = [ledger.least(frozenset({i})) for i in range(len(ledger))]
    if len(ledger) == 1:
        return alone
    joining = np.diagonal(_answers(ledger, _joined(ledger)))
    return [min(_less(joins), least) for joins, least in zip(joining.tolist(), alone, strict=True)]


def _less(value: float) -> Fraction:
    """A fraction that is not above what the float stands for."""
    return Fraction(value) * (1 - AGREE / 2)


def _joined(ledger: Ledger) -> Floats:
    """Edges per tick, at least, of any tree that has a candidate and another one."""
    edges, found = edges_of(ledger.candidates), np.empty(len(ledger))
    for i in range(len(ledger)):
        unions = edges.unions(i, 0)[0].astype(np.float64)
        unions[i] = np.inf
        found[i] = unions.min()
    return found * (1 - roundings(np.float64))


def _answers(ledger: Ledger, per_tick: Floats) -> Floats:
    """What each candidate (a column) pays at least in a tree of so many edges (a row), all that all pay for apart."""
    price, demands = ledger.price, [candidate.demand for candidate in ledger.candidates]
    overlap, answers = (np.array([float(getattr(d, name)) for d in demands]) for name in ("overlap", "answers"))
    edges, queries = per_tick[:, None], np.array([demand.queries for demand in demands])
    ask = Load(queries, overlap, answers / edges, np.ones(len(demands)))
    least = np.full((len(per_tick), len(demands)), np.inf)
    for technique in price.techniques:
        able = [price.refusal(technique, candidate) is None for candidate in ledger.candidates]
        floor = technique.omega.floor
        np.minimum(least, edges * floor(ask) if floor else 0.0, out=least, where=np.array(able))
    for i, candidate in enumerate(ledger.candidates):
        if candidate.lanes or not price.admissible(candidate):
            least[:, i] = 0
    return least * float(price.per_second(Fraction(1)) * price.groups(price.per_second(ledger.most)))


def _of_the_dearest(ledger: Ledger, floors: Sequence[Fraction]) -> Fraction:
    """The least that the sixteen dearest candidates cost, and what the others add at least.

    A plan of all of them, less the others' queries, is a plan of the dearest.
    """
    dearest = sorted(range(len(ledger)), key=lambda i: -ledger.cost(frozenset({i})))[:MOST]
    costs = subset_costs([ledger.candidates[i] for i in dearest], ledger.price, float(ledger.most))
    if costs is None:
        return Fraction(0)
    return _less(cheapest(costs)[0]) + sum((floors[i] for i in range(len(ledger)) if i not in dearest), Fraction(0))


def _relaxed(ledger: Ledger) -> Fraction:
    """The least that a plan costs if a tree has no more edges than its queries need to have company."""
    if len(ledger) == 1:
        return Fraction(0)
    price, joined = ledger.price, _joined(ledger)
    order = np.argsort(joined, kind="stable")
    joined, answers = joined[order], _answers(ledger, joined[order])[:, order]
    candidates = [ledger.candidates[i] for i in order.tolist()]
    alone = np.array([float(ledger.least(frozenset({i}))) for i in order.tolist()])
    best = np.zeros(len(order) + 1)
    for last, candidate in enumerate(candidates):
        leading = float(price.least_cost(candidate, Fraction(float(joined[last])), ledger.most))
        others = np.minimum(answers[last, :last], alone[:last])
        # the tree begins at each of those before, or is the last one alone
        trees = best[:last] + leading + np.cumsum(others[::-1])[::-1]
        best[last + 1] = min(trees.min(initial=np.inf), best[last] + alone[last])
    return _less(float(best[-1]))
