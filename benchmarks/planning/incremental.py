"""Incremental: 10,000 queries come and go among 1,000, woven in and out one at a time.

Slides are the divisors of 1,000 seconds, ranges any whole second up to fifty times as long; half of the changes remove
a query drawn at random. Plans from scratch are made in the background, as on a running stream. What is checked:

- after every change, the plan is within the tolerance of what the plan-cost curve leads one to expect, or all queries
  are being planned from scratch;
- every 1,000 changes, when nothing is left to be taken over, it is within the tolerance of Weave Share's plan of the
  same queries, made from scratch.
"""

from __future__ import annotations

import random
from statistics import median, quantiles
from typing import Any

import weft
from planning.goals import Say, reached, timed
from weft.papers.workloads import divisors
from weft.planners.weaver import TOLERANCE, Weaver

LIVE, CHANGES, LOOK = 1_000, 10_000, 1_000
CASES = (("panes", 50.0, TOLERANCE), ("panes", 0.5, TOLERANCE), ("auto", 50.0, TOLERANCE))
"""Techniques, rows per second, and the tolerance."""
SLIDES = divisors(1_000)


class Queries:
    """Queries drawn by chance. State: the next name."""

    def __init__(self) -> None:
        self._draw, self._next = random.Random(5), 0

    def one(self) -> weft.Query:
        self._next += 1
        slide = self._draw.choice(SLIDES)
        size = max(1, round(slide * self._draw.uniform(1, 50)))
        window = weft.Window.of(size * 1_000_000, slide * 1_000_000)
        return weft.Query(f"q{self._next}", "count(*)", window)

    def leaves(self, live: list[str]) -> str | None:
        """Who leaves; None if somebody comes."""
        if len(live) <= LIVE - 100 or (self._draw.random() < 0.5 and len(live) < LIVE + 100):
            return None
        i = self._draw.randrange(len(live))
        live[i], live[-1] = live[-1], live[i]
        return live.pop()


def run(runs: int, say: Say) -> dict[str, Any]:
    """Every case once: 10,000 samples are enough."""
    found: dict[str, Any] = {}
    for technique, rate, tolerance in CASES:
        name = f"{technique} at {rate:g}, tolerance {float(tolerance):.0%}"
        found[name] = case = _case(technique, rate, tolerance)
        say(
            f"  {name}: {case['median'] * 1e3:.2f} ms a change, p99 {case['p99'] * 1e3:.1f} ms;"
            f" {case['comparisons']:,.0f} pairs weighed a change; {case['reconstructions']} plans from scratch"
            f" ({case['reconstructions before']} while the first {LIVE:,} came)"
        )
        say(
            f"  {'':<20} {case['trees']} trees; above a plan from scratch ({case['scratch'] * 1e3:.0f} ms):"
            f" median {100 * case['above scratch median']:.2f} %, at most {100 * case['above scratch']:.2f} %"
        )
    found["goals"] = [
        reached(say, "median of a change", 1e3 * max(case["median"] for case in found.values()), 5, "ms"),
        reached(say, "above a plan from scratch", 100 * max(case["above scratch"] for case in found.values()), 20, "%"),
    ]
    return found


def _case(technique: str, rate: float, tolerance: Any) -> dict[str, Any]:
    queries, weaver = Queries(), Weaver(weft.Stats(rate=rate), technique, tolerance=tolerance)
    live = []
    for _ in range(LIVE):
        query = queries.one()
        weaver.add(query)
        live.append(query.id)
    weaver.settle()
    made, weighed = weaver.reconstructions, weaver.comparisons
    seconds, above, scratch = [], [], []
    for number in range(1, CHANGES + 1):
        gone = queries.leaves(live)
        if gone is None:
            query = queries.one()
            spent, change = timed(lambda: weaver.add(query))  # noqa: B023
            live.append(query.id)
        else:
            spent, change = timed(lambda: weaver.remove(gone))  # noqa: B023
        seconds.append(spent)
        if change.deviation > weaver.tolerance and not (change.reconstructed or weaver.reconstructing):
            raise weft.RunFailed(f"the plan is {float(change.deviation):.0%} above the curve, and nobody minds")
        if number % LOOK == 0:
            weaver.settle()
            if weaver.deviation > tolerance:
                raise weft.RunFailed(f"the plan is still {float(weaver.deviation):.0%} above the curve")
            plan = weaver.plan()
            if plan.cost != weaver.cost or len(plan.workload) != len(live):
                raise weft.RunFailed("the plan does not cost what the weaver says")
            spent, anew = timed(lambda: weft.optimize(plan.workload, plan.stats, technique=technique))  # noqa: B023
            above.append(float(plan.cost / anew.cost - 1))
            scratch.append(spent)
    return {
        "median": median(seconds),
        "p99": quantiles(seconds, n=100)[98],
        "worst": max(seconds),
        "comparisons": (weaver.comparisons - weighed) / CHANGES,
        "reconstructions before": made,
        "reconstructions": weaver.reconstructions - made,
        "trees": len(plan.trees),
        "above scratch": max(above),
        "above scratch median": median(above),
        "scratch": median(scratch),
    }
