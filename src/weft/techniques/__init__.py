"""Techniques: how slices become answers.

In: the partials of a tree's slices, as matrices, and the runs of slices that windows cover. Out: one combined partial
per window. Next room: `plans`, which say which technique a tree uses.

    demand.py      what a tree's windows ask for, and the load at an edge
    omega.py       operations per edge, as the papers count them and as they are
    technique.py   the type: a card, an admission test, a price, init and slide
    windows.py     which run of slices each window covers; the same for batch and stream, time and rows
    snapshots.py   a structure as bytes and back
    cards.py       the techniques as a table

A technique each, those that serve every range first:

    panes.py               fold each window from scratch
    r_int.py               running sums, subtracted
    disjoint_table.py      prefix and suffix folds at every power of two, one combine per answer
    b_int.py               aligned blocks of every power of two
    l_int.py               folds to both sides of landmarks
    flatfat.py             a binary tree over a ring
    psoup.py               the same with four children
    flatfit.py             folds that remember how far they reach
    slickdeque_inv.py      a running answer per query
    slickdeque_noninv.py   the slices that can still be an answer
    subtract_on_evict.py   a running answer for one range
    two_stacks.py          two_stacks_lite.py      one range, amortised
    daba.py                daba_lite.py            one range, no slide is slow
    b_int_qnt.py           blocks with their elements in order: quantiles

`TECHNIQUES` is all of them, `AUTO` are those that `technique="auto"` chooses from; its order settles ties.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from weft.algebra.partials import Partial, lacking
from weft.techniques import (
    b_int,
    b_int_qnt,
    daba,
    daba_lite,
    disjoint_table,
    flatfat,
    flatfit,
    l_int,
    panes,
    psoup,
    r_int,
    slickdeque_inv,
    slickdeque_noninv,
    subtract_on_evict,
    two_stacks,
    two_stacks_lite,
)
from weft.techniques.technique import Technique

AUTO: tuple[Technique, ...] = (r_int.TECHNIQUE, disjoint_table.TECHNIQUE, panes.TECHNIQUE)
TECHNIQUES: tuple[Technique, ...] = (
    *AUTO,
    b_int.TECHNIQUE,
    l_int.TECHNIQUE,
    flatfat.TECHNIQUE,
    psoup.TECHNIQUE,
    flatfit.TECHNIQUE,
    slickdeque_inv.TECHNIQUE,
    slickdeque_noninv.TECHNIQUE,
    subtract_on_evict.TECHNIQUE,
    two_stacks.TECHNIQUE,
    two_stacks_lite.TECHNIQUE,
    daba.TECHNIQUE,
    daba_lite.TECHNIQUE,
    b_int_qnt.TECHNIQUE,
)
BY_NAME: Mapping[str, Technique] = {technique.name: technique for technique in TECHNIQUES}


def why_not(technique: Technique, partials: Iterable[Partial], types: Mapping[str, str]) -> str | None:
    """Why a technique cannot serve these partials, in words; None if it can."""
    for partial in partials:
        for law in sorted(technique.needs):
            reason = lacking(partial, law, types)
            if reason is not None:
                return reason
    return None
