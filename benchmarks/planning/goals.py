"""Goals: what a part was to reach, and whether it did."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

from weft.planners.prices import cut
from weft.slicing import density

Say = Callable[[str], None]
Found = TypeVar("Found")


def reached(say: Say, what: str, value: float, most: float, unit: str) -> dict[str, Any]:
    """Say whether a number is small enough."""
    met = value <= most
    say(f"  {'reached' if met else 'MISSED '}  {what}: {value:,.3g} {unit}, to be at most {most:,.4g}")
    return {"goal": what, "value": value, "most": most, "unit": unit, "reached": met}


def timed(work: Callable[[], Found]) -> tuple[float, Found]:
    """Seconds on the clock, and what came out."""
    begin = time.perf_counter()
    found = work()
    return time.perf_counter() - begin, found


def forget() -> None:
    """Forget all edges counted so far, so that they are counted again."""
    cut.cache_clear()
    density._per_tick.cache_clear()
