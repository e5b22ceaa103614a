"""FlatFIT: remember how far a fold reaches, and skip there.

    slices      0   1   2   3   4   5           asked for the window from 1: the folds 1-3 and 4-5 are there
    reach to        4           6               1-3 then 4-5 = 1-5, which is remembered at 1, reaching to 6

Every position has a fold from itself up to where it points. An answer follows the pointers from its first slice to the
newest, and on the way back makes every position that it came by reach to the newest: the next answer skips all of it
(Shein, Chrysanthis and Labrinidis, SSDBM 2017). 3 combines per slide for one range, the whole window once every n
slides; many ranges are answered the widest first, the others then being on the way.

Invariant: folds[p mod ring] is the fold of slices p, ..., reach[p mod ring] - 1, for the slices that are kept.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from weft.algebra.operators import Matrix, Operator, cells, combine, load, store
from weft.jit import kernel
from weft.techniques.omega import Omega
from weft.techniques.technique import AT, Positions, Shape, Technique, registers, ring


class Skips(NamedTuple):
    """Folds, how far they reach, and room for the positions that an answer comes by."""

    registers: Positions
    folds: Matrix
    reach: Positions
    visited: Positions


def init(operator: Operator, shape: Shape) -> Skips:
    """No slices."""
    size = ring(shape.widest)
    return Skips(registers(shape), cells(operator, size), np.zeros(size, np.int64), np.zeros(size, np.int64))


@kernel
def slide(operator, state, partials, lo, hi, of, out):
    """Follow the pointers, and shorten them on the way back."""
    begin = at = state.registers[AT]
    folds, reach, visited, mask = state.folds, state.reach, state.visited, len(state.reach) - 1
    for j in range(len(lo) + 1):
        end = hi[j] if j < len(lo) else begin + len(partials)
        while at < end:
            store(operator, folds, at & mask, load(operator, partials, at - begin))
            reach[at & mask] = at + 1
            at += 1
        if j == len(lo):
            break
        p, count = lo[j], 0
        while reach[p & mask] < at:
            visited[count] = p & mask
            count += 1
            p = reach[p & mask]
        answer = load(operator, folds, p & mask)
        for back in range(count - 1, -1, -1):
            here = visited[back]
            answer = combine(operator, load(operator, folds, here), answer)
            store(operator, folds, here, answer)
            reach[here] = at
        store(operator, out, j, answer)
    state.registers[AT] = at


TECHNIQUE = Technique(
    name="flatfit",
    title="FlatFIT (flat and fast index traverser)",
    first_appeared="Shein, Chrysanthis and Labrinidis, SSDBM 2017",
    ranges="any up to n",
    time="3 per slide for one range, n - 1 at worst",
    space="3 n",
    needs=frozenset(),
    omega=Omega(
        "3 x queries",
        lambda load: 3 * load.queries,
        refined=lambda load: 3 * load.due,
        refined_formula="3 x answers per edge",
        floor=lambda load: 3 * load.due,
        adds_up=True,
    ),
    init=init,
    slide=slide,
)
