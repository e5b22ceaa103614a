"""Contiguous: trees of queries that stand next to each other, the best there are.

The queries stand in the order in which they expire: the first one leaves first. With c_i the least cost of the queries
from i on,

    c_i = min over j >= i of  cost(i, ..., j) + c_(j+1)          the smallest such j is remembered as cut_i

(Chung, Guirguis and Kurdia, COCOON 2014, appendix "Continuous query sharing"). Once the first k have expired, c_(k+1)
is the least cost of the rest, and the cuts say how: no planning is left to do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from weft.planners.candidates import Candidate, together
from weft.planners.planner import Grouping, Planner
from weft.planners.prices import Price


@dataclass(frozen=True)
class Cuts:
    """The least cost of the queries from each one on, and the last query of its tree."""

    costs: tuple[Fraction, ...]
    """One more than there are queries: nothing costs nothing."""
    last: tuple[int, ...]

    def trees(self, expired: int = 0) -> list[range]:
        """The best contiguous trees of those that are left when the first ones have expired."""
        found = []
        while expired < len(self.last):
            found.append(range(expired, self.last[expired] + 1))
            expired = self.last[expired] + 1
        return found


def cuts(queries: Sequence[Candidate], price: Price) -> Cuts:
    """The dynamic programme, from the last query backwards."""
    costs, last = [Fraction(0)] * (len(queries) + 1), [0] * len(queries)
    for i in reversed(range(len(queries))):
        tree, best = queries[i], None
        for j in range(i, len(queries)):
            tree = queries[i] if j == i else tree | queries[j]
            cost = price.cost(tree) + costs[j + 1]
            if best is None or cost < best:
                best, last[i] = cost, j
        costs[i] = best or Fraction(0)
    return Cuts(tuple(costs), tuple(last))


def contiguous(queries: Sequence[Candidate], price: Price) -> Grouping:
    """The best trees of consecutive queries."""
    return Grouping([together([queries[i] for i in tree]) for tree in cuts(queries, price).trees()])


PLANNER = Planner(
    "contiguous",
    "Contiguous sharing",
    "Chung, Guirguis and Kurdia, COCOON 2014",
    contiguous,
    alone=True,
    most=300,
    instead="weave_share",
)
