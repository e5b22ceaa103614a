"""Plain costs: windows in seconds, their edges counted one by one, and the papers' formulas as they stand there.

Everything that a planner does fast is done slowly here: (range, slide) or (range, slide, offset) in, fractions out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any, TypeVar

from hypothesis import settings
from hypothesis import strategies as st

import weft
from weft.planners.candidates import Candidate, candidates
from weft.planners.prices import PRICES, Price, choose_techniques
from weft.plans.kin import kin

SECOND = 1_000_000
TYPES = {"n": "bigint", "x": "double"}
Sizes = tuple[int, ...]
Thing = TypeVar("Thing")

slides = st.sampled_from((1, 2, 3, 4, 5, 6, 8, 9, 10, 12))
plain_sizes = st.tuples(st.integers(1, 30), slides, st.sampled_from((0, 0, 0, 1, 4)))


@st.composite
def different(draw: st.DrawFn, least: int = 1, most: int = 6) -> list[Sizes]:
    """Windows of which no two have the same edges."""
    return draw(st.lists(plain_sizes, min_size=least, max_size=most, unique_by=lambda size: edge_set([size])))


def window(size: int, slide: int, offset: int = 0) -> weft.Window:
    return weft.Window.of(size * SECOND, slide * SECOND, offset * SECOND)


def workload(sizes: Sequence[Sizes], measure: str = "max(x)", **fields: Any) -> weft.Workload:
    return weft.Workload([weft.Query(f"q{i}", measure, window(*size), **fields) for i, size in enumerate(sizes)])


def planned(
    sizes: Sequence[Sizes], rate: float | Fraction, planner: str, technique: str = "panes", **options: Any
) -> weft.Plan:
    return weft.optimize(workload(sizes), weft.Stats(rate=rate), planner, technique, **options)


def partition(plan: weft.Plan) -> list[list[int]]:
    return [tree.queries.tolist() for tree in plan.trees]


def alone(
    asked: weft.Workload,
    stats: weft.Stats,
    technique: str = "panes",
    slicing: str = "pairs",
    reading: str = "operations",
) -> tuple[list[Candidate], Price]:
    """A candidate for every query of a workload of one kin, and the price."""
    (positions,) = kin(asked)
    grouped = bool(asked[0].group_by)
    rows = asked[0].window.unit == "rows"
    price = PRICES[reading](stats, stats.keys if grouped else 1, rows, choose_techniques(technique))
    return candidates(asked, positions, slicing, bool(stats.filters), alone=True), price


def family(sizes: Sequence[Sizes], rate: float | Fraction, technique: str = "panes") -> tuple[list[Candidate], Price]:
    return alone(workload(sizes), weft.Stats(rate=rate), technique)


def edges(sizes: Sequence[Sizes], period: int) -> set[int]:
    """Where windows begin and end, within a period."""
    found: set[int] = set()
    for size, slide, *offset in sizes:
        begin = sum(offset)
        for residue in (begin % slide, (begin + size) % slide):
            found.update(range(residue, period, slide))
    return found


def composite(sizes: Sequence[Sizes]) -> int:
    """The composite slide: the least common multiple of the slides."""
    return math.lcm(*(size[1] for size in sizes))


def edge_set(sizes: Sequence[Sizes]) -> tuple[int, frozenset[int]]:
    """The edges as the shortest pattern that repeats."""
    found = edges(sizes, composite(sizes))
    period = next(
        p for p in range(1, composite(sizes) + 1) if composite(sizes) % p == 0 and found == _repeated(found, p, sizes)
    )
    return period, frozenset(t for t in found if t < period)


def _repeated(found: set[int], period: int, sizes: Sequence[Sizes]) -> set[int]:
    return {t % period + k for t in found for k in range(0, composite(sizes), period)}


def edge_rate(sizes: Sequence[Sizes]) -> Fraction:
    """Edges per second."""
    return Fraction(len(edges(sizes, composite(sizes))), composite(sizes))


def overlap(sizes: Sequence[Sizes]) -> Fraction:
    """Equation 2 of Guirguis et al., CIKM 2011: range / slide, summed up."""
    return sum((Fraction(size[0], size[1]) for size in sizes), Fraction(0))


def cost(sizes: Sequence[Sizes], rate: Fraction) -> Fraction:
    """Equation 1 of the same: a pass over the rows, and every slice folded into every window that it is in."""
    return rate + edge_rate(sizes) * overlap(sizes)


def benefit(left: Sequence[Sizes], right: Sequence[Sizes], rate: Fraction) -> Fraction:
    """Equation 5 as printed: what a merge saves."""
    apart = edge_rate(left) * overlap(left) + edge_rate(right) * overlap(right)
    return rate + apart - edge_rate([*left, *right]) * (overlap(left) + overlap(right))


def greedy(trees: Sequence[Thing], cost: Callable[[Thing], Fraction], join: Callable[[Thing, Thing], Thing]) -> Any:
    """Figure 2 of the same: merge the pair that saves most, the first of several, while one saves anything."""
    found, saved = list(trees), []
    while len(found) > 1:
        benefits = {
            (i, j): cost(found[i]) + cost(found[j]) - cost(join(found[i], found[j]))
            for i, j in combinations(range(len(found)), 2)
        }
        i, j = max(benefits, key=lambda pair: (benefits[pair], -pair[0], -pair[1]))
        if benefits[i, j] <= 0:
            break
        saved.append(benefits[i, j])
        found[i] = join(found[i], found.pop(j))
    return found, saved


def partitions(things: Sequence[Thing]) -> Iterator[list[list[Thing]]]:
    """All set partitions: the first thing joins each tree of those of the rest, or stays alone."""
    if not things:
        yield []
        return
    for rest in partitions(things[1:]):
        yield [[things[0]], *rest]
        for i, tree in enumerate(rest):
            yield [*rest[:i], [things[0], *tree], *rest[i + 1 :]]


def best(things: Sequence[Thing], cost: Callable[[list[Thing]], Fraction]) -> Fraction:
    """The least that a partition costs."""
    known: dict[frozenset[int], Fraction] = {}

    def looked_up(tree: list[int]) -> Fraction:
        key = frozenset(tree)
        if key not in known:
            known[key] = cost([things[i] for i in sorted(tree)])
        return known[key]

    return min(sum(map(looked_up, trees), Fraction(0)) for trees in partitions(range(len(things))))


def fewer(times: int) -> settings:
    """Draw so many times fewer examples than the profile asks for."""
    return settings(max_examples=max(settings().max_examples // times, 1))
