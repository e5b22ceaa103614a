"""Shared: one tree for all, whatever it costs (Shared Time Slices, Krishnamurthy, Wu and Franklin, SIGMOD 2006)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import or_

from weft.planners.candidates import Candidate
from weft.planners.prices import Price


def shared(queries: Sequence[Candidate], price: Price) -> list[Candidate]:
    """All queries that can share a tree, in one."""
    return [reduce(or_, queries)]
