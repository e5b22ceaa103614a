"""Ablation: what each of the paper's optimisations of the Weave Share loop is worth.

Guirguis et al., CIKM 2011, Figure 14: 250 windows, 100 rows per second, a skew of 0.7 and overlaps up to 10. Slides are
the divisors of 1,000, as the paper does not print its own. Steps are counted as `planners/paper_loop.py` says; at 80
windows all the loops are run for real, and timed in turns. The last line puts windows with equal edges together first,
as every planner of Weft does; what Weave Share itself takes is told beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from statistics import median
from typing import Any

import measure
import weft
from planning.goals import Say, reached, timed
from weft.papers.workloads import CIKM_FIGURES, workload
from weft.planners.optimize import Request
from weft.planners.paper_loop import Woven, paper_loop

FIGURE = CIKM_FIGURES["figure 14"][0]
LOOPS: Mapping[str, Mapping[str, bool]] = {
    "naive": {},
    "with cost lookup": {"cost_lookup": True},
    "with bitmap": {"cost_lookup": True, "bitmap": True},
    "with probing": {"cost_lookup": True, "bitmap": True, "probe_smaller": True},
}
COLLAPSED = "and equal edges first"
SEEDS, RUN, LARGE = (1, 2, 3), 80, 500


def run(runs: int, say: Say) -> dict[str, Any]:
    """Count at the figure's size and at twice that, run where it can be waited for."""
    found: dict[str, Any] = {"steps": [_counted(FIGURE.queries, seed) for seed in SEEDS]}
    counts = {name: median(each[name].overhead.steps for each in found["steps"]) for name in (*LOOPS, COLLAPSED)}
    taken = _timed(runs)
    naive, slowest = counts["naive"], median(taken["naive"])
    for name in (*LOOPS, COLLAPSED):
        say(
            f"  {name:<22} {counts[name]:>13,.0f} steps ({naive / counts[name]:7,.1f} times fewer);"
            f" {RUN} windows in {median(taken[name]):7.4f} s ({slowest / median(taken[name]):6,.1f})"
        )
    probes = median(each["naive"].overhead.steps / each["with probing"].overhead.probes for each in found["steps"])
    say(f"  without the bits written where trees merge, probing takes {probes:,.0f} times fewer")
    say(f"  {'Weave Share as it is':<22} {RUN} windows in {median(taken['weave_share']):7.4f} s, the same plan")
    large = _counted(LARGE, 1, ("naive", COLLAPSED))
    fewer = large["naive"].overhead.steps / large[COLLAPSED].overhead.steps
    say(f"  at {LARGE} windows the last line takes {fewer:,.0f} times fewer steps than the naive loop")
    found["steps"] = [{name: each[name].overhead.steps for name in each} for each in found["steps"]]
    found |= {"seconds": taken, f"times fewer at {LARGE}": fewer, "times fewer probes": probes}
    found["goals"] = [reached(say, "steps of the best loop per 1,000 of the naive one", 1_000 / fewer, 1, "steps")]
    return found


def _counted(queries: int, seed: int, names: tuple[str, ...] = (*LOOPS, COLLAPSED)) -> dict[str, Woven]:
    """What each loop takes; raises where one plans anything else than Weave Share."""
    asked = workload(replace(FIGURE, queries=queries), seed)
    family = Request(asked, weft.Stats(rate=FIGURE.rate), technique="panes").families()[0]
    found = {}
    for name in names:
        start = family.collapsed if name == COLLAPSED else family.alone
        switches = LOOPS.get(name, LOOPS["with probing"])
        found[name] = paper_loop(start, family.price, execute=False, **switches)
    plan = weft.optimize(asked, weft.Stats(rate=FIGURE.rate), technique="panes")
    if {each.cost for each in found.values()} != {plan.cost}:
        raise weft.RunFailed(f"the loops plan differently for {queries} windows, seed {seed}")
    return found


def _timed(runs: int) -> dict[str, list[float]]:
    """All loops on fewer windows, in turns."""
    asked, stats = workload(replace(FIGURE, queries=RUN), 1), weft.Stats(rate=FIGURE.rate)
    family = Request(asked, stats, technique="panes").families()[0]
    family.alone, family.collapsed  # noqa: B018  # worked out once, outside the clock
    jobs = {
        name: lambda switches=switches: timed(lambda: paper_loop(family.alone, family.price, **switches))[0]
        for name, switches in LOOPS.items()
    }
    best = LOOPS["with probing"]
    jobs[COLLAPSED] = lambda: timed(lambda: paper_loop(family.collapsed, family.price, **best))[0]
    jobs["weave_share"] = lambda: timed(lambda: weft.optimize(asked, stats, technique="panes"))[0]
    return measure.side_by_side(jobs, runs, lambda _: None)
