"""No Share: a tree for every query, as if each ran alone (the first baseline of Guirguis et al., CIKM 2011)."""

from __future__ import annotations

from collections.abc import Sequence

from weft.planners.candidates import Candidate
from weft.planners.planner import Grouping, Planner
from weft.planners.prices import Price


def no_share(queries: Sequence[Candidate], price: Price) -> Grouping:
    """Every query for itself."""
    return Grouping(queries)


PLANNER = Planner("no_share", "No Share", "Guirguis et al., CIKM 2011, as the baseline", no_share, alone=True)
