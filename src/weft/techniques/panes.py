"""Panes: fold each window from its slices, every time.

The naive final aggregation of the papers (Guirguis et al., CIKM 2011, equation 2: each slice belongs to range / slide
windows of a query). Nothing is shared between windows, so it is the baseline, and the best choice for windows of one
or two slices.
"""

from __future__ import annotations

from weft.algebra.operators import Matrix, combine
from weft.jit import kernel
from weft.techniques.omega import Omega, overlap
from weft.techniques.technique import Positions, State, Technique


def build(operator: int, partials: Matrix, widest: int) -> State:
    """The partials themselves."""
    return (partials,)


def fold(operator: int, state: State, lo: Positions, hi: Positions, out: Matrix) -> None:
    """Every window from scratch."""
    _fold(operator, state[0], lo, hi, out)


@kernel
def _fold(operator, partials, lo, hi, out):
    for j in range(len(lo)):
        for component in range(out.shape[1]):
            out[j, component] = partials[lo[j], component]
        for i in range(lo[j] + 1, hi[j]):
            combine(operator, out, j, partials, i, out, j)


TECHNIQUE = Technique(
    name="panes",
    title="Panes (naive final aggregation)",
    first_appeared="Li, Maier, Tufte, Papadimos and Tucker, SIGMOD Record 2005",
    ranges="any",
    time="n - 1 per answer",
    space="n",
    needs=frozenset(),
    omega=Omega("sum of range/slide", overlap, floor=overlap),
    build=build,
    fold=fold,
)
