"""TriWeave: Weave Share over one shared set of slices that feeds every tree.

    rows --slice at all edges--> shared slices --coarsen--> slices of a tree --technique--> answers
           once, C = rate                       E_all a tree                 E x Omega a tree

    C(plan) = rate + trees x E_all + sum of E x Omega

The rows are read once, however many trees there are; a tree reads the shared slices instead. So a plan costs what Weave
Share's would on a stream of E_all rows per second, plus the one pass, and the same greedy loop finds it (Shein and
Chrysanthis, TKDE 2020, section 3.1; the three levels are those of TriOps, which they refer to). It wins where all edges
together are fewer than the rows, less one tree's share: E_all < rate (m - 1) / m for m trees.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from weft.planners import shards
from weft.planners.candidates import Candidate, together
from weft.planners.planner import Planner
from weft.planners.prices import Price
from weft.planners.weave_share import weave_share


def fed(queries: Sequence[Candidate], price: Price) -> Price:
    """The price of trees that read the shared slices of these queries."""
    everything = together(queries)
    edge_rate = price.per_second(price.edges_per_tick(everything.classes))
    groups = price.groups(edge_rate)
    shares = price.shares(everything)
    cells = Fraction(1)
    if shares:
        cells = Fraction(shards.expected(shares, price.rows(edge_rate))[None])
    return replace(price, fed=edge_rate * groups * cells)


PLANNER = Planner("tri_weave", "TriWeave", "Shein and Chrysanthis, TKDE 2020", weave_share, feed="slices", priced=fed)
