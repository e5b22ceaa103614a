"""Planners: a workload, some stats and a price become a plan.

In: `Workload`, `Stats`, a price. Out: a `Plan`. Next room: `spark`, which runs it.

    candidates.py   the queries, collapsed: those with the same edges never lose by sharing
    prices.py       what a tree costs, and which technique makes it cheapest
    no_share.py     a tree for every query
    shared.py       one tree for all
    weave_share.py  merge the pair of trees that saves most, until no merge saves anything
    optimize.py     the door: check what was asked, call a planner, price the alternatives
"""

from weft.planners.optimize import PLANNERS, optimize

__all__ = ["PLANNERS", "optimize"]
