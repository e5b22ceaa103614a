"""Filters whose shares are known: who is put together before planning starts, and that it costs nothing."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import weft
from tests.planners.plain import TYPES, fewer, plain_sizes
from tests.planners.test_best import FILTERS, asked
from weft.planners import families, weave_share
from weft.planners.families import Family
from weft.planners.optimize import Request

SIX = [(10, 10, "x > 1"), (10, 10, "x > 1"), (600, 60, None), (50, 10, None), (120, 60, "x > 1"), (120, 60, "n > 1")]


def queries() -> list[weft.Query]:
    return [
        weft.Query(f"q{i}", "max(x)", weft.Window(f"{size} s", f"{slide} s"), where=where, group_by="k")
        for i, (size, slide, where) in enumerate(SIX)
    ]


def spent(family: Family, apart: int) -> Fraction:
    """What Weave Share comes to, if up to so many candidates start with their filters apart."""
    grouping, price = family.grouped(replace(weave_share.PLANNER, apart=apart), {})
    return families.cost(grouping.trees, price)


STATS = weft.Stats(5_000, 1_000, filters={"x > 1": 0.2, "n > 1": 0.1})


def test_different_filters_are_not_put_together_before_it_is_known_who_else_there_is() -> None:
    """Put together by their edges, those of 10 s read every row for a query of a fifth of them, for good."""
    (family,) = Request(weft.Workload(queries()), STATS).families()
    assert float(spent(family, 0)) == pytest.approx(11_249.6, rel=1e-4)
    best = weft.optimize(weft.Workload(queries()), STATS, "exhaustive")
    assert float(best.cost) == pytest.approx(7_850, rel=1e-4)
    assert spent(family, 4) == best.cost, "each filter woven by itself first"
    assert spent(family, 5) == weft.optimize(weft.Workload(queries()), STATS).cost == best.cost


def test_a_weaver_that_plans_from_scratch_keeps_them_apart_too() -> None:
    weaver = weft.Weaver(STATS, tolerance=0, background=False)
    for query in queries():
        weaver.add(query)
    assert weaver.reconstructions == len(SIX)
    assert weaver.plan().trees == weft.optimize(weft.Workload(queries()), STATS).trees


@fewer(2)
@given(
    workload=asked(filters=True, sizes=st.lists(plain_sizes, min_size=2, max_size=9)),
    rate=st.sampled_from(("0.7", "50", "5000")).map(Fraction),
    keys=st.sampled_from((1, 30, 1_000)),
)
def test_filters_apart_are_the_better_start(workload: weft.Workload, rate: Fraction, keys: int) -> None:
    """Never dearer than not to share; a greedy plan from the other start is seldom luckier, and by a few % at most."""
    stats = weft.Stats(rate, keys, TYPES, FILTERS)
    (family,) = Request(workload, stats).families()
    apart, together = spent(family, 256), spent(family, 0)
    assert apart <= together * Fraction("1.1")
    alone = weft.optimize(workload, stats, "no_share").cost
    for most in (3, 5, 256):
        assert spent(family, most) <= alone * (1 + Fraction(1, 10**12))
