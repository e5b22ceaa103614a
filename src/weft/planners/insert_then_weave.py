"""Insert-then-Weave: queries join, one by one in the given order, the tree that they weave best with; then Weave Share.

A query that saves nothing with any tree opens one of its own (Guirguis et al., CIKM 2011, section 6: "an obvious
simplified version" of Weave Share).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weft.planners.candidates import Candidate
from weft.planners.forest import Forest
from weft.planners.planner import Grouping, Planner
from weft.planners.prices import Price
from weft.planners.weave_share import weave


def insert_then_weave(queries: Sequence[Candidate], price: Price) -> Grouping:
    """Insert every candidate where it saves most, then merge the trees greedily."""
    forest = Forest(queries, price)
    for i in range(1, len(forest)):
        inserted = forest.ceilings(i)
        inserted[i:] = -np.inf
        tree = forest.partner(i, inserted)
        if tree is not None:
            forest.merge(tree, i)
    forest.compact()
    weave(forest)
    return Grouping(forest.candidates())


PLANNER = Planner("insert_then_weave", "Insert-then-Weave", "Guirguis et al., CIKM 2011, section 6", insert_then_weave)
