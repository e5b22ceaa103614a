"""Density against counting: edges of the papers' composite slides, bit sets of one period, and a sampled huge one.

Example numbers: Guirguis, Sharaf, Chrysanthis and Labrinidis, CIKM 2011, section 4.1 (Example 2) and section 8
(Example 4); edges of slides alone: Shein and Chrysanthis, TKDE 2020, section 3.1.2, equation 2.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.queries.window import Window
from weft.slicing.density import density
from weft.slicing.edges import EdgeClass
from weft.slicing.slicers import pairs

edge_classes = st.integers(1, 30).flatmap(lambda modulus: st.tuples(st.just(modulus), st.integers(0, modulus - 1)))
some_classes = st.lists(edge_classes, max_size=7)

# 60 classes whose common period has 129 bits
HUGE = [
    (modulus, residue)
    for modulus, other in [
        (21, 10), (34, 6), (64, 15), (78, 24), (80, 70), (94, 76), (108, 105), (113, 34), (117, 10), (118, 28),
        (121, 60), (141, 112), (143, 52), (149, 66), (163, 22), (169, 18), (184, 160), (186, 136), (189, 113),
        (218, 27), (263, 41), (274, 236), (276, 108), (279, 275), (302, 179), (304, 275), (305, 102), (333, 286),
        (342, 39), (358, 51),
    ]
    for residue in (0, other)
]  # fmt: skip


def counted(classes: list[EdgeClass]) -> Fraction:
    """Lay out one common period and count."""
    period = math.lcm(*(modulus for modulus, _ in classes))
    bits = 0
    for modulus, residue in classes:
        every = ((1 << period) - 1) // ((1 << modulus) - 1)
        bits |= every << (residue % modulus)
    return Fraction((bits & ((1 << period) - 1)).bit_count(), period)


@pytest.mark.parametrize(
    ("windows", "edges", "period"),
    [
        ([(12, 9)], 2, 9),
        ([(10, 6)], 2, 6),
        ([(12, 9), (10, 6)], 8, 18),
        ([(2, 5), (3, 3)], 9, 15),
        ([(6, 2), (8, 4)], 2, 4),
    ],
)
def test_edges_of_the_papers_examples(windows: list[tuple[int, int]], edges: int, period: int) -> None:
    classes = [edge_class for size, slide in windows for edge_class in pairs(Window.of(size, slide))]
    assert density(classes) == Fraction(edges, period)


@pytest.mark.parametrize(
    ("slides", "edges", "period"),
    [
        ((2, 4), 2, 4),
        ((4, 6, 10), 22, 60),
        ((2, 3, 5, 7), 162, 210),
        ((6, 10, 15), 8, 30),
        ((12, 18, 30, 45), 24, 180),
    ],
)
def test_edges_of_slides_alone(slides: tuple[int, ...], edges: int, period: int) -> None:
    assert density((slide, 0) for slide in slides) == Fraction(edges, period)


@pytest.mark.parametrize(
    ("classes", "expected"),
    [
        ([], Fraction(0)),
        ([(7, 3)], Fraction(1, 7)),
        ([(1, 0), (9, 4)], Fraction(1)),
        ([(4, 2), (6, 1), (10, 3), (15, 4)], Fraction(30, 60)),
        ([(6, 1), (10, 3)], Fraction(1, 6) + Fraction(1, 10) - Fraction(1, 30)),
        ([(6, 1), (4, 2)], Fraction(1, 6) + Fraction(1, 4)),  # they never meet
        ([(9, 3), (6, 0)], Fraction(1, 9) + Fraction(1, 6) - Fraction(1, 18)),
        ([(4, 0), (4, 0), (8, 4), (12, 8), (12, 3), (6, 3), (4, 2)], Fraction(2, 3)),
        ([(60_000_000, 0), (90_000_000, 30_000_000)], Fraction(2, 3) / 30_000_000),  # (2, 0), (3, 1) of half minutes
    ],
)
def test_classes_counted_by_hand(classes: list[EdgeClass], expected: Fraction) -> None:
    assert density(classes) == expected


def test_a_period_that_nobody_can_lay_out() -> None:
    assert math.lcm(*(modulus for modulus, _ in HUGE)).bit_length() == 129
    found = density(HUGE)
    assert found == Fraction(7736022434087948067803782914767, 20180461767778285668700861760762)
    instants = np.random.default_rng(1).integers(0, 2**62, 400_000)
    hit = np.zeros(len(instants), bool)
    for modulus, residue in HUGE:
        hit |= instants % modulus == residue
    assert float(found) == pytest.approx(hit.mean(), abs=0.004)  # five standard deviations


def test_windows_of_microseconds_with_unrelated_slides() -> None:
    """Slides of primes of seconds, an offset of a microsecond: inclusion and exclusion by hand."""
    classes = [(7_000_000, 0), (11_000_000, 1)]
    assert density(classes) == Fraction(1, 7_000_000) + Fraction(1, 11_000_000)  # they never meet
    together = Fraction(1, 7_000_000) + Fraction(1, 11_000_001) - Fraction(1, 7_000_000 * 11_000_001)
    assert density([(7_000_000, 0), (11_000_001, 5)]) == together


@given(classes=some_classes.filter(bool))
def test_density_is_the_count(classes: list[EdgeClass]) -> None:
    if math.lcm(*(modulus for modulus, _ in classes)) <= 200_000:
        assert density(classes) == counted(classes)


@given(classes=some_classes, another=edge_classes)
def test_another_class_never_lowers_it(classes: list[EdgeClass], another: EdgeClass) -> None:
    assert density(classes) <= density([*classes, another]) <= density(classes) + Fraction(1, another[0])


@given(left=some_classes, right=some_classes)
def test_a_union_has_no_more_than_both(left: list[EdgeClass], right: list[EdgeClass]) -> None:
    assert max(density(left), density(right)) <= density(left + right) <= density(left) + density(right)


@given(classes=some_classes, shift=st.integers(-50, 50))
def test_neither_a_shift_nor_a_mirror_changes_it(classes: list[EdgeClass], shift: int) -> None:
    assert density((m, (a + shift) % m) for m, a in classes) == density(classes)
    assert density((m, -a % m) for m, a in classes) == density(classes)


@given(classes=some_classes, factor=st.integers(1, 1_000_000))
def test_a_finer_tick_has_the_same_edges(classes: list[EdgeClass], factor: int) -> None:
    assert density((m * factor, a * factor) for m, a in classes) * factor == density(classes)
