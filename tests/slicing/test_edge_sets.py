"""Many sets of edges at once, against counting each union on its own."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.slicing import edge_sets
from weft.slicing.density import density
from weft.slicing.edge_sets import bit_rows, common_period, subset_edges
from weft.slicing.edges import Classes

edge_classes = st.integers(1, 24).flatmap(lambda modulus: st.tuples(st.just(modulus), st.integers(0, modulus - 1)))
sets_of_classes = st.lists(st.lists(edge_classes, min_size=1, max_size=3).map(tuple), min_size=1, max_size=5)


def scaled(sets: list[Classes], unit: int, offset: int) -> list[Classes]:
    return [tuple((modulus * unit, residue * unit + offset) for modulus, residue in each) for each in sets]


def united(sets: list[Classes], *numbers: int) -> Fraction:
    return density(edge_class for number in numbers for edge_class in sets[number])


@given(sets=sets_of_classes, unit=st.sampled_from((1, 60_000_000)), offset=st.integers(0, 10**6))
def test_rows_count_unions(sets: list[Classes], unit: int, offset: int) -> None:
    sets = scaled(sets, unit, offset)
    rows = bit_rows(sets)
    assert rows is not None
    assert common_period(sets) == (rows.period, rows.tick)
    per_edge = Fraction(1, rows.period * rows.tick)
    for i in range(len(sets)):
        assert int(rows.edges[i]) * per_edge == united(sets, i)
        found = rows.union_edges(i)
        assert found.dtype == np.int64
        assert [int(edges) * per_edge for edges in found] == [united(sets, i, j) for j in range(len(sets))]
        assert [rows.edges_of_pair(i, j) for j in range(len(sets))] == found.tolist()
        np.testing.assert_array_equal(rows.union_edges_of(rows.rows[i]), found)


@given(sets=sets_of_classes)
def test_a_union_takes_the_place_of_a_row(sets: list[Classes]) -> None:
    rows = bit_rows(sets)
    assert rows is not None
    before = rows.copy()
    last = len(sets) - 1
    rows.unite(0, last)
    per_edge = Fraction(1, rows.period * rows.tick)
    assert int(rows.edges[0]) * per_edge == united(sets, 0, last)
    assert [int(e) * per_edge for e in rows.union_edges(0)] == [united(sets, 0, last, j) for j in range(last + 1)]
    assert int(before.edges[0]) * per_edge == united(sets, 0)
    assert rows.edges[1:].tolist() == before.edges[1:].tolist()


def test_rows_longer_than_a_piece_and_more_than_a_block() -> None:
    period = 2**20 * 3
    long = bit_rows([((period, 0),), ((period, period - 1), (3, 2)), ((2**20, 5),)])
    assert long is not None
    assert long.edges.tolist() == [1, 2**20, 3]
    assert long.union_edges(0).tolist() == [1, 2**20 + 1, 4]
    many = bit_rows([((4096, k),) for k in range(2_000)])
    assert many is not None
    assert many.edges.tolist() == [1] * 2_000
    assert many.union_edges(7).tolist() == [2] * 7 + [1] + [2] * 1_992


def test_rows_that_are_too_long_are_refused() -> None:
    assert bit_rows([((46_349, 0),), ((46_351, 0),)]) is None
    assert bit_rows([]) is not None


@given(sets=sets_of_classes, unit=st.sampled_from((1, 60_000_000)), offset=st.integers(0, 10**6))
def test_subsets_count_unions(sets: list[Classes], unit: int, offset: int) -> None:
    sets = scaled(sets, unit, offset)
    found = subset_edges(sets)
    assert found is not None
    assert len(found) == 2 ** len(sets)
    period, tick = common_period(sets)
    for subset, edges in enumerate(found.tolist()):
        members = [k for k in range(len(sets)) if subset >> k & 1]
        assert Fraction(edges, period * tick) == united(sets, *members)


@given(sets=sets_of_classes)
def test_intersections_count_like_a_walk(sets: list[Classes]) -> None:
    walked = subset_edges(sets)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(edge_sets, "_LONGEST_WALK", 0)
        met = subset_edges(sets)
    assert walked is not None
    assert met is not None
    assert walked.tolist() == met.tolist()


def test_subsets_of_sixteen_sets_over_several_pieces() -> None:
    rng = random.Random(4)
    slides = [slide for slide in range(60, 86_401) if 86_400 * 49 % slide == 0]
    sets = [((slide, 0), (slide, rng.randrange(slide))) for slide in rng.choices(slides, k=15)] + [((86_400 * 49, 5),)]
    found = subset_edges(sets)
    assert found is not None
    period, tick = common_period(sets)
    assert period > edge_sets.PIECE
    for subset in rng.sample(range(1 << 16), 40):
        members = [k for k in range(16) if subset >> k & 1]
        assert Fraction(int(found[subset]), period * tick) == united(sets, *members)


def test_subsets_of_slides_whose_period_has_hundreds_of_bits() -> None:
    rng = random.Random(5)
    slides = [rng.randint(60, 3_600) * 1_000_000 for _ in range(12)]
    sets: list[Classes] = [((slide, 0),) for slide in slides]
    found = subset_edges(sets)
    assert found is not None
    period, tick = common_period(sets)
    assert period.bit_length() > 64
    for subset in rng.sample(range(1 << 12), 40):
        members = [k for k in range(12) if subset >> k & 1]
        assert Fraction(found[subset], period * tick) == united(sets, *members)


def test_too_many_subsets_are_refused() -> None:
    rng = random.Random(6)
    assert subset_edges([((2, 0),)] * 19) is None
    slides = [rng.randint(60, 3_600) for _ in range(17)]
    assert subset_edges([((slide, 0), (slide, 1), (slide, 2), (slide, 3)) for slide in slides]) is None
