"""Shared: one tree for all, whatever it costs (Shared Time Slices, Krishnamurthy, Wu and Franklin, SIGMOD 2006)."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from weft.planners.candidates import Candidate, together
from weft.planners.planner import Grouping, Planner
from weft.planners.prices import Price


def shared(queries: Sequence[Candidate], price: Price) -> Grouping:
    """All queries that can share a tree, in one."""
    return Grouping([together(queries)])


PLANNER = Planner(
    "shared",
    "Shared",
    "Krishnamurthy, Wu and Franklin, SIGMOD 2006",
    shared,
    apart=sys.maxsize,  # nothing is weighed
)
