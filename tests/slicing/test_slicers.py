"""Which edges a window asks for, against the papers' examples and against marking windows on a line.

Fragment lengths g1 = range mod slide and g2 = slide - g1: Krishnamurthy, Wu and Franklin, SIGMOD 2006, section 3.2;
Guirguis, Sharaf, Chrysanthis and Labrinidis, CIKM 2011, section 3. Fragments per window: Shein and Chrysanthis,
TKDE 2020, section 2.1 and Table 1.
"""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.queries.window import Window
from weft.slicing.edges import reduced
from weft.slicing.slicers import SLICERS, execution_classes, residues

windows = st.builds(
    Window.of, st.integers(1, 30), st.integers(1, 20), st.integers(-60, 60), st.integers(0, 45)
)  # range, slide, offset, delay


@pytest.mark.parametrize(
    ("size", "slide", "panes", "pairs", "cutty"),
    [
        (12, 9, {(3, 0)}, {(9, 0), (9, 3)}, {(9, 0)}),
        (10, 6, {(2, 0)}, {(6, 0), (6, 4)}, {(6, 0)}),
        (14, 8, {(2, 0)}, {(8, 0), (8, 6)}, {(8, 0)}),
        (5, 3, {(1, 0)}, {(3, 0), (3, 2)}, {(3, 0)}),
        (3, 5, {(1, 0)}, {(5, 0), (5, 3)}, {(5, 0)}),
        (2, 5, {(1, 0)}, {(5, 0), (5, 2)}, {(5, 0)}),
        (16, 4, {(4, 0)}, {(4, 0)}, {(4, 0)}),
        (4, 1, {(1, 0)}, {(1, 0)}, {(1, 0)}),
    ],
)
def test_classes_of_the_papers(
    size: int, slide: int, panes: set[object], pairs: set[object], cutty: set[object]
) -> None:
    window = Window.of(size, slide)
    found = {name: set(slicer(window)) for name, slicer in SLICERS.items()}
    assert found == {"panes": panes, "pairs": pairs, "cutty": cutty}


@pytest.mark.parametrize(
    ("size", "slide", "from_start", "up_to_end"),
    [
        (12, 9, {0, 3}, {0, 6}),
        (10, 6, {0, 4}, {0, 2}),
        (16, 4, {0}, {0}),
        (14, 8, {0, 6}, {0, 2}),
        (5, 3, {0, 2}, {0, 1}),
        (4, 1, {0}, {0}),
        (3, 5, {0, 3}, {0, 2}),
        (2, 5, {0, 2}, {0, 3}),
    ],
)
def test_edges_of_windows_that_begin_or_end_together(
    size: int, slide: int, from_start: set[int], up_to_end: set[int]
) -> None:
    """CIKM 2011 lets windows begin at multiples of the slide, TKDE 2020 lets them end there: fragments in turn."""
    for offset, expected in ((0, from_start), (-size, up_to_end)):
        assert {residue for _, residue in SLICERS["pairs"](Window.of(size, slide, offset))} == expected


@pytest.mark.parametrize(
    ("size", "slide", "panes", "pairs", "cutty"),
    [
        (12, 9, 4, 3, 2),
        (10, 6, 5, 3, 2),
        (14, 8, 7, 3, 2),
        (5, 3, 5, 3, 2),
        (3, 5, 3, 1, 1),
        (2, 5, 2, 1, 1),
        (16, 4, 4, 4, 4),
        (4, 1, 4, 4, 4),
    ],
)
def test_fragments_per_window_of_the_papers(size: int, slide: int, panes: int, pairs: int, cutty: int) -> None:
    """Table 1 of TKDE 2020: range / gcd for panes, range / slide or 2 floor(range / slide) + 1 for pairs, and
    ceil(range / slide) for Cutty, the open one included."""
    window = Window.of(size, slide)
    for name, expected in (("panes", panes), ("pairs", pairs), ("cutty", cutty)):
        classes = SLICERS[name](window)
        begin = 1000 * slide
        assert sum(is_edge(t, classes) for t in range(begin, begin + size)) == expected


def is_edge(t: int, classes: tuple[tuple[int, int], ...]) -> bool:
    return any(t % modulus == residue % modulus for modulus, residue in classes)


def ends_of(window: Window, span: range) -> tuple[set[int], set[int]]:
    """Where covered intervals begin and end, by laying out window after window."""
    begins, ends = set(), set()
    for k in range(-200, 200):
        begin = window.offset - window.delay + k * window.slide
        begins.add(begin)
        ends.add(begin + window.range)
    return begins & set(span), ends & set(span)


@given(window=windows)
def test_edges_lie_where_windows_begin_and_end(window: Window) -> None:
    span = range(-40, 40)
    begins, ends = ends_of(window, span)
    edges = {name: {t for t in span if is_edge(t, slicer(window))} for name, slicer in SLICERS.items()}
    assert edges["cutty"] == begins
    assert edges["pairs"] == begins | ends
    assert edges["panes"] >= begins | ends


@given(window=windows)
def test_panes_are_a_regular_grid(window: Window) -> None:
    ((pane, residue),) = SLICERS["panes"](window)
    assert pane == math.gcd(window.range, window.slide)
    assert 0 <= residue < pane


@given(window=windows, slicer=st.sampled_from(sorted(SLICERS)))
def test_what_runs_has_an_edge_at_both_ends(window: Window, slicer: str) -> None:
    classes = execution_classes(slicer, window)
    begin, end = residues(window)
    assert is_edge(begin, classes)
    assert is_edge(end, classes)


@given(window=windows, slicer=st.sampled_from(sorted(SLICERS)))
def test_residues_are_settled(window: Window, slicer: str) -> None:
    """Already reduced and below their modulus, so that equal edges are equal values."""
    classes = SLICERS[slicer](window)
    assert all(0 <= residue < modulus for modulus, residue in classes)
    assert set(reduced(classes)) == set(classes)


@given(window=windows, slides=st.integers(-3, 3), slicer=st.sampled_from(sorted(SLICERS)))
def test_an_offset_counts_modulo_the_slide(window: Window, slides: int, slicer: str) -> None:
    moved = Window.of(window.range, window.slide, window.offset + slides * window.slide, window.delay)
    assert SLICERS[slicer](moved) == SLICERS[slicer](window)
