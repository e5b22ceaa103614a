"""How far exact counting reaches, in CPU time of this machine: the tables of docs/decisions/0009-edge-counting.md.

python -m tests.slicing.reach
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Sequence
from typing import Any

from weft.slicing import density as door
from weft.slicing.density import METHODS, density, density_within
from weft.slicing.divisor_lattice import why_not
from weft.slicing.edge_sets import bit_rows, subset_edges
from weft.slicing.edges import Classes, EdgeClass, reduced

SLIDES = ((1, 200), (2, 200), (10, 1_000), (60, 3_600), (100, 10_000), (60, 86_400))
STEPS = (20_000, 200_000)


def windows(count: int, slides: Sequence[int], ends: bool, seed: int = 1) -> list[EdgeClass]:
    """Where random windows begin, at multiples of their slides, and where they end, if that is elsewhere."""
    rng = random.Random(seed)
    classes = []
    for _ in range(count):
        slide = rng.choice(slides)
        classes.append((slide, 0))
        if ends:
            classes.append((slide, rng.randrange(10**9) % slide))
    return classes


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    began = time.process_time()
    found = work()
    return time.process_time() - began, found


def random_slides() -> None:
    print("density_within, random slides: seconds, or None where it gave up\n")
    print("| slides | windows | ends | classes kept | 20,000 steps | 200,000 steps |\n|---|---|---|---|---|---|")
    for ends in (False, True):
        for shortest, longest in SLIDES:
            for count in (2_000,) if not ends else (50, 100, 200, 2_000):
                classes = windows(count, range(shortest, longest + 1), ends)
                took = []
                for steps in STEPS:
                    spent, found = seconds(lambda: density_within(classes, steps))  # noqa: B023
                    took.append(f"{spent:.2f}" if found is not None else f"None ({spent:.2f})")
                kept = len(reduced(classes))
                name = f"{shortest}..{longest}"
                print(
                    f"| {name} | {count} | {'random' if ends else 'at 0'} | {kept} | {' | '.join(took)} |", flush=True
                )


def ways() -> None:
    print("\nEach way, microseconds a set\n")
    print(f"| set | classes kept | {' | '.join(METHODS)} | density |\n|---|---|{'---|' * (len(METHODS) + 1)}")
    day = [slide for slide in range(60, 86_401) if 86_400 % slide == 0]
    for name, classes in (
        ("2 of 60..600", windows(2, range(60, 601), False)),
        ("2 of 60..600, ends", windows(2, range(60, 601), True)),
        ("8 of a day's divisors", windows(8, day, False)),
        ("8 of a day's divisors, ends", windows(8, day, True)),
        ("50 of a day's divisors, ends", windows(50, day, True)),
        ("8 of 60..3600", windows(8, range(60, 3_601), False)),
        ("8 of 60..3600, ends", windows(8, range(60, 3_601), True)),
        ("20 of 60..3600", windows(20, range(60, 3_601), False)),
        ("50 of 60..3600, ends", windows(50, range(60, 3_601), True)),
    ):
        kept = reduced(classes)
        row = []
        for method, count in (*METHODS.items(), ("", density_uncached)):
            sensible = {
                "naive_check": period_of(kept) <= 100_000,
                "bit_set": period_of(kept) <= 10**8,
                "f1": len(kept) <= 16,
                "signed_map": len(kept) <= 16,
                "divisor_lattice": period_of(kept) <= 10**12 and why_not(kept) is None,
            }
            row.append(f"{best_of(3, count, kept) * 1e6:,.0f}" if sensible.get(method, True) else "-")
        print(f"| {name} | {len(kept)} | {' | '.join(row)} |", flush=True)


def period_of(classes: Classes) -> int:
    return math.lcm(*(modulus for modulus, _ in classes))


def best_of(times: int, count: Callable[[Classes], Any], classes: Classes) -> float:
    return min(seconds(lambda: count(classes))[0] for _ in range(times))


def density_uncached(classes: Classes) -> object:
    door._per_tick.cache_clear()
    return density(classes)


def many_at_once() -> None:
    print("\nMany sets, milliseconds\n\n| what | time |\n|---|---|")
    rng = random.Random(1)
    thousand = [slide for slide in range(8, 1_001) if 1_000 % slide == 0]
    million = [slide for slide in range(60, 10**6 + 1) if 10**6 % slide == 0]
    for count, slides, period in ((2_500, thousand, 1_000), (500, million, 10**6)):
        sets: list[Classes] = [((slide, 0), (slide, rng.randrange(slide))) for slide in rng.choices(slides, k=count)]
        sets[0] = ((period, 0), (period, 1))
        spent, rows = seconds(lambda: bit_rows(sets))  # noqa: B023
        assert rows is not None
        print(f"| bit_rows of {count} sets, period {period:,} | {spent * 1e3:.1f} |")
        print(f"| all unions of one of them | {best_of(5, lambda _: rows.union_edges(0), ()) * 1e3:.2f} |")  # noqa: B023
    for period in (10**6, 64 * 10**6):
        slides = [slide for slide in range(60, 4_000) if period % slide == 0]
        sets = [((slide, 0), (slide, rng.randrange(slide))) for slide in rng.choices(slides, k=16)]
        sets[0] = ((period, 1),)
        print(f"| subset_edges of 16 sets, period {period:,} | {seconds(lambda: subset_edges(sets))[0] * 1e3:.0f} |")  # noqa: B023
    sets = [((rng.randint(60, 3_600), 0),) for _ in range(16)]
    print(f"| subset_edges of 16 random slides of 60..3600 | {seconds(lambda: subset_edges(sets))[0] * 1e3:.0f} |")
    for count in (5_000, 100_000):
        for name, longest in (("60..3600", 3_600), ("up to a day of milliseconds", 86_400_000)):
            classes = [(m, rng.randrange(m)) for m in (rng.randint(60, longest) for _ in range(count))]
            print(f"| reduced, {count:,} classes, {name} | {seconds(lambda: reduced(classes))[0] * 1e3:.0f} |")  # noqa: B023


if __name__ == "__main__":
    random_slides()
    ways()
    many_at_once()
