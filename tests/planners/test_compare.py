"""All planners side by side: one mechanism for Python and the command line."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import pytest

import weft
from tests.plans import goldens
from tests.plans.workloads import PLANS
from weft.planners import PLANNERS

EXAMPLE_3 = PLANS["example_3_weave_share"].workload
STATS = weft.Stats(1.2)


def many(count: int) -> weft.Workload:
    return weft.Workload.windows(np.arange(count) + 10, np.arange(count) + 7, measures="max(x)")


def test_in_words() -> None:
    """Example 3 of Guirguis et al., CIKM 2011: 4.3 at best over rows, 3.9 over shared slices, 4.4 and 5.5."""
    comparison = weft.compare(EXAMPLE_3, STATS, technique="panes")
    goldens.check("compare_example_3", str(comparison))
    assert next(iter(comparison)) == "tri_weave"
    assert comparison.best.cost == Fraction("3.9")
    assert comparison["optimal"].cost == Fraction("4.3")


def test_each_plan_is_the_planners_own() -> None:
    comparison = weft.compare(EXAMPLE_3, STATS, "panes", seed=3)
    assert set(comparison) == set(PLANNERS)
    for name, plan in comparison.items():
        own = {"seed": 3} if "seed" in PLANNERS[name].options else {}
        assert plan == weft.optimize(EXAMPLE_3, STATS, name, "panes", **own)
    costs = [plan.cost for plan in comparison.values()]
    assert costs == sorted(costs)
    assert str(comparison) == str(weft.compare(EXAMPLE_3, STATS, "panes", seed=3))
    assert comparison == weft.compare(EXAMPLE_3, STATS, "panes", seed=3), "whatever time it took"


def test_who_refuses_says_why_in_its_row() -> None:
    comparison = weft.compare(many(13), STATS, planners=["exhaustive", "weave_share", "optimal"], steps=5)
    assert set(comparison) == {"weave_share", "optimal"}
    assert "takes at most 12" in str(comparison.refusals["exhaustive"])
    last = str(comparison).splitlines()[-1]
    assert re.match(
        r"exhaustive +- +- +- +-  takes at most 12 queries, and here are 13 that could share\. Use optimal, ", last
    )
    assert "exhaustive" in comparison._repr_html_()


def test_a_technique_that_some_planners_cannot_use() -> None:
    """Two stacks serve one range: sharing all is refused, with the query, and the others plan."""
    windows = [weft.Window("10 s", "5 s"), weft.Window("20 s", "5 s")]
    workload = weft.Workload([weft.Query(f"q{i}", "max(x)", window) for i, window in enumerate(windows)])
    comparison = weft.compare(workload, weft.Stats(100), technique="two_stacks")
    assert "shared" in comparison.refusals
    assert "weave_share" in comparison
    assert "query 'q0': two_stacks cannot be used" in str(comparison)


def test_times_are_told_apart() -> None:
    comparison = weft.compare(EXAMPLE_3, STATS)
    assert set(comparison.seconds) == set(PLANNERS)
    assert all(seconds >= 0 for seconds in comparison.seconds.values())
    assert comparison.times().startswith("Planning took ")
    assert all(name in comparison.times() for name in PLANNERS)
    assert not re.search(r"\d (ms|s)\b", str(comparison))


def test_a_page_has_every_plan_with_its_picture() -> None:
    hostile = weft.Workload([weft.Query("<script>", "max(x)", weft.Window("1 min"), source="<b>")])
    html = weft.compare(hostile, STATS)._repr_html_()
    assert html.count("<svg") == len(PLANNERS)
    assert "<script>" not in html
    assert "<b>\n" not in html


def test_what_is_refused() -> None:
    for given, said in (
        ({"planners": ["weave"]}, "planner: there is no planner 'weave'. Did you mean 'weave_share'"),
        ({"planners": []}, "planners: no planner is named. Name some of no_share, "),
        ({"stops": 1}, "none of the planners has an option 'stops'. Drop it: there are guard, patience, seed, start, "),
        ({"planners": ["shared"], "steps": 1}, "none of the planners has an option 'steps'. Drop it: there are none"),
        ({"technique": "xyz"}, "there is no technique 'xyz'"),
        ({"technique": "r_int"}, "query 'qa': technique: r_int cannot be used"),
        ({"price": "free"}, "there is no price 'free'"),
    ):
        with pytest.raises(weft.BadRequest) as caught:
            weft.compare(EXAMPLE_3, STATS, **given)  # type: ignore[arg-type]
        assert said in str(caught.value)
    with pytest.raises(weft.BadRequest, match="the workload is empty"):
        weft.compare(weft.Workload([]))
    with pytest.raises(weft.BadRequest, match="is no stats"):
        weft.compare(EXAMPLE_3, 5)  # type: ignore[arg-type]
