"""The loop in print, with its three optimisations: Guirguis et al., CIKM 2011, Figure 2 and section 8."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import weft
from weft.planners.optimize import Request
from weft.planners.paper_loop import Woven, paper_loop

Sizes = tuple[int, int, int]
SWITCHES = tuple(
    dict(zip(("cost_lookup", "bitmap", "probe_smaller"), bits, strict=True))
    for bits in product((False, True), repeat=3)
)
NAIVE, BEST = SWITCHES[0], SWITCHES[-1]

sizes = st.tuples(
    st.integers(1, 30), st.sampled_from((1, 2, 3, 4, 5, 6, 8, 9, 10, 12)), st.sampled_from((0, 0, 0, 1, 4))
)
rates = st.sampled_from(("0.2", "1.2", "3", "40")).map(Fraction)


def workload(windows: list[Sizes]) -> weft.Workload:
    ranges, slides, offsets = zip(*windows, strict=True)
    return weft.Workload.windows(ranges, slides, offsets=offsets)


def woven(windows: list[Sizes], rate: Fraction, execute: bool = True, slicing: str = "pairs", **given: bool) -> Woven:
    request = Request(workload(windows), weft.Stats(rate=rate), technique="panes", slicing=slicing)
    (family,) = request.families()
    return paper_loop(family.alone, family.price, execute=execute, **given)


def test_example_3() -> None:
    """Section 5.1: the first and the last are merged, for 4.3 operations per second at 1.2 rows per second."""
    found = woven([(16, 4, 0), (10, 5, 0), (8, 4, 0)], Fraction("1.2"))
    assert (found.trees, found.cost) == (((0, 2), (1,)), Fraction("4.3"))


@pytest.mark.parametrize(
    ("given", "steps"),
    [
        # x has slide 5 and edges at 2 and 5, so 6 edges in 15 seconds; y has slide 3 and an edge at 3, so 5
        ({}, (5 * 2, 0, 0)),
        ({"probe_smaller": True}, (5 * 2, 0, 0)),
        ({"bitmap": True}, (0, 5, 15 + 5)),
        ({"bitmap": True, "probe_smaller": True}, (0, 5, 15 + 5)),
    ],
)
def test_example_4(given: dict[str, bool], steps: tuple[int, int, int]) -> None:
    """Section 8: every edge of y against those of x, at two comparisons each; 9 edges in 15 seconds are left."""
    found = woven([(7, 5, 0), (3, 3, 0)], Fraction(100), **given)
    overhead = found.overhead
    assert (overhead.comparisons, overhead.probes, overhead.written) == steps
    assert found.cost == 100 + Fraction(9, 15) * (Fraction(7, 5) + 1)


def test_the_tree_with_fewer_edges_probes() -> None:
    """As in Figure 13; with the queries the other way round, the six edges of the other one would be walked."""
    windows = [(3, 3, 0), (7, 5, 0)]
    assert woven(windows, Fraction(100), bitmap=True).overhead.probes == 6
    assert woven(windows, Fraction(100), bitmap=True, probe_smaller=True).overhead.probes == 5


def test_ten_trees_become_one() -> None:
    """Every merge pays: 165 merges are weighed, or 81 where benefits are kept."""
    windows = [(slide, slide, 0) for slide in (2, 3, 4, 5, 6, 8, 9, 10, 12, 15)]
    naive, looked_up = (woven(windows, Fraction(10_000), execute=False, cost_lookup=lookup) for lookup in (False, True))
    assert naive.trees == looked_up.trees == (tuple(range(10)),)
    assert naive.overhead.evaluations == comb(11, 3) == 165
    assert looked_up.overhead.evaluations == 81


@given(windows=st.lists(sizes, min_size=1, max_size=8), rate=rates)
def test_merges_weighed_follow_from_the_number_of_trees(windows: list[Sizes], rate: Fraction) -> None:
    naive, looked_up = (woven(windows, rate, execute=False, cost_lookup=lookup) for lookup in (False, True))
    n, m = len(windows), len(naive.trees)
    assert naive.overhead.evaluations == comb(n + 1, 3) - comb(m, 3)
    assert looked_up.overhead.evaluations == comb(n, 2) + sum(left - 1 for left in range(m, n))


@settings(max_examples=20)
@given(
    windows=st.lists(sizes, min_size=1, max_size=6), rate=rates, slicing=st.sampled_from(("pairs", "panes", "cutty"))
)
def test_steps_worked_out_are_steps_taken(windows: list[Sizes], rate: Fraction, slicing: str) -> None:
    for given_ in SWITCHES:
        assert woven(windows, rate, True, slicing, **given_) == woven(windows, rate, False, slicing, **given_)


@given(windows=st.lists(sizes, min_size=1, max_size=8), rate=rates)
def test_no_optimisation_changes_the_plan(windows: list[Sizes], rate: Fraction) -> None:
    found = [woven(windows, rate, execute=False, **given_) for given_ in SWITCHES]
    assert len({(each.trees, each.cost) for each in found}) == 1
    by_switches = dict(zip(product((False, True), repeat=3), (each.overhead for each in found), strict=True))
    for lookup, bitmap, smaller in by_switches:
        overhead = by_switches[lookup, bitmap, smaller]
        assert by_switches[True, bitmap, smaller].evaluations <= overhead.evaluations
        assert by_switches[lookup, True, smaller].probes * 2 <= by_switches[lookup, False, smaller].comparisons
        assert by_switches[lookup, True, True].probes <= by_switches[lookup, True, False].probes


@given(
    windows=st.lists(sizes, min_size=1, max_size=9), rate=rates, slicing=st.sampled_from(("pairs", "panes", "cutty"))
)
def test_weave_share_plans_like_the_loop(windows: list[Sizes], rate: Fraction, slicing: str) -> None:
    plan = weft.optimize(workload(windows), weft.Stats(rate=rate), "weave_share", "panes", slicing)
    found = woven(windows, rate, False, slicing, **BEST)
    assert plan.cost == found.cost
    assert [tuple(tree.queries.tolist()) for tree in plan.trees] == list(found.trees)


@given(windows=st.lists(sizes, min_size=1, max_size=7), rate=rates)
def test_windows_of_rows(windows: list[Sizes], rate: Fraction) -> None:
    """Edges per row: the rate is that of the rows and of the edges."""
    ranges, slides, offsets = zip(*windows, strict=True)
    rows = weft.Workload.windows(ranges, slides, offsets=offsets, unit="rows")
    (family,) = Request(rows, weft.Stats(rate=rate), technique="panes").families()
    plan = weft.optimize(rows, weft.Stats(rate=rate), "weave_share", "panes")
    assert paper_loop(family.alone, family.price, **BEST).cost == plan.cost
