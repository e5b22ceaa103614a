"""Windows become edges, edges become slices.

In: windows. Out: edge classes, the slice that an event belongs to, and how many edges a set of classes has per unit
of time. Next room: `techniques`, which fold runs of slices into answers.

    edges.py        edge classes (slide, residue); dropping those that another one implies
    slicers.py      panes, pairs, Cutty: which edges one window asks for
    density.py      edges per tick of a set of classes, exactly: the door to the ways of counting them
    edge_sets.py    the edges of many sets and of their unions, at once
    weaveability.py how many edges two trees have in common

Ways of counting, a file each: `naive_check`, `bit_set`, `f1`, `signed_map`, `divisor_lattice`, `residue_splitting`
(which stands on `digits` and `coprime_base`). `divisors` finds which slides divide which.
"""

from weft.slicing.slicers import SLICERS

__all__ = ["SLICERS"]
