"""Plans: which queries share what, as frozen values that print, serialise and can be checked.

In: the decisions of a planner. Out: a `Plan`, all that the runtime needs. Next room: `planners`, which make them.

    stats.py    what is known of the stream: rate, keys, types
    kin.py      which queries can share at all
    plan.py     Plan and Tree
    explain.py  a plan as text, one fact per line
    lanes.py    which slices and windows a picture of a plan shows
    picture.py  a plan drawn, as SVG
    svg.py      the elements that it is drawn with
    html.py     a plan in a notebook
    diff.py     what changed from one plan to another
    changes.py  a difference as text, one fact per line
    facts.py    lines of text, or a table without a header: what a line is about, and what it says
    table.py    rows under a header, as text and as HTML
    plain.py    text from strangers, fit for one line
    codec.py    a plan as JSON and back
"""

from weft.plans.plan import Plan, Tree
from weft.plans.stats import Stats

__all__ = ["Plan", "Stats", "Tree"]
