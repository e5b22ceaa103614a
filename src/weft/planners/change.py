"""Change: what the coming or going of one query did to a plan, as a value that prints as a sentence."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from weft.plans.changes import from_to
from weft.plans.picture import counted


@dataclass(frozen=True)
class Change:
    """What a change of the query set did to the plan."""

    query: str
    what: str
    """added, altered or removed."""
    partners: tuple[str, ...]
    """The other queries of the tree that the query is in now, or that it has left."""
    cost_before: Fraction
    cost: Fraction
    edges_before: Fraction
    """Edges per second of all trees."""
    edges: Fraction
    trees_before: int
    trees: int
    comparisons: int
    """Pairs of trees weighed for it."""
    deviation: Fraction
    """From the cost that the plan-cost curve leads one to expect."""
    reconstructed: bool
    """Whether all queries have been, or are being, planned from scratch because of it."""

    def __str__(self) -> str:
        others = f"{len(self.partners):,} {'other' if len(self.partners) == 1 else 'others'}"
        where = {"removed": f"it left {others}"}.get(
            self.what, f"in a tree with {others}" if self.partners else "alone"
        )
        trees = counted(self.trees, "tree")
        if self.trees != self.trees_before:
            trees = f"{self.trees_before:,} -> {trees}"
        return (
            f"{self.what} {self.query}, {where}; {from_to(self.cost_before, self.cost, 'operations/s')}; "
            f"{from_to(self.edges_before, self.edges, 'edges/s')}; {trees}"
        )
