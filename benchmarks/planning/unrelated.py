"""Unrelated slides: 2,000 windows whose common period has thousands of digits.

Slides are drawn from all whole seconds between a minute and a day. Ranges are multiples of them, or any whole second up
to fifty times as long, where hundreds of windows together cannot be counted. A tree that cannot is cut at every second,
and its count is exact again; the output says how many were.

What was counted is checked by other means: trees with a short common period by laying it out, the largest ones by
asking 200,000 instants, drawn from 2^62 seconds, whether they are an edge.
"""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import median
from typing import Any

import numpy as np

import weft
from planning.goals import Say, forget, reached, timed
from weft.plans.plan import Tree
from weft.slicing import bit_set

COUNT, DRAWN, SHORT = 2_000, 200_000, 1 << 22
SECOND = 1_000_000


def workload(kind: str) -> weft.Workload:
    rng = np.random.default_rng(3)
    slides = rng.integers(60, 86_401, COUNT)
    if kind == "multiples":
        ranges = slides * rng.integers(1, 51, COUNT)
    else:
        ranges = np.rint(slides * rng.uniform(1, 50, COUNT)).astype(np.int64)
    return weft.Workload.windows(ranges, slides, unit="seconds", measures="count(*)")


def hit(tree: Tree, instants: np.ndarray[Any, Any]) -> float:
    """The share of the instants, in seconds, that are edges."""
    edges = np.zeros(len(instants), bool)
    for modulus, residue in tree.slices:
        edges |= instants % (modulus // SECOND) == residue // SECOND
    return float(edges.mean())


def checked(plan: weft.Plan) -> tuple[int, int]:
    """How many trees were laid out, and how many were asked at random instants; raises where a count is wrong."""
    laid_out = asked = 0
    largest = sorted(plan.trees, key=lambda tree: -len(tree.slices))[:8]
    instants = np.random.default_rng(5).integers(0, 1 << 62, DRAWN)
    for tree in plan.trees:
        period = math.lcm(*(modulus // SECOND for modulus, _ in tree.slices))
        if period <= SHORT:
            classes = [(modulus // SECOND, residue // SECOND) for modulus, residue in tree.slices]
            edges = np.count_nonzero(bit_set.laid_out(classes, 0, period))
            right, laid_out = tree.edge_rate == Fraction(int(edges), period), laid_out + 1
        elif tree in largest:
            share, rate = hit(tree, instants), float(tree.edge_rate)
            right, asked = abs(share - rate) <= 5 * (rate * (1 - rate) / DRAWN) ** 0.5, asked + 1
        else:
            continue
        if not right:
            raise weft.RunFailed(f"{float(tree.edge_rate)} edges per second is wrong", query=str(tree.queries[0]))
    return laid_out, asked


def run(runs: int, say: Say) -> dict[str, Any]:
    """Plan both kinds, from cold caches."""
    found: dict[str, Any] = {}
    for kind in ("multiples", "any"):
        asked = workload(kind)
        bits = math.lcm(*asked.slides.tolist()).bit_length()
        seconds = []
        for _ in range(runs):
            forget()
            spent, plan = timed(lambda: weft.optimize(asked, weft.Stats(rate=50), technique="panes"))  # noqa: B023
            seconds.append(spent)
        laid_out, by_chance = checked(plan)
        everywhere = sum(tree.slices[0][0] == SECOND for tree in plan.trees)
        found[kind] = {"seconds": seconds, "trees": len(plan.trees), "bits": bits, "cost": float(plan.cost)}
        others = ", ".join(f"{name} {float(cost):,.0f}" for name, cost in plan.alternatives)
        say(
            f"  {kind:<10} {median(seconds):5.2f} s, a common period of {bits:,} bits; {len(plan.trees)} trees at"
            f" {float(plan.cost):,.0f} ({others}); {everywhere} of them cut at every second"
        )
        say(f"  {'':<10} edge rates: {laid_out} checked by laying them out, {by_chance} by {DRAWN:,} random instants")
    slowest = max(median(found[kind]["seconds"]) for kind in ("multiples", "any"))
    found["goals"] = [reached(say, "a plan of 2,000 windows with unrelated slides", slowest, 20, "s")]
    return found
