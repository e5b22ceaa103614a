"""Windows become edges, edges become slices.

In: windows. Out: edge classes, the slice that an event belongs to, and how many edges a set of classes has per unit
of time. Next room: `techniques`, which fold runs of slices into answers.

    edges.py    edge classes (slide, residue); dropping those that another one implies
    slicers.py  panes, pairs, Cutty: which edges one window asks for
    density.py  edges per tick of a set of classes, exactly
"""

from weft.slicing.slicers import SLICERS

__all__ = ["SLICERS"]
