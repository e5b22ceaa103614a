"""Plans: which queries share what, as frozen values that print, serialise and can be checked.

In: the decisions of a planner. Out: a `Plan`, all that the runtime needs. Next room: `planners`, which make them.

    stats.py    what is known of the stream: rate, keys, types
    kin.py      which queries can share at all
    plan.py     Plan and Tree
    explain.py  a plan as text, one fact per line
    html.py     a plan in a notebook
    codec.py    a plan as JSON and back
"""

from weft.plans.plan import Plan, Tree
from weft.plans.stats import Stats

__all__ = ["Plan", "Stats", "Tree"]
