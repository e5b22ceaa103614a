"""The planners' benchmark: what they reach, in time, in steps, and in how good the plans are.

Each part asks one question, checks the plans that it timed by other means, and says which goals it reaches:

    million        1,000,000 windows given as arrays
    unrelated      2,000 windows whose common period has thousands of digits
    ablation       the paper's optimisations of Weave Share, one by one
    counting       edges by bit set, by F1, and by what replaces both
    gap            Weave Share against the best plan
    incremental    10,000 changes among 1,000 live queries
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import measure
from planning import ablation, counting, gap, incremental, million, unrelated

PARTS = {
    "million": million.run,
    "unrelated": unrelated.run,
    "ablation": ablation.run,
    "counting": counting.run,
    "gap": gap.run,
    "incremental": incremental.run,
}


def main(runs: int = 3, say: Callable[[str], None] = print) -> dict[str, Any]:
    """Run all parts and return the numbers."""
    result: dict[str, Any] = {"runs": runs, "load before": os.getloadavg()}
    for name, part in PARTS.items():
        say(name)
        begin = time.perf_counter()
        result[name] = part(runs, say)
        result[name]["took"] = time.perf_counter() - begin
        say("")
    result["load after"] = os.getloadavg()
    goals = [goal for name in PARTS for goal in result[name].get("goals", ())]
    met = sum(goal["reached"] for goal in goals)
    say(f"{met} of {len(goals)} goals reached; load average {result['load before'][0]:.1f} at the beginning")
    say(f"kept in {measure.save('planners', result, runs >= 3).relative_to(measure.ROOT)}")
    return result
