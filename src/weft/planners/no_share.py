"""No Share: a tree for every query, as if each ran alone (the first baseline of Guirguis et al., CIKM 2011)."""

from __future__ import annotations

from collections.abc import Sequence

from weft.planners.candidates import Candidate
from weft.planners.prices import Price


def no_share(queries: Sequence[Candidate], price: Price) -> list[Candidate]:
    """Every query for itself."""
    return list(queries)
