"""A weaver that grows or shrinks is planned from scratch before the plan-cost curve is stretched too far."""

from __future__ import annotations

import math

import pytest

import weft
from tests.planners.plain import window
from weft.planners.weaver import Weaver

COUNT = 70


def woven(tolerance: float) -> Weaver:
    """Queries that all have edges of their own, one by one, on a stream that hardly any of them share."""
    weaver = Weaver(weft.Stats(0.01), "panes", tolerance=tolerance, background=False)
    for number in range(COUNT):
        weaver.add(weft.Query(f"q{number}", "max(x)", window(100 + number, 60, number % 60)))
    return weaver


def test_twice_or_half_the_queries_are_planned_from_scratch() -> None:
    weaver = woven(1e9)
    grown = weaver.reconstructions
    assert grown == 1 + math.floor(math.log2(COUNT))
    for number in range(COUNT - 1):
        weaver.remove(f"q{number}")
    assert weaver.reconstructions > grown + math.log2(COUNT) - 2
    assert weaver.cost == weft.optimize(weaver.plan().workload, weft.Stats(0.01), technique="panes").cost


def test_without_a_tolerance_nobody_plans_from_scratch_twice() -> None:
    assert woven(math.inf).reconstructions <= 1


@pytest.mark.parametrize("tolerance", [0.0, 0.05])
def test_a_small_tolerance_keeps_close_to_a_plan_from_scratch(tolerance: float) -> None:
    weaver = woven(tolerance)
    scratch = weft.optimize(weaver.plan().workload, weft.Stats(0.01), technique="panes").cost
    assert weaver.cost == scratch if tolerance == 0 else weaver.deviation <= tolerance
