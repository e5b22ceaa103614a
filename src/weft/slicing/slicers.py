"""Slicers: which edges the windows ask for. A slicer is nothing but its edge classes.

    panes   every gcd(range, slide)                    Li et al., SIGMOD Record 2005
    pairs   where windows begin and where they end     Krishnamurthy, Wu and Franklin, SIGMOD 2006
    cutty   where windows begin                        Carbone et al., CIKM 2016

Cutty answers at a window's end by reading the slice that is still open there, which a batch can only do by ending the
slice: what runs is `execution_classes`, where windows begin and end, whichever slicer the plan was priced with. Panes
are a refinement of that.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import MappingProxyType

from weft.queries.window import Window
from weft.slicing.edges import EdgeClass


def residues(window: Window) -> tuple[int, int]:
    """Where, modulo the slide, the covered intervals begin and end."""
    begin = (window.offset - window.delay) % window.slide
    return begin, (begin + window.range) % window.slide


def panes(window: Window) -> tuple[EdgeClass, ...]:
    """Edges at every multiple of gcd(range, slide).

    >>> panes(Window.of(12, 9))
    ((3, 0),)
    """
    pane = math.gcd(window.range, window.slide)
    return ((pane, residues(window)[1] % pane),)


def pairs(window: Window) -> tuple[EdgeClass, ...]:
    """Edges where windows begin and where they end: one or two slices per slide.

    >>> pairs(Window.of(12, 9)), pairs(Window.of(8, 4))
    (((9, 0), (9, 3)), ((4, 0),))
    """
    begin, end = residues(window)
    return ((window.slide, begin),) if begin == end else ((window.slide, begin), (window.slide, end))


def cutty(window: Window) -> tuple[EdgeClass, ...]:
    """Edges where windows begin.

    >>> cutty(Window.of(12, 9))
    ((9, 0),)
    """
    return ((window.slide, residues(window)[0]),)


Slicer = Callable[[Window], tuple[EdgeClass, ...]]
SLICERS: MappingProxyType[str, Slicer] = MappingProxyType({"panes": panes, "pairs": pairs, "cutty": cutty})


def execution_classes(slicer: str, window: Window) -> tuple[EdgeClass, ...]:
    """The edges that the runtime cuts at for this window."""
    return pairs(window) if slicer == "cutty" else SLICERS[slicer](window)
