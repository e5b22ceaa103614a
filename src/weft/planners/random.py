"""Random: merge two trees drawn by chance while that saves something (a baseline of Guirguis et al., CIKM 2011).

The paper leaves it open when to stop: after `patience` draws in a row that save nothing, one by default, as in Chung,
Guirguis and Kurdia (COCOON 2014, section 2.4), where random trees are merged "until there is no longer an improvement".
The same seed draws the same pairs.
"""

from __future__ import annotations

import random as chance
from collections.abc import Sequence

import numpy as np

from weft.planners.candidates import Candidate
from weft.planners.forest import Forest
from weft.planners.planner import Grouping, Planner, whole_number
from weft.planners.prices import Price


def random(queries: Sequence[Candidate], price: Price, seed: int = 0, patience: int = 1) -> Grouping:
    """Merge at random while it pays."""
    patience = whole_number("patience", patience, 1)
    draw, forest, failures = chance.Random(whole_number("seed", seed)), Forest(queries, price), 0
    while failures < patience and np.count_nonzero(forest.alive) > 1:
        i, j = sorted(draw.sample(np.flatnonzero(forest.alive).tolist(), 2))
        if forest.benefit(i, j) > 0:
            forest.merge(i, j)
            failures = 0
        else:
            failures += 1
    return Grouping(forest.candidates())


PLANNER = Planner(
    "random", "Random", "Guirguis et al., CIKM 2011, as a baseline", random, options=("seed", "patience"), alone=True
)
