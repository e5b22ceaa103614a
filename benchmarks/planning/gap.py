"""Gap: how far greed is from the best plan, on every workload of the papers' figures.

Where windows collapse to sixteen sets of edges or fewer, `optimal` compares all partitions. Beyond, it is branch and
bound: its plan is the best that is known, and what it proves is that no plan is cheaper by more than its certified gap.
"""

from __future__ import annotations

from fractions import Fraction
from statistics import median
from typing import Any

import numpy as np

import weft
from planning.goals import Say, forget, reached, timed
from weft.papers.workloads import CIKM_FIGURES, TKDE_TABLE_4, Setting, divisors, workload
from weft.planners.optimize import Request
from weft.planners.subsets import MOST

SEEDS = (1, 2, 3, 4, 5)
TECHNIQUES = ("panes", "flatfit")
BEYOND = (("experiment 2", 3), ("experiment 2", 4), ("figure 4", 0), ("figure 4", 1), ("figure 8", 5))
STEPS = 500


def run(runs: int, say: Say) -> dict[str, Any]:
    """Sixteen classes against the clock, then the figures."""
    sixteen = _sixteen(runs)
    seconds = median(seconds for each in sixteen.values() for seconds in each)
    slowest = max(median(each) for each in sixteen.values())
    say(f"  optimal, 16 classes: {seconds:.2f} s ({', '.join(f'{k} {median(v):.2f}' for k, v in sixteen.items())})")
    gaps: dict[str, list[float]] = {technique: [] for technique in TECHNIQUES}
    figures = {**TKDE_TABLE_4, **CIKM_FIGURES}
    for name, settings in figures.items():
        for setting in settings:
            for seed in SEEDS if setting.queries <= 1_000 else SEEDS[:1]:
                asked = workload(setting, seed)
                if len(Request(asked, weft.Stats(rate=setting.rate)).families()[0].collapsed) > MOST:
                    break
                for technique in TECHNIQUES:
                    gaps[technique].append(_gap(asked, setting, technique, name))
    for technique, found in gaps.items():
        say(
            f"  Weave Share on {len(found)} workloads of the figures, {technique}: {100 * median(found):.2g} % above"
            f" the best plan (median), {100 * max(found):.2g} % at worst, {sum(gap > 0 for gap in found)} not the best"
        )
    beyond = {}
    for name, number in BEYOND:
        setting = figures[name][number]
        asked, stats = workload(setting, 1), weft.Stats(rate=setting.rate)
        spent, best = timed(lambda: weft.optimize(asked, stats, "optimal", "panes", steps=STEPS))  # noqa: B023
        woven = weft.optimize(asked, stats, technique="panes")
        classes = len(Request(asked, stats).families()[0].collapsed)
        found = {
            "classes": classes,
            "above the best known": float(woven.cost / best.cost - 1),
            "certified": float(best.gap or 0),
            "seconds": spent,
        }
        what = f"{name}, {setting.queries} windows at {float(setting.rate):,g} rows/s, {classes} classes"
        beyond[what] = found
        say(
            f"  {what}: Weave Share {100 * found['above the best known']:.2g} % above the best"
            f" known, which is within {100 * found['certified']:.2g} % of any ({spent:.1f} s)"
        )
    goals = [reached(say, "optimal on 16 classes", slowest, 1, "s")]
    return {"sixteen": sixteen, "gaps": gaps, "beyond": beyond, "goals": goals}


def _sixteen(runs: int) -> dict[str, list[float]]:
    """Seconds for sixteen classes: slides that divide a second's thousand, divisors of a day, and unrelated ones."""
    rng = np.random.default_rng(4)
    day = [slide for slide in range(60, 86_401) if 86_400 % slide == 0]
    drawn = {
        "divisors of 1,000": (np.array(divisors(1_000)), 1),
        "of a day, ends apart": (rng.choice(day, 16, replace=False), 7),
        "unrelated": (rng.choice(np.arange(60, 3_601), 16, replace=False), 1),
    }
    found: dict[str, list[float]] = {}
    for name, (slides, parts) in drawn.items():
        ranges = slides * rng.integers(1, 51, 16) + (slides // parts if parts > 1 else 0)
        asked = weft.Workload.windows(ranges, slides, unit="seconds", measures="count(*)")
        found[name] = []
        for _ in range(runs):
            forget()
            spent, plan = timed(lambda: weft.optimize(asked, weft.Stats(rate=5), "optimal", "panes"))  # noqa: B023
            found[name].append(spent)
            if plan.bound != plan.cost:
                raise weft.RunFailed(f"optimal is not sure of its plan: {name}")
    return found


def _gap(asked: weft.Workload, setting: Setting, technique: str, name: str) -> float:
    stats = weft.Stats(rate=setting.rate)
    woven, best = (weft.optimize(asked, stats, planner, technique).cost for planner in ("weave_share", "optimal"))
    if woven < best * (1 - Fraction(1, 10**12)):
        raise weft.RunFailed(f"{name}: Weave Share's plan is cheaper than the best one")
    return max(float(woven / best - 1), 0.0)
