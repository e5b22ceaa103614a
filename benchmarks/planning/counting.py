"""Counting: the bit set, F1, and what replaces both.

Shein and Chrysanthis, TKDE 2020, Figure 16, runs Weave Share with either way of counting edges on more and more
windows: the same plans, up to 60,000 times faster by F1. Here the loop with the table of benefits counts every union
that it weighs in one of these ways, for slides from the divisors of 1,000 and of 1,000,000; `weft` is Weave Share
itself, which collapses equal edges, and is given a million windows more.

Then single counts: so many unrelated slides from 60 to 3,600 s, where the period explodes (a bit set's limit) and so do
the terms (F1's); with windows that end where others begin, and with ends of their own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations
from statistics import median
from typing import Any

import numpy as np

import measure
import weft
from planning.goals import Say, forget, timed
from weft.papers.workloads import Setting, divisors, windows
from weft.slicing import bit_set, divisor_lattice, f1, residue_splitting
from weft.slicing.density import density
from weft.slicing.edges import Classes, reduced

WAYS: dict[str, Callable[[Classes], Fraction]] = {
    "bit set": bit_set.density,
    "F1": f1.density,
    "lattice": divisor_lattice.density,
    "splitting": residue_splitting.density,
    "door": density,
}
LOOPED = ("bit set", "F1", "door")
FIGURE = ((1_000, 16), (1_000, 64), (1_000_000, 16), (1_000_000, 32))
MANY = 1_000_000
SLIDES = (2, 3, 4, 8, 12, 16, 50, 2_000)
RATE = 1


def run(runs: int, say: Say) -> dict[str, Any]:
    """The figure, then single counts."""
    found: dict[str, Any] = {"figure 16": {}, "single": {}}
    for longest, count in FIGURE:
        setting = Setting(count, divisors(longest), 10, RATE)
        ranges, slides = windows(setting, np.random.default_rng(2))
        trees = [((slide, 0),) for slide in slides.tolist()]
        overlaps = [Fraction(r, s) for r, s in zip(ranges.tolist(), slides.tolist(), strict=True)]
        plan = weft.optimize(_asked(ranges, slides), weft.Stats(rate=RATE), technique="panes")
        jobs = {way: lambda way=way: _loop_for(way, trees, overlaps, plan.cost) for way in LOOPED}  # noqa: B023
        jobs["weft"] = lambda: _weft(ranges, slides)  # noqa: B023
        samples = measure.side_by_side(jobs, runs if longest == 1_000 else 1, lambda _: None, warm=True)
        found["figure 16"][f"{count} windows, slides up to {longest:,}"] = samples
        _told(say, f"{count} windows, slides up to {longest:,}", samples)
    ranges, slides = windows(Setting(MANY, divisors(1_000_000), 10, RATE), np.random.default_rng(2))
    found[f"weft, {MANY:,} windows"] = seconds = _weft(ranges, slides)
    say(f"  {MANY:,} windows, slides up to 1,000,000: {seconds:.2f} s by weft")
    say("")
    say(f"  {'edges of one union, ms':<28}{''.join(f'{way:>11}' for way in WAYS)}")
    for ends in (False, True):
        for count in SLIDES if not ends else SLIDES[:-1]:
            name, row = _single(count, ends)
            found["single"][name] = row
            cells = (f"{1e3 * row[way]:,.3f}" if way in row else "-" for way in WAYS)
            say(f"  {name:<28}{''.join(f'{cell:>11}' for cell in cells)}")
    most = max(row["bit set"] / row["F1"] for row in found["single"].values() if "bit set" in row)
    found["F1 times faster than the bit set, at most"] = most
    say(f"  F1 is up to {most:,.0f} times faster than the bit set, where that can be waited for")
    say("  - cannot: a period beyond 4 x 10^9 ticks, 2^16 terms, 10^6 divisors, or no instant in common")
    return found


def _asked(ranges: Any, slides: Any) -> weft.Workload:
    return weft.Workload.windows(ranges, slides, unit="seconds", measures="count(*)")


def _weft(ranges: Any, slides: Any) -> float:
    forget()
    return timed(lambda: weft.optimize(_asked(ranges, slides), weft.Stats(rate=RATE), technique="panes"))[0]


def _told(say: Say, name: str, samples: dict[str, list[float]]) -> None:
    times = {way: median(samples[way]) for way in samples}
    line = ", ".join(f"{way} {seconds:.4f} s" for way, seconds in times.items())
    say(f"  {name:<36} {line}; F1 {times['bit set'] / times['F1']:,.1f} times faster than the bit set")


def _loop_for(way: str, trees: Sequence[Classes], overlaps: Sequence[Fraction], cost: Fraction) -> float:
    """Seconds of the loop; raises where it plans anything else than Weave Share."""
    forget()
    seconds, found = timed(lambda: _loop(trees, overlaps, WAYS[way]))
    if found != cost:
        raise weft.RunFailed(f"the loop that counts by {way} plans for {found} instead of {cost}")
    return seconds


def _loop(trees: Sequence[Classes], overlaps: Sequence[Fraction], count: Callable[[Classes], Fraction]) -> Fraction:
    """What Weave Share's plan costs, every union counted by `count`; benefits are kept in a table."""
    pairs = zip(trees, overlaps, strict=True)
    live = {i: (classes, overlap, RATE + count(classes) * overlap) for i, (classes, overlap) in enumerate(pairs)}
    table: dict[tuple[int, int], tuple[Fraction, Any]] = {}
    while True:
        for i, j in combinations(sorted(live), 2):
            if (i, j) not in table:
                (left, mine, apart), (right, theirs, there) = live[i], live[j]
                union, overlap = reduced(left + right), mine + theirs
                cost = RATE + count(union) * overlap
                table[i, j] = apart + there - cost, (union, overlap, cost)
        if not table or max(benefit for benefit, _ in table.values()) <= 0:
            return sum((cost for _, _, cost in live.values()), Fraction(0))
        i, j = max(sorted(table), key=lambda pair: table[pair][0])
        live[i] = table[i, j][1]
        del live[j]
        table = {pair: kept for pair, kept in table.items() if not {i, j} & set(pair)}


def _single(count: int, ends: bool) -> tuple[str, dict[str, float]]:
    """Seconds of each way that can count these slides; raises where two differ."""
    rng = np.random.default_rng(count)
    slides = rng.integers(60, 3_601, count).tolist()
    classes = reduced([(s, 0) for s in slides] + [(s, int(rng.integers(s))) for s in slides if ends])
    period = math.lcm(*(modulus for modulus, _ in classes))
    powers = divisor_lattice.divisor_powers(modulus for modulus, _ in classes)
    able = {
        "bit set": period <= 4 * 10**9,
        "F1": len(classes) <= 16,
        "lattice": not ends and math.prod(exponent + 1 for _, exponent in powers) <= 10**6,
    }
    row, answers = {}, set()
    for way in WAYS:
        if able.get(way, True):
            spent = []
            while len(spent) < 3 and sum(spent) < 1:
                forget()
                seconds, answer = timed(lambda: WAYS[way](classes))  # noqa: B023
                spent.append(seconds)
                answers.add(answer)
            row[way] = median(spent)
    if len(answers) > 1:
        raise weft.RunFailed(f"{count} slides are counted differently")
    return f"{count:,} slides{', ends apart' if ends else ''}", row
