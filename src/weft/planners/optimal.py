"""Optimal: the cheapest partition there is, or one that is known to be within so many percent of it.

Of many queries those with equal edges are put together first. What is left are seldom more than sixteen candidates, and
all their partitions are compared by dynamic programming (`subsets.py`). Beyond that, branch and bound: candidates join
a tree or open one, dearest first; a partial plan can never cost less than its trees and what the rest adds at least,
whatever it shares:

    bound(partial) = sum of what each tree costs at least + sum over the rest of what each query adds at least

The partial plan with the lowest bound goes on first, so at any time the lowest bound left is a bound on every plan, as
are those of `lower_bounds.py`. The best plan known from the start is Weave Share's, polished by Local Search. `steps`
is how many partial plans are tried; what is proved by then is told as a gap.

Up to ten queries are taken one by one. Of more, putting those with equal edges together never costs more under one
technique whose operations add up query by query. Where several techniques compete, or ranges count, the result is the
best, and the bound one on all, of the plans that keep queries with equal edges, techniques and filters together.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from fractions import Fraction
from itertools import count as counter

from weft.planners.candidates import Candidate
from weft.planners.forest import Forest
from weft.planners.ledger import Ledger, Members
from weft.planners.local_search import descend
from weft.planners.lower_bounds import AGREE, least_additions, lower_bound
from weft.planners.planner import Grouping, Planner, whole_number
from weft.planners.prices import Price
from weft.planners.subsets import ONE_BY_ONE, cheapest, subset_costs
from weft.planners.weave_share import weave


def optimal(queries: Sequence[Candidate], price: Price, steps: int = 2_000) -> Grouping:
    """The best plan, with a bound on all plans."""
    whole_number("steps", steps, 0)
    costs = subset_costs(queries, price)
    ledger = Ledger(queries, price)
    if costs is not None:
        _, trees = cheapest(costs)
        found = [frozenset(i for i in range(len(queries)) if tree >> i & 1) for tree in trees]
        return Grouping(ledger.trees(sorted(found, key=min)), ledger.total(found), _among(queries, price))
    found = polished(queries, price, ledger)
    spent = ledger.total(found)
    floors = least_additions(ledger)
    bound = lower_bound(ledger, floors)
    found, proved = _branch(ledger, floors, found, steps, bound)
    spent = ledger.total(found)
    bound = min(max(bound, proved), spent)
    return Grouping(ledger.trees(found), spent if spent - bound <= AGREE * spent else bound, _among(queries, price))


def _among(queries: Sequence[Candidate], price: Price) -> str:
    """The plans that a bound over these candidates is on, where it is not on all plans of their queries."""
    apart = all(len(query.queries) == 1 for query in queries)
    adds_up = len(price.techniques) == 1 and price.techniques[0].omega.adds_up and not price.stats.filters
    return "" if apart or adds_up else "plans that keep equal edges together"


def polished(queries: Sequence[Candidate], price: Price, ledger: Ledger) -> list[Members]:
    """Weave Share's trees, improved by moving single candidates, with all in one tree as an alternative."""
    forest = Forest(queries, price)
    weave(forest)
    number = {id(query): i for i, query in enumerate(queries)}
    trees = [frozenset(number[id(query)] for query in members) for members in forest.members if members]
    everything = [frozenset(range(len(queries)))]
    start = min((trees, everything), key=ledger.total)
    return descend(ledger, start, len(queries))[0]


def _branch(
    ledger: Ledger, floors: Sequence[Fraction], best: list[Members], steps: int, enough: Fraction
) -> tuple[list[Members], Fraction]:
    """The best plan found, and the lowest bound that is left."""
    order = sorted(range(len(ledger)), key=lambda i: -ledger.cost(frozenset({i})))
    rest = [Fraction(0)]
    for i in reversed(order):
        rest.append(rest[-1] + floors[i])
    rest.reverse()
    spent, ticket = ledger.total(best), counter()
    heap: list[tuple[Fraction, int, int, tuple[Members, ...]]] = [(rest[0], next(ticket), 0, ())]
    while heap and heap[0][0] < spent and steps > 0 and enough < spent:
        bound, _, placed, trees = heapq.heappop(heap)
        steps -= 1
        if placed == len(order):
            best, spent = list(trees), bound
            continue
        candidate = frozenset({order[placed]})
        # what is a plan of all queries costs what it costs
        cost = ledger.cost if placed + 1 == len(order) else ledger.least
        for target in (*trees, frozenset[int]()):
            grown = target | candidate
            others = tuple(tree for tree in trees if tree is not target)
            reached = sum(map(cost, (*others, grown)), rest[placed + 1])
            if reached < spent:
                # of equal bounds the plan that is furthest on goes first
                heapq.heappush(heap, (reached, -next(ticket), placed + 1, (*others, grown)))
    return sorted(best, key=min), heap[0][0] if heap else spent


PLANNER = Planner(
    "optimal",
    "Optimal",
    "here; Chung, Guirguis and Kurdia, COCOON 2014, ask for it",
    optimal,
    options=("steps",),
    few=ONE_BY_ONE,
    apart=400,
    most=400,
    instead="weave_share",
)
