"""Every way of counting edges, against the numbers of the papers and against laying out a period.

Guirguis, Sharaf, Chrysanthis and Labrinidis, CIKM 2011: Example 2 (section 4.1), Definition 1 (section 4.3), Example 3
(section 5.1) and Example 4 (section 8). Shein and Chrysanthis, TKDE 2020: Figure 15 (section 3.1), equation 2 (section
3.1.2), partials per window (section 2.1).
"""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.queries.window import Window
from weft.slicing import bit_set, f1, signed_map
from weft.slicing.density import METHODS, density
from weft.slicing.divisor_lattice import why_not
from weft.slicing.edges import Classes, EdgeClass
from weft.slicing.naive_check import naive_check
from weft.slicing.slicers import pairs
from weft.slicing.weaveability import weaveability

edge_classes = st.integers(1, 16).flatmap(lambda modulus: st.tuples(st.just(modulus), st.integers(0, modulus - 1)))
some_classes = st.lists(edge_classes, max_size=5)


def classes_of(*windows: Window) -> Classes:
    return tuple(edge_class for window in windows for edge_class in pairs(window))


def from_start(*windows: tuple[int, int]) -> Classes:
    """Windows that begin at multiples of their slides, given by range and slide."""
    return classes_of(*(Window.of(size, slide) for size, slide in windows))


def up_to_end(*windows: tuple[int, int]) -> Classes:
    """Windows that end at multiples of their slides."""
    return classes_of(*(Window.of(size, slide, -size) for size, slide in windows))


def edges_of(classes: Classes) -> list[int]:
    """The edges of one composite slide, its end for its beginning."""
    slide = math.lcm(*(modulus for modulus, _ in classes))
    return [t for t in range(1, slide + 1) if any(t % modulus == residue for modulus, residue in classes)]


def methods_for(classes: Classes | list[EdgeClass]) -> dict[str, Fraction]:
    return {
        name: method(classes)
        for name, method in METHODS.items()
        if name != "divisor_lattice" or why_not(classes) is None
    }


@pytest.mark.parametrize(
    ("classes", "edges"),
    [
        (from_start((12, 9), (10, 6)), [3, 4, 6, 9, 10, 12, 16, 18]),  # CIKM 2011, Example 2, as printed
        (up_to_end((12, 9), (10, 6)), [2, 6, 8, 9, 12, 14, 15, 18]),  # its mirror image
        (from_start((2, 5), (3, 3)), [2, 3, 5, 6, 7, 9, 10, 12, 15]),  # CIKM 2011, Example 4
        (from_start((6, 2), (8, 4)), [2, 4]),  # TKDE 2020, Figure 15
    ],
)
def test_edges_of_a_composite_slide(classes: Classes, edges: list[int]) -> None:
    assert edges_of(classes) == edges
    slide = edges[-1]
    assert set(methods_for(classes).values()) == {density(classes)} == {Fraction(len(edges), slide)}


@pytest.mark.parametrize(
    ("windows", "edge_rate"),
    [
        ([(12, 9)], Fraction(2, 9)),
        ([(10, 6)], Fraction(1, 3)),
        ([(2, 5)], Fraction(2, 5)),
        ([(3, 3)], Fraction(1, 3)),
        ([(7, 7)], Fraction(1, 7)),
        ([(16, 4), (8, 4)], Fraction(1, 4)),
        ([(16, 4), (10, 5), (8, 4)], Fraction(2, 5)),
        ([(48, 8), (8, 2), (45, 9), (6, 2), (12, 4)], Fraction(5, 9)),
    ],
)
def test_edge_rates(windows: list[tuple[int, int]], edge_rate: Fraction) -> None:
    assert set(methods_for(from_start(*windows)).values()) == {edge_rate}
    assert density(up_to_end(*windows)) == edge_rate


@pytest.mark.parametrize(
    ("windows", "partials"),
    [
        ([(12, 9), (10, 6)], [{5, 6}, {4, 5}]),  # CIKM 2011, Example 2
        ([(6, 2), (8, 4)], [{3}, {4}]),  # TKDE 2020, Figure 15
        ([(16, 4), (8, 4)], [{4}, {2}]),
        ([(16, 4), (10, 5), (8, 4)], [{6, 7}, {4}, {2, 3, 4}]),  # CIKM 2011, Example 3
        ([(7, 7)], [{1}]),
        ([(2, 5)], [{1}]),
    ],
)
def test_partials_per_window_of_a_shared_tree(windows: list[tuple[int, int]], partials: list[set[int]]) -> None:
    classes = from_start(*windows)
    slide = math.lcm(*(s for _, s in windows))
    for (size, every), expected in zip(windows, partials, strict=True):
        begins = range(0, slide, every)
        assert {int(bit_set.laid_out(classes, begin, begin + size).sum()) for begin in begins} == expected


def test_the_comparisons_of_example_4() -> None:
    """The edges 3, 6, 9, 12 and 15 of one query, each compared twice with the other; 12 and 15 are common."""
    probed, probing = from_start((2, 5)), from_start((3, 3))
    check = naive_check(probed, probing)
    assert (check.composite_slide, check.walked, check.comparisons, check.common) == (15, 5, 10, (12, 15))
    assert density(probed) * 15 == 6
    assert density(probed + probing) * 15 == 6 + check.walked - len(check.common)
    other_way = naive_check(probing, probed)
    assert (other_way.walked, other_way.comparisons, other_way.common) == (6, 6, check.common)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ([(12, 9)], [(10, 6)], Fraction(1, 4)),  # Example 2: 12 and 18 of eight edges
        ([(16, 4)], [(8, 4)], Fraction(1)),  # perfectly weaveable
        ([(6, 2)], [(8, 4)], Fraction(1, 2)),
        ([(2, 5)], [(3, 3)], Fraction(2, 9)),
        ([(12, 9), (10, 6)], [(3, 3)], Fraction(5, 9)),  # a tree: 3, 6, 9, 12 and 18, beside 4, 10, 15 and 16
    ],
)
def test_weaveability(left: list[tuple[int, int]], right: list[tuple[int, int]], expected: Fraction) -> None:
    one, other = from_start(*left), from_start(*right)
    slide = math.lcm(*(modulus for modulus, _ in one + other))
    edges = [{t + k for t in edges_of(x) for k in range(0, slide, edges_of(x)[-1])} for x in (one, other)]
    assert Fraction(len(edges[0] & edges[1]), len(edges[0] | edges[1])) == expected
    assert weaveability(one, other) == weaveability(other, one) == expected


@given(left=some_classes.filter(bool), right=some_classes.filter(bool))
def test_weaveability_is_the_share_of_common_edges(left: list[EdgeClass], right: list[EdgeClass]) -> None:
    period = math.lcm(*(modulus for modulus, _ in left + right))
    if period <= 20_000:
        one, other = bit_set.laid_out(left, 0, period), bit_set.laid_out(right, 0, period)
        assert weaveability(left, right) == Fraction(int((one & other).sum()), int((one | other).sum()))


def test_nothing_weaves_with_nothing() -> None:
    assert weaveability([], []) == weaveability([(4, 0)], []) == 0


@pytest.mark.parametrize(
    ("slides", "edges", "composite"),
    [
        ((2, 4), 2, 4),
        ((4, 6, 10), 22, 60),
        ((2, 3, 5, 7), 162, 210),
        ((6, 10, 15), 8, 30),
        ((12, 18, 30, 45), 24, 180),
    ],
)
def test_f1_as_printed(slides: tuple[int, ...], edges: int, composite: int) -> None:
    assert math.lcm(*slides) == composite
    assert f1.edges_of_slides(slides) == edges
    assert set(methods_for([(slide, 0) for slide in slides]).values()) == {Fraction(edges, composite)}


def test_a_signed_map_by_hand() -> None:
    classes = [(4, 2), (6, 1), (10, 3), (15, 4)]
    signed = signed_map.signed_map(classes)
    assert signed == {
        (4, 2): 1, (6, 1): 1, (10, 3): 1, (15, 4): 1, (30, 13): -1, (30, 19): -1, (60, 34): -1,
    }  # fmt: skip
    assert signed_map.edges_within(signed, 60) == 30
    assert set(methods_for(classes).values()) == {Fraction(1, 2)}


@given(left=some_classes, right=some_classes)
def test_signed_maps_of_trees(left: list[EdgeClass], right: list[EdgeClass]) -> None:
    one, other = signed_map.signed_map(left), signed_map.signed_map(right)
    period = math.lcm(*(modulus for modulus, _ in left + right))
    together = signed_map.edges_within(signed_map.united(one, other), period)
    assert together == density(left + right) * period
    shared = signed_map.edges_within(signed_map.common(one, other), period)
    assert shared == (density(left) + density(right) - density(left + right)) * period


def test_slides_of_one_long_slide_keep_the_map_small() -> None:
    divisors = [slide for slide in range(2, 361) if 360 % slide == 0]
    assert len(signed_map.signed_map((slide, 0) for slide in divisors if slide > 7)) < len(divisors)


def test_a_lattice_needs_an_instant_in_common() -> None:
    assert why_not([(4, 1), (6, 3)]) is None
    with pytest.raises(ValueError, match="no instant in common"):
        METHODS["divisor_lattice"]([(4, 1), (6, 2)])


@given(classes=some_classes)
def test_all_ways_agree(classes: list[EdgeClass]) -> None:
    period = math.lcm(*(modulus for modulus, _ in classes))
    edges = sum(any(t % modulus == residue for modulus, residue in classes) for t in range(min(period, 5_000)))
    found = set(methods_for(classes).values()) | {density(classes)}
    assert len(found) == 1
    if period <= 5_000:
        assert found == {Fraction(edges, period)}


@given(moduli=st.lists(st.integers(1, 40), max_size=6), meeting=st.integers(0, 10**6))
def test_all_ways_agree_where_classes_meet(moduli: list[int], meeting: int) -> None:
    classes = [(modulus, meeting % modulus) for modulus in moduli]
    counted = {method(classes) for name, method in METHODS.items() if name != "naive_check"}
    assert counted == {density(classes)} == {density((modulus, 0) for modulus in moduli)}


@given(windows=st.lists(st.tuples(st.integers(1, 30), st.integers(1, 12)), min_size=1, max_size=4))
def test_mirrored_windows_have_as_many_edges(windows: list[tuple[int, int]]) -> None:
    """From t to -t: windows that begin together become windows that end together."""
    assert density(from_start(*windows)) == density(up_to_end(*windows))
