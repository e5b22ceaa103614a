"""Techniques: how slices become answers.

In: the partials of a tree's slices, as matrices, and the runs of slices that windows cover. Out: one combined partial
per window. Next room: `plans`, which say which technique a tree uses.

    demand.py          what a tree's windows ask for, and the load at an edge
    omega.py           operations per edge, as the papers count them and as they are
    technique.py       the type: a card, an admission test, a price, build and fold
    windows.py         which run of slices each window covers; the same for batch and stream, time and rows
    panes.py           fold each window from scratch
    r_int.py           prefix sums, subtracted: sums that lose nothing by it
    disjoint_table.py  prefix and suffix folds at every power of two: any aggregate, one combine per answer
    priced.py          techniques that are priced and not built

`TECHNIQUES` are those that run; its order settles ties. `BY_NAME` has those that are only priced, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from weft.algebra.partials import Partial, lacking
from weft.techniques import disjoint_table, panes, r_int
from weft.techniques.priced import PRICED
from weft.techniques.technique import Technique

TECHNIQUES: tuple[Technique, ...] = (r_int.TECHNIQUE, disjoint_table.TECHNIQUE, panes.TECHNIQUE)
BY_NAME: Mapping[str, Technique] = {technique.name: technique for technique in (*TECHNIQUES, *PRICED)}


def why_not(technique: Technique, partials: Iterable[Partial], types: Mapping[str, str]) -> str | None:
    """Why a technique cannot serve these partials, in words; None if it can."""
    for partial in partials:
        for law in sorted(technique.needs):
            reason = lacking(partial, law, types)
            if reason is not None:
                return reason
    return None
