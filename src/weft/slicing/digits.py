"""Digits: an edge class as a box.

By the Chinese remainder theorem an instant is as good as its residues modulo powers of coprime numbers, and a residue
modulo b^e is as good as its last e digits in base b. Over all instants these digits are uniform and independent of one
another. A class fixes some of them and leaves the others open:

    (12, 7)     t mod 4 = 3 and t mod 3 = 1      binary digits ..11, ternary digit ..1
    (6, 1)      t mod 2 = 1 and t mod 3 = 1      binary digit   ..1, ternary digit ..1

So a class is a box in the space of all digits, one class implies another just when its literals (a digit with a value)
are a subset of the other's, and the density of a union of classes is the volume of a union of boxes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weft.slicing.coprime_base import factored
from weft.slicing.edges import Classes

Box = frozenset[int]


@dataclass(frozen=True, slots=True)
class Boxes:
    """Boxes of literals, none of which implies another."""

    boxes: frozenset[Box]
    digits: tuple[int, ...]
    """The digit that each literal is about."""
    values: tuple[int, ...]
    """How many values each digit can have."""


def boxes(classes: Classes) -> Boxes:
    """Reduced classes as boxes.

    >>> space = boxes(((6, 1), (12, 3)))  # they differ in their ternary digit
    >>> sorted(map(sorted, space.boxes)), space.digits, space.values
    ([[0, 1], [0, 2, 3]], (0, 1, 2, 1), (2, 3, 2))
    """
    powers = factored({modulus for modulus, _ in classes})
    literals: dict[tuple[int, int, int], int] = {}
    sets = []
    for modulus, residue in classes:
        box = []
        for base, exponent in powers[modulus]:
            rest = residue
            for place in range(exponent):
                rest, value = divmod(rest, base)
                box.append(literals.setdefault((base, place, value), len(literals)))
        sets.append(frozenset(box))
    numbers: dict[tuple[int, int], int] = {}
    digits = tuple(numbers.setdefault((base, place), len(numbers)) for base, place, _ in literals)
    values = tuple(base for base, _ in numbers)
    return Boxes(_joined(frozenset(sets), digits, values), digits, values)


def occurrences(boxes: Iterable[Box]) -> dict[int, list[Box]]:
    """The boxes that each literal occurs in."""
    where: dict[int, list[Box]] = {}
    for box in boxes:
        for literal in box:
            if literal in where:
                where[literal].append(box)
            else:
                where[literal] = [box]
    return where


def implied_by(box: Box, where: dict[int, list[Box]]) -> list[Box]:
    """The boxes that lie within one."""
    return [other for other in min([where.get(literal, []) for literal in box], key=len) if box <= other]


def _joined(boxes: frozenset[Box], digits: Sequence[int], values: Sequence[int]) -> frozenset[Box]:
    """Boxes that differ in one digit, and together have all of its values, become one that leaves it open."""
    while True:
        before = boxes
        occurring = Counter(digits[literal] for literal in {literal for box in boxes for literal in box})
        for digit in sorted(digit for digit, literals in occurring.items() if literals == values[digit]):
            boxes = _joined_at(digit, boxes, digits, values[digit])
        if boxes == before:
            return boxes


def _joined_at(digit: int, boxes: frozenset[Box], digits: Sequence[int], values: int) -> frozenset[Box]:
    alike: defaultdict[Box, list[Box]] = defaultdict(list)
    free = []
    for box in boxes:
        fixed = [literal for literal in box if digits[literal] == digit]
        if fixed:
            alike[box.difference(fixed)].append(box)
        else:
            free.append(box)
    whole = {rest: parts for rest, parts in alike.items() if len(parts) == values}
    if frozenset() in whole:
        return frozenset({frozenset()})
    where = occurrences(free)
    gone = {part for parts in whole.values() for part in parts}
    return (boxes | whole.keys()) - gone.union(*(implied_by(rest, where) for rest in whole))
