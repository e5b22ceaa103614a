"""Pairing: trees of at most two queries, the best there are.

Queries are the vertices of a graph, and what two of them save together is the weight of their edge; a matching of
maximum weight is the best pairing (Chung, Guirguis and Kurdia, COCOON 2014, appendix "Query pairing"). Edges that save
nothing are left out, so it is the weight that is maximised and not the number of pairs. Found by rustworkx, in O(n^3).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import rustworkx as rx

from weft.planners.candidates import Candidate
from weft.planners.ledger import Ledger, alone, whole
from weft.planners.planner import Grouping, Planner
from weft.planners.prices import Price

_WIDEST = 100
"""Bits of a weight: rustworkx adds weights up in 128."""


def pairing(queries: Sequence[Candidate], price: Price) -> Grouping:
    """Pairs and single queries with the largest savings."""
    ledger, single = Ledger(queries, price), alone(len(queries))
    benefits = {(i, j): ledger.benefit(single[i], single[j]) for i, j in combinations(range(len(queries)), 2)}
    saving = {pair: benefit for pair, benefit in benefits.items() if benefit > 0}
    weights = whole(list(saving.values())) if saving else []
    excess = max((max(weights, default=0)).bit_length() - _WIDEST, 0)
    graph: rx.PyGraph[int, int] = rx.PyGraph(multigraph=False)
    graph.add_nodes_from(list(range(len(queries))))
    graph.add_edges_from([(i, j, weight >> excess) for (i, j), weight in zip(saving, weights, strict=True)])
    matched = rx.max_weight_matching(graph, max_cardinality=False, weight_fn=int)
    pairs = [frozenset(pair) for pair in matched]
    rest = [members for members in single if not any(members <= pair for pair in pairs)]
    return Grouping(ledger.trees(sorted([*pairs, *rest], key=min)))


PLANNER = Planner(
    "pairing",
    "Query pairing",
    "Chung, Guirguis and Kurdia, COCOON 2014",
    pairing,
    alone=True,
    most=400,
    instead="weave_share",
)
