"""Exhaustive: every partition of the queries, and the cheapest of them.

The queries join the trees of those before them, or open one, in every possible way (restricted growth strings):
4,213,597 partitions of 12 queries, 27,644,437 of 13.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

from weft.planners.candidates import Candidate
from weft.planners.ledger import Ledger, whole
from weft.planners.planner import Grouping, Planner
from weft.planners.prices import Price


def exhaustive(queries: Sequence[Candidate], price: Price) -> Grouping:
    """The cheapest of all partitions; the first one of several."""
    ledger, count = Ledger(queries, price), len(queries)
    sets = [frozenset(some) for size in range(count + 1) for some in combinations(range(count), size)]
    costs = [Fraction(0), *(ledger.cost(some) for some in sets[1:])]
    by_bits = {sum(1 << i for i in some): cost for some, cost in zip(sets, whole(costs), strict=True)}
    cost = [by_bits[bits] for bits in range(1 << count)]
    best, chosen = sum(cost[1 << i] for i in range(count)) + 1, [0]
    trees: list[int] = []

    def place(query: int, spent: int) -> None:
        nonlocal best, chosen
        if query == count:
            if spent < best:
                best, chosen = spent, trees.copy()
            return
        bit = 1 << query
        for position, tree in enumerate(trees):
            trees[position] = tree | bit
            place(query + 1, spent - cost[tree] + cost[tree | bit])
            trees[position] = tree
        trees.append(bit)
        place(query + 1, spent + cost[bit])
        trees.pop()

    place(0, 0)
    found = [frozenset(i for i in range(count) if tree >> i & 1) for tree in chosen]
    return Grouping(ledger.trees(found), ledger.total(found))


PLANNER = Planner(
    "exhaustive",
    "Exhaustive Search",
    "Guirguis et al., CIKM 2011, section 6",
    exhaustive,
    alone=True,
    most=12,
    instead="optimal, which says how far from the best its plan may be",
)
