"""Residue splitting: edges per tick of any classes, however long their common period, unless they are too entangled.

The classes are boxes in the space of all digits (see `digits`), and what they leave uncovered is counted:

1. Boxes that share no digit are independent: the uncovered shares multiply.
2. One box, or two, by a closed form.
3. Otherwise split on the digit that settles most: for each of its values that occurs, the boxes with that value lose a
   literal and may now imply others; all values that do not occur see the same thing, the boxes that leave it open.
4. Boxes met before are remembered.

    multiples of 4, 6 and 9      ..00 | ..0 ..0 | ..00      (binary digits, ternary digits)
    last ternary digit 0         ..00 | ..0 |  0.           t = 3u: multiples of 4, 2 and 3 in u
    last ternary digit 1 or 2    ..00                       multiples of 4

If all classes meet in one instant, as slides without offsets do, every digit has one value that occurs and a split
has two branches: the instants that share the digit with the meeting point, and those that do not.

In general nothing fast can exist: whether classes leave any instant uncovered is the problem of simultaneous
incongruences, which is NP-complete (Stockmeyer and Meyer, STOC 1973; Garey and Johnson 1979, problem AN2), and counting
the uncovered instants is harder still (#P-hard). The method is that of exact model counters: independent parts (Bayardo
and Pehoushek, AAAI 2000), remembered (Sang, Bacchus, Beame, Kautz and Pitassi, SAT 2004).

A step is one box carried into one branch, so that a limit on steps is a limit on time that no machine can change.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Generator, Iterable
from fractions import Fraction

from weft.slicing.digits import Box, Boxes, boxes, implied_by, occurrences
from weft.slicing.edges import EdgeClass, reduced

Share = tuple[int, int]
"""How many of how many combinations of digits are uncovered."""


def density(classes: Iterable[EdgeClass]) -> Fraction:
    """Edges per tick of the union of the classes.

    >>> density([(4, 0), (6, 0), (9, 0)])
    Fraction(7, 18)
    """
    found = density_within(classes, None)
    assert found is not None
    return found


def density_within(classes: Iterable[EdgeClass], steps: int | None) -> Fraction | None:
    """Edges per tick of the union of the classes, or None where that takes more than so many steps.

    >>> density_within([(4, 0), (6, 0), (9, 0)], 2) is None
    True
    """
    share = _uncovered(boxes(reduced(classes)), steps)
    return None if share is None else 1 - Fraction(*share)


def _uncovered(space: Boxes, steps: int | None) -> Share | None:
    """Drive the search on a stack of its own: a chain of a thousand classes is split five hundred levels deep."""
    if frozenset() in space.boxes:
        return 0, 1
    known: dict[frozenset[Box], Share] = {}
    taken = len(space.boxes)
    stack = [_search(space, space.boxes, known)]
    share: Share | None = None
    while stack:
        if steps is not None and taken > steps:
            return None
        try:
            branch = stack[-1].send(share)  # type: ignore[arg-type]  # None starts a generator
        except StopIteration as finished:
            share = finished.value
            stack.pop()
        else:
            share = None
            taken += len(branch)
            stack.append(_search(space, branch, known))
    return share


Search = Generator[Collection[Box], Share, Share]
"""Yields the boxes of each branch, is sent what these leave uncovered, and returns what all of them do."""


def _search(space: Boxes, some: Collection[Box], known: dict[frozenset[Box], Share]) -> Search:
    """What some boxes leave uncovered: part by part."""
    where = occurrences(some)
    literals: dict[int, list[int]] = {}
    for literal in where:
        literals.setdefault(space.digits[literal], []).append(literal)
    uncovered = total = 1
    for part, digits in _parts(space, some, where, literals):
        if len(part) == 1:
            share = _of_one(space, part[0])
        elif len(part) == 2:
            share = _of_two(space, part[0], part[1])
        elif (remembered := known.get(key := frozenset(part))) is not None:
            share = remembered
        else:
            share = known[key] = yield from _split(space, part, digits, where, literals)
        uncovered *= share[0]
        total *= share[1]
        if not uncovered:
            break
    return uncovered, total


def _split(
    space: Boxes, part: list[Box], digits: list[int], where: dict[int, list[Box]], literals: dict[int, list[int]]
) -> Search:
    """What a part leaves uncovered: value by value of one digit."""
    digit = _deciding(space, digits, where, literals)
    among = math.prod([space.values[other] for other in digits if other != digit])
    free = [box for box in part if box.isdisjoint(literals[digit])]
    uncovered = 0
    for literal in literals[digit]:
        branch = _branch(literal, free, where)
        if branch is not None:
            here, of = yield branch
            uncovered += here * (among // of)
    others = space.values[digit] - len(literals[digit])
    if others:
        here, of = yield free
        uncovered += others * here * (among // of)
    return uncovered, among * space.values[digit]


def _parts(
    space: Boxes, some: Iterable[Box], where: dict[int, list[Box]], literals: dict[int, list[int]]
) -> list[tuple[list[Box], list[int]]]:
    """The boxes in groups that share no digit, with the digits of each group."""
    seen: set[Box] = set()
    met: set[int] = set()
    groups = []
    for first in some:
        if first in seen:
            continue
        seen.add(first)
        group, digits = [first], []
        for box in group:
            for literal in box:
                digit = space.digits[literal]
                if digit not in met:
                    met.add(digit)
                    digits.append(digit)
                    for value in literals[digit]:
                        for other in where[value]:
                            if other not in seen:
                                seen.add(other)
                                group.append(other)
        groups.append((group, digits))
    return groups


def _deciding(space: Boxes, digits: list[int], where: dict[int, list[Box]], literals: dict[int, list[int]]) -> int:
    """The digit to split on: the square of the boxes that it settles, by the branches it takes.

    Boxes alone, or boxes by branches, took up to a half more steps on random windows.
    """
    best, most = -1, (-1.0, 0, 0)
    for digit in digits:
        values = literals[digit]
        settled = sum([len(where[literal]) for literal in values])
        score = settled * settled / min(len(values) + 1, space.values[digit])
        if score >= most[0] and (rank := (score, -space.values[digit], -digit)) > most:
            best, most = digit, rank
    return best


def _branch(literal: int, free: list[Box], where: dict[int, list[Box]]) -> list[Box] | None:
    """The boxes where a digit has a value, or None where one of them covers everything.

    No box implied another before. So of two shortened ones none implies the other, and only a shortened one can imply
    one that leaves the digit open.
    """
    fixed = frozenset((literal,))
    shortened = [box - fixed for box in where[literal]]
    if not all(shortened):
        return None
    implied = {box for short in shortened for box in implied_by(short, where)}
    return shortened + [box for box in free if box not in implied]


def _of_one(space: Boxes, box: Box) -> Share:
    total = math.prod([space.values[space.digits[literal]] for literal in box])
    return total - 1, total


def _of_two(space: Boxes, left: Box, right: Box) -> Share:
    total = math.prod([space.values[digit] for digit in {space.digits[literal] for literal in left | right}])
    covered = total // _of_one(space, left)[1] + total // _of_one(space, right)[1]
    both = left | right
    meet = len({space.digits[literal] for literal in both}) == len(both)
    return total - covered + meet, total
