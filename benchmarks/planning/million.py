"""A million windows: planned in a process of its own, on one core, with its peak memory; and once more by plain greed.

Slides are drawn from the sixteen divisors of 1,000 seconds, ranges up to fifty times as long: multiples of their
slides, which leaves 16 different sets of edges, or any whole second, which leaves 2,340.

The plain greedy loop knows nothing of ours: edges as rows of ones and zeros, unions by a matrix product, the benefits
of all pairs in one table of whole numbers, and the largest one, the first of several, looked up in all of it each time.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from fractions import Fraction
from statistics import median
from typing import Any

import numpy as np
import numpy.typing as npt

COUNT, PERIOD = 1_000_000, 1_000
CASES = (("multiples", 50), ("multiples", 100_000), ("any", 50), ("any", 100_000))
Whole = npt.NDArray[np.int64]


def windows(kind: str) -> tuple[Whole, Whole]:
    """Ranges and slides in seconds."""
    rng = np.random.default_rng(1)
    slides = rng.choice([slide for slide in range(1, PERIOD + 1) if PERIOD % slide == 0], COUNT).astype(np.int64)
    if kind == "multiples":
        return slides * rng.integers(1, 51, COUNT), slides
    return np.maximum(np.rint(slides * rng.uniform(1, 50, COUNT)), 1).astype(np.int64), slides


def planned(kind: str, rate: int, technique: str) -> dict[str, Any]:
    """Plan it in this process, which does nothing else."""
    import weft

    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    ranges, slides = windows(kind)
    clock, cpu = time.perf_counter(), time.process_time()
    workload = weft.Workload.windows(ranges, slides, unit="seconds", measures="count(*)")
    plan = weft.optimize(workload, weft.Stats(rate=rate), technique=technique)
    clock, cpu = time.perf_counter() - clock, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return {"clock": clock, "cpu": cpu, "peak": peak, "trees": len(plan.trees), "cost": str(plan.cost)}


def plain_greedy(kind: str, rate: int) -> tuple[int, Fraction]:
    """Trees and cost of the greedy loop, written down once more."""
    ranges, slides = windows(kind)
    signature = slides * PERIOD + ranges % slides
    _, first, which = np.unique(signature, return_index=True, return_inverse=True)
    order = np.argsort(first)
    edges = np.zeros((len(first), PERIOD), np.float32)
    for row, query in enumerate(first[order].tolist()):
        for residue in (0, ranges[query] % slides[query]):
            edges[row, residue :: slides[query]] = 1
    # costs per million seconds: edges in 1,000 seconds times a thousand overlaps
    weights = np.zeros(len(first), np.int64)
    np.add.at(weights, np.argsort(order)[which], ranges * (PERIOD // slides))
    counts = edges.sum(axis=1).astype(np.int64)
    unions = counts[:, None] + counts - (edges @ edges.T).astype(np.int64)
    work, a_pass = counts * weights, rate * PERIOD * 1_000
    table = np.triu(a_pass + work[:, None] + work - unions * (weights[:, None] + weights), 1)
    alive = np.ones(len(first), bool)
    while table.max() > 0:
        i, j = np.unravel_index(int(table.argmax()), table.shape)  # the first of several
        edges[i] = np.maximum(edges[i], edges[j])
        weights[i] += weights[j]
        counts[i], alive[j] = edges[i].sum(), False
        work[i] = counts[i] * weights[i]
        common = (edges @ edges[i]).astype(np.int64)
        benefits = a_pass + work + work[i] - (counts + counts[i] - common) * (weights + weights[i])
        benefits[~alive] = 0
        table[j], table[:, j] = 0, 0
        table[i, i + 1 :], table[:i, i] = benefits[i + 1 :], benefits[:i]
        if 4 * np.count_nonzero(alive) < 3 * len(alive):
            edges, weights, counts, work = edges[alive], weights[alive], counts[alive], work[alive]
            table, alive = table[np.ix_(alive, alive)], alive[alive]
    total = int(work[alive].sum()) + a_pass * np.count_nonzero(alive)
    return int(np.count_nonzero(alive)), Fraction(total, PERIOD * 1_000)


def run(runs: int, say: Any) -> dict[str, Any]:
    """Every case in fresh processes, and against the plain loop."""
    from planning.goals import reached
    from weft.errors import RunFailed

    found: dict[str, Any] = {}
    for kind, rate in CASES:
        name = f"{kind} at {rate:,}"
        samples = [_child(kind, rate, "panes") for _ in range(runs)]
        trees, cost = plain_greedy(kind, rate)
        if any((sample["trees"], Fraction(sample["cost"])) != (trees, cost) for sample in samples):
            raise RunFailed(f"{name}: the plan is not that of the plain greedy loop, {trees} trees at {cost}")
        found[name] = samples
        clock, cpu, peak = (median(sample[what] for sample in samples) for what in ("clock", "cpu", "peak"))
        say(
            f"  {name:<22} {cpu:5.2f} s of one core ({clock:5.2f} s), peak {peak / 2**20:4.0f} MiB;"
            f" {trees} trees at {float(cost):,.0f}, as by plain greed"
        )
    free = found["any at 50, technique auto"] = [_child("any", 50, "auto")]
    say(f"  any at 50, auto        {free[0]['cpu']:5.2f} s of one core, {free[0]['trees']} tree")
    everything = [sample for samples in found.values() for sample in samples]
    slowest = max(median(sample["cpu"] for sample in samples) for samples in found.values())
    found["goals"] = [
        reached(say, "a plan of 1,000,000 windows on one core", slowest, 3, "s"),
        reached(say, "peak memory", max(sample["peak"] for sample in everything) / 2**30, 2, "GiB"),
    ]
    return found


def _child(kind: str, rate: int, technique: str) -> dict[str, Any]:
    command = [sys.executable, __file__, kind, str(rate), technique]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ)
    return dict(json.loads(done.stdout))


if __name__ == "__main__":
    print(json.dumps(planned(sys.argv[1], int(sys.argv[2]), sys.argv[3])))
