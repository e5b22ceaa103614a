"""Residue splitting and what it stands on: a coprime base, boxes of digits, and steps that are counted."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.slicing import bit_set
from weft.slicing.coprime_base import factored
from weft.slicing.density import density_within
from weft.slicing.digits import boxes
from weft.slicing.edges import EdgeClass, reduced
from weft.slicing.residue_splitting import density
from weft.slicing.residue_splitting import density_within as split_within

edge_classes = st.integers(1, 60).flatmap(lambda modulus: st.tuples(st.just(modulus), st.integers(0, modulus - 1)))
LARGE_PRIMES = (1_000_003, 998_244_353, 2_147_483_647, 2_305_843_009_213_693_951)


@given(
    numbers=st.lists(
        st.builds(math.prod, st.lists(st.sampled_from((2, 3, 5, 1021, 1031, *LARGE_PRIMES)), max_size=5)),
        max_size=6,
    )
)
def test_a_base_is_coprime_and_enough(numbers: list[int]) -> None:
    powers = factored(numbers)
    for number in numbers:
        assert math.prod(base**exponent for base, exponent in powers[number]) == number
        assert all(exponent > 0 for _, exponent in powers[number])
    base = sorted({factor for each in powers.values() for factor, _ in each})
    assert all(math.gcd(a, b) == 1 for i, a in enumerate(base) for b in base[:i])


@given(classes=st.lists(edge_classes, min_size=1, max_size=6))
def test_boxes_are_the_classes(classes: list[EdgeClass]) -> None:
    """The boxes cover as much of the space of digits as the classes of a period, counted cell by cell."""
    space = boxes(reduced(classes))
    used = {space.digits[literal] for box in space.boxes for literal in box}
    cells = math.prod(space.values[digit] for digit in used)
    if cells > 5_000:
        return
    number: dict[int, int] = {}  # the values of a digit, in the order of their literals
    for literal, digit in enumerate(space.digits):
        number[literal] = space.digits[:literal].count(digit)
    covered = sum(
        any(all(cell[space.digits[literal]] == number[literal] for literal in box) for box in space.boxes)
        for values in product(*(range(space.values[digit]) for digit in sorted(used)))
        for cell in [dict(zip(sorted(used), values, strict=True))]
    )
    assert Fraction(covered, cells) == bit_set.density(classes)


def test_complete_residue_systems_become_one_class() -> None:
    assert boxes(((2, 0), (2, 1))).boxes == {frozenset()}
    assert len(boxes(tuple((15, 2 + 3 * k) for k in range(5))).boxes) == 1  # that is (3, 2)
    assert density((60, 7 + 5 * k) for k in range(12)) == Fraction(1, 5)
    assert density((30_030, k) for k in range(30_030)) == 1


@given(classes=st.lists(edge_classes, min_size=1, max_size=9))
def test_splitting_is_the_count(classes: list[EdgeClass]) -> None:
    if math.lcm(*(modulus for modulus, _ in classes)) <= 2_000_000:
        assert density(classes) == bit_set.density(classes)


@pytest.mark.parametrize("seed", range(6))
def test_hundreds_of_classes_of_a_day(seed: int) -> None:
    rng = random.Random(seed)
    slides = [slide for slide in range(60, 86_401) if 86_400 % slide == 0]
    classes = [(slide, rng.randrange(slide)) for slide in rng.choices(slides, k=300)]
    assert density(classes) == bit_set.density(classes)


def test_a_chain_as_deep_as_it_is_long() -> None:
    """Products of neighbouring primes: uncovered shares follow a recurrence, and no stack overflows."""
    primes = [p for p in range(2, 3_500) if all(p % q for q in range(2, math.isqrt(p) + 1))]
    multiple, other = Fraction(1, 2), Fraction(1, 2)  # uncovered so far, by whether the last prime divides t
    for prime in primes[1:]:
        multiple, other = other / prime, (multiple + other) * (1 - Fraction(1, prime))
    assert density((p * q, 0) for p, q in pairwise(primes)) == 1 - multiple - other


def test_thousands_of_slides_without_offsets() -> None:
    """2,000 windows of 100 to 10,000 seconds: against the share of a million instants that a slide divides."""
    rng = random.Random(1)
    slides = sorted({rng.randint(100, 10_000) for _ in range(2_000)})
    found = density_within(((slide, 0) for slide in slides), 200_000)
    assert found is not None
    instants = np.random.default_rng(1).integers(0, 2**62, 20_000)
    hit = np.zeros(len(instants), bool)
    for slide in slides:
        hit |= instants % slide == 0
    assert float(found) == pytest.approx(hit.mean(), abs=0.018)  # five standard deviations


def test_huge_moduli_are_not_factored() -> None:
    p, q, r = LARGE_PRIMES[1:]
    classes = [(p * q, 1), (q * r, 1), (p * r, 1)]
    expected = Fraction(1, p * q) + Fraction(1, q * r) + Fraction(1, p * r) - Fraction(2, p * q * r)
    assert density(classes) == expected


def entangled(windows: int) -> list[EdgeClass]:
    rng = random.Random(1)
    slides = [rng.randint(60, 3_600) for _ in range(windows)]
    return [edge_class for slide in slides for edge_class in ((slide, 0), (slide, rng.randrange(slide)))]


def test_too_many_steps_are_refused_and_enough_are_exact() -> None:
    classes = entangled(60)
    steps = 100
    while (found := density_within(classes, steps)) is None:
        steps *= 2
    assert 100 < steps <= 51_200
    assert found == density_within(classes, None) == split_within(classes, None)
    assert density_within(classes, steps * 2) == found
    assert density_within(classes, 100) is None
    assert density_within(classes, 100) is None  # whatever has been counted before


def test_hopeless_sets_are_given_up() -> None:
    assert density_within(entangled(1_500), 5_000) is None
    assert split_within(entangled(1_500), 5_000) is None


@pytest.mark.parametrize(
    "classes",
    [
        [],
        [(7, 3)],
        [(1, 0), (9, 4)],
        [(86_400, 5 * k) for k in range(500)],
        [(1_000_003, 7), (998_244_353, 9), (2_147_483_647, 0), (64, 3), (243, 9), (3125, 8), (16_807, 1)],
        [(60_000_001, 0), (90_000_002, 30_000_000), (86_400_000_000, 1)],
    ],
)
def test_what_needs_no_splitting_is_never_refused(classes: list[EdgeClass]) -> None:
    assert density_within(classes, 0) == density(classes)


def test_short_periods_are_never_refused() -> None:
    rng = random.Random(2)
    slides = [slide for slide in range(60, 10_081) if 10_080 % slide == 0]
    classes = [(slide, rng.randrange(slide)) for slide in rng.choices(slides, k=400)]
    assert density_within(classes, 0) == bit_set.density(classes)
