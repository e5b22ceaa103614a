"""L-INT: landmark intervals, for windows of about one width.

    landmarks every 4          0               4               8              12
    slices                     .   .   .   .   .   .   .   .   .   .   .   .   .
    left of 8                                  |<----------|
                                                   |<------|
                                                       |<--|
    right of 8                                              |-->|-->|-->|-->|-->|...
    slices 6 to 12             =                       left of 8 from 6, then right of 8 up to 12

Every window of at least the landmarks' distance holds a landmark: what is to its left was folded when the landmark was
passed, what is to its right as it came, and an answer is one combine. A slice costs a combine for every landmark that
a window may still reach back to: few, if windows are not much wider than the distance. Widths that differ by more than
a factor c are partitioned, greedily from the narrowest on, into as few parts as there can be, each with landmarks of
its own (Arasu and Widom, VLDB 2004, section 3.1.2; Figure 5 there is rebuilt here from the text).

Invariant, for each part and landmark m: left[.., d] is the fold of slices m - d, ..., m - 1 and right[.., d] that of
slices m, ..., m + d.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from weft.algebra.operators import Matrix, Operator, cells, combine, load, store
from weft.jit import kernel
from weft.techniques.demand import Load
from weft.techniques.omega import Omega, ceil_log2
from weft.techniques.technique import AT, Positions, Shape, Technique, registers, ring

C = 2
"""How many times wider than its narrowest window a part's widest one may be."""


class Landmarks(NamedTuple):
    """The parts: distance of landmarks, widest window, landmarks kept, and where their cells begin."""

    registers: Positions
    part_of: Positions
    """By width; -1 where there is none."""
    distance: Positions
    widest: Positions
    kept: Positions
    lefts: Positions
    rights: Positions
    cells: Matrix
    left: Matrix
    right: Matrix


def parts(widths: Iterable[int], c: int = C) -> list[tuple[int, int]]:
    """The fewest parts whose widths differ by a factor of c at most: the narrowest and the widest of each.

    >>> parts([10, 15, 20, 21, 40, 90])
    [(10, 20), (21, 40), (90, 90)]
    """
    found: list[tuple[int, int]] = []
    for width in sorted(widths):
        if found and width <= c * found[-1][0]:
            found[-1] = (found[-1][0], width)
        else:
            found.append((width, width))
    return found


def init(operator: Operator, shape: Shape) -> Landmarks:
    """No landmark yet; all widths where none are named."""
    found = parts(shape.widths or range(1, shape.widest + 1))
    part_of = np.full(shape.widest + 1, -1, np.int64)
    for number, (narrowest, widest) in enumerate(found):
        part_of[narrowest : widest + 1] = number
    distance, widest_ = (np.array(column, np.int64) for column in zip(*found, strict=True))
    kept = shape.kept // distance + 2
    lefts, rights = (np.concatenate(([0], np.cumsum(kept * each))) for each in (distance - 1, widest_))
    return Landmarks(
        registers(shape),
        part_of,
        distance,
        widest_,
        kept,
        lefts[:-1],
        rights[:-1],
        cells(operator, ring(int(distance[-1]))),
        cells(operator, int(lefts[-1])),
        cells(operator, int(rights[-1])),
    )


@kernel
def slide(operator, state, partials, lo, hi, of, out):
    """Fold to the left of a landmark when it is passed, to the right of all that are in reach; combine the two."""
    begin = at = state.registers[AT]
    cells_, left, right, mask = state.cells, state.left, state.right, len(state.cells) - 1
    distances, widests, kepts, lefts, rights = state.distance, state.widest, state.kept, state.lefts, state.rights
    for j in range(len(lo) + 1):
        end = hi[j] if j < len(lo) else begin + len(partials)
        while at < end:
            partial = load(operator, partials, at - begin)
            for part in range(len(distances)):
                distance, widest, kept = distances[part], widests[part], kepts[part]
                landmark = at // distance
                if landmark * distance == at and at > 0:
                    first = lefts[part] + (landmark % kept) * (distance - 1)
                    fold = operator.identity
                    for d in range(1, distance):
                        fold = combine(operator, load(operator, cells_, (at - d) & mask), fold)
                        store(operator, left, first + d - 1, fold)
                while landmark >= 0 and at - landmark * distance < widest:
                    place = rights[part] + (landmark % kept) * widest + at - landmark * distance
                    fold = partial
                    if landmark * distance < at:
                        fold = combine(operator, load(operator, right, place - 1), partial)
                    store(operator, right, place, fold)
                    landmark -= 1
            store(operator, cells_, at & mask, partial)
            at += 1
        if j == len(lo):
            break
        part = state.part_of[hi[j] - lo[j]]
        if part < 0:
            raise ValueError("a window of a width that it was not made for")
        distance = distances[part]
        landmark = -(-lo[j] // distance)
        slot, before = landmark % kepts[part], landmark * distance - lo[j]
        answer = load(operator, right, rights[part] + slot * widests[part] + hi[j] - 1 - landmark * distance)
        if before:
            answer = combine(operator, load(operator, left, lefts[part] + slot * (distance - 1) + before - 1), answer)
        store(operator, out, j, answer)
    state.registers[AT] = at


def _operations(load: Load) -> Any:
    """C + 1 combines per slice and part, of which there are as many as widths double; one per answer."""
    return (C + 1) * (ceil_log2(load.slices) + 1) + load.due


TECHNIQUE = Technique(
    name="l_int",
    title="L-INT (landmark intervals)",
    first_appeared="Arasu and Widom, VLDB 2004",
    ranges="widths that are announced, historical too",
    time="3 per slice and doubling of the width, 1 per answer",
    space="3 n per doubling of the width",
    needs=frozenset(),
    omega=Omega("3 x (ceil(log2(slices in the longest window)) + 1) + answers per edge", _operations),
    init=init,
    slide=slide,
    historical=True,
)
