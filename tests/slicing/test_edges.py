"""Edge classes against the instants they stand for: dropping implied ones, and the slice that an instant lies in."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.queries.window import Window
from weft.slicing.divisors import divisors_among
from weft.slicing.edges import EdgeClass, common_tick, in_ticks, intersection, reduced, slice_starts
from weft.slicing.slicers import execution_classes

edge_classes = st.tuples(st.integers(1, 24), st.integers(-60, 60))
some_classes = st.lists(edge_classes, min_size=1, max_size=8)


def instants(classes: list[EdgeClass] | tuple[EdgeClass, ...], span: range) -> set[int]:
    return {t for t in span if any((t - residue) % modulus == 0 for modulus, residue in classes)}


def test_reduced_drops_what_another_class_implies() -> None:
    classes = [(4, 0), (4, 0), (8, 4), (12, 8), (12, 3), (6, 3), (4, 2)]
    assert reduced(classes) == ((4, 0), (4, 2), (6, 3))


@given(classes=some_classes)
def test_reduced_classes_are_the_same_instants(classes: list[EdgeClass]) -> None:
    span = range(-60, 60)
    kept = reduced(classes)
    assert instants(kept, span) == instants(classes, span)
    assert reduced(kept) == kept
    for dropped in kept:  # no class of them implies another
        for other in kept:
            assert dropped == other or dropped[0] % other[0] or dropped[1] % other[0] != other[1]


@pytest.mark.parametrize("count", [10, 65, 400])
def test_many_classes_are_reduced_like_few(count: int) -> None:
    """Against comparing each class with each: a hundred moduli and more take another way than a few."""
    rng = random.Random(count)
    for moduli in (range(1, 200), range(60, 3_600), range(1_000_000, 50_000_000)):
        classes = {(m, rng.randrange(m) % 5) for m in (rng.choice(moduli) for _ in range(count))}
        classes |= {(2 * m, a) for m, a in classes if rng.random() < 0.5}
        implied = {
            (m, a) for m, a in classes for d, b in classes if (d, b) != (m, a) and m % d == 0 and (a - b) % d == 0
        }
        assert reduced(classes) == tuple(sorted(classes - implied))


@given(moduli=st.sets(st.one_of(st.integers(1, 300), st.integers(1, 2**63)), max_size=90))
def test_divisors_that_occur(moduli: set[int]) -> None:
    found = divisors_among(sorted(moduli))
    assert found == {
        modulus: divisors
        for modulus in sorted(moduli)
        if (divisors := [other for other in sorted(moduli) if other < modulus and modulus % other == 0])
    }


def test_a_hundred_thousand_classes() -> None:
    rng = random.Random(1)
    classes = {(rng.randint(1_000, 86_400_000), 0) for _ in range(30_000)} | {
        (m, rng.randrange(m)) for m in (rng.randint(60, 3_600) for _ in range(70_000))
    }
    kept = reduced(classes)
    present, left = set(classes), set(kept)
    for modulus, residue in rng.sample(sorted(classes), 300):
        divisors = (d for d in range(1, math.isqrt(modulus) + 1) if modulus % d == 0)
        implied = any(
            divisor != modulus and (divisor, residue % divisor) in present
            for d in divisors
            for divisor in (d, modulus // d)
        )
        assert ((modulus, residue) in left) != implied


@pytest.mark.parametrize(
    ("left", "right", "both"),
    [
        ((6, 1), (10, 3), (30, 13)),
        ((6, 1), (4, 2), None),
        ((9, 0), (6, 4), None),
        ((9, 3), (6, 0), (18, 12)),
        ((1, 0), (7, 5), (7, 5)),
        ((12, 7), (4, 3), (12, 7)),
    ],
)
def test_intersections_by_hand(left: EdgeClass, right: EdgeClass, both: EdgeClass | None) -> None:
    assert intersection(left, right) == both
    assert intersection(right, left) == both


@given(left=edge_classes, right=edge_classes)
def test_an_intersection_is_a_class(left: EdgeClass, right: EdgeClass) -> None:
    span = range(-600, 600)
    both = intersection(left, right)
    assert instants([left], span) & instants([right], span) == (instants([both], span) if both else set())


@given(classes=some_classes, unit=st.integers(1, 1000), offset=st.integers(-(10**6), 10**6))
def test_an_offset_of_all_is_no_reason_for_a_finer_tick(classes: list[EdgeClass], unit: int, offset: int) -> None:
    tick, counted = in_ticks((modulus * unit, residue * unit + offset) for modulus, residue in classes)
    assert tick % unit == 0
    origin = classes[0][1] * unit + offset
    assert len(counted) == len(classes)
    for (modulus, residue), (length, place) in zip(classes, counted, strict=True):
        assert length * tick == modulus * unit
        assert 0 <= place < length
        assert (residue * unit + offset - place * tick - origin) % (modulus * unit) == 0


@given(classes=some_classes, data=st.data())
def test_the_order_of_classes_does_not_matter(classes: list[EdgeClass], data: st.DataObject) -> None:
    assert reduced(data.draw(st.permutations(classes))) == reduced(classes)


@given(classes=some_classes, factor=st.integers(1, 1000))
def test_common_tick_is_the_longest(classes: list[EdgeClass], factor: int) -> None:
    tick = common_tick(classes)
    assert all(number % tick == 0 for edge_class in classes for number in edge_class)
    assert common_tick((modulus * factor, residue * factor) for modulus, residue in classes) == tick * factor


@given(classes=some_classes, times=st.lists(st.integers(-100, 100), min_size=1, max_size=10))
def test_a_slice_starts_at_the_edge_before(classes: list[EdgeClass], times: list[int]) -> None:
    edges = instants(classes, range(-200, 101))
    starts = slice_starts(np.array(times), tuple(classes)).tolist()
    assert starts == [max(edge for edge in edges if edge <= t) for t in times]


windows = st.builds(Window.of, st.integers(1, 20), st.integers(1, 12), st.integers(-30, 30), st.integers(0, 20))


@given(windows=st.lists(windows, min_size=1, max_size=4), slicer=st.sampled_from(("panes", "pairs", "cutty")))
def test_slices_tile_every_window(windows: list[Window], slicer: str) -> None:
    """An instant is in a covered interval just when the start of its slice is: no slice straddles an end."""
    classes = reduced(edge for window in windows for edge in execution_classes(slicer, window))
    times = np.arange(-80, 80)
    starts = slice_starts(times, classes)
    for window in windows:
        for k in range(-10, 10):
            begin = window.offset - window.delay + k * window.slide
            inside = (times >= begin) & (times < begin + window.range)
            np.testing.assert_array_equal((starts >= begin) & (starts < begin + window.range), inside)


@pytest.mark.parametrize("t", [-62_135_596_800_000_000, -1, 0, 253_402_300_799_999_999])
def test_microseconds_of_far_away_years(t: int) -> None:
    start = int(slice_starts(np.array([t]), ((60_000_000, 5), (7_000_003, 0)))[0])
    assert start <= t < start + 7_000_003
    assert (start - 5) % 60_000_000 == 0 or start % 7_000_003 == 0
