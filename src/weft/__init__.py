"""Weft weaves many sliding-window aggregate queries over one stream into a few shared executions on Apache Spark.

    workload = weft.Workload.from_file("queries.sql")
    plan     = weft.optimize(workload, weft.Stats(rate=5_000, keys=1_000))
    results  = weft.apply(events, plan)
    high     = weft.view(results, plan, "high")

Importing weft imports neither PySpark nor Numba: each name is loaded when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from weft.errors import BadRequest, RunFailed, WeftError
    from weft.planners import optimize
    from weft.planners.compare import compare
    from weft.planners.savings import savings
    from weft.planners.weaver import Weaver
    from weft.planners.what_if import what_if
    from weft.plans import Plan, Stats, Tree
    from weft.plans.diff import diff
    from weft.queries.query import Measure, Query
    from weft.queries.window import Window
    from weft.queries.workload import Workload
    from weft.registry import Registry
    from weft.spark import apply, native, view
    from weft.spark.stream.observing import StreamListener, micro_batch
    from weft.spark.stream.state import state

__version__ = "0.1.0"

_HOMES = {
    "BadRequest": "weft.errors",
    "Measure": "weft.queries.query",
    "Plan": "weft.plans",
    "Query": "weft.queries.query",
    "Registry": "weft.registry",
    "RunFailed": "weft.errors",
    "Stats": "weft.plans",
    "StreamListener": "weft.spark.stream.observing",
    "Tree": "weft.plans",
    "Weaver": "weft.planners.weaver",
    "WeftError": "weft.errors",
    "Window": "weft.queries.window",
    "Workload": "weft.queries.workload",
    "apply": "weft.spark",
    "compare": "weft.planners.compare",
    "diff": "weft.plans.diff",
    "micro_batch": "weft.spark.stream.observing",
    "native": "weft.spark",
    "optimize": "weft.planners",
    "savings": "weft.planners.savings",
    "state": "weft.spark.stream.state",
    "view": "weft.spark",
    "what_if": "weft.planners.what_if",
}

__all__ = [
    "BadRequest",
    "Measure",
    "Plan",
    "Query",
    "Registry",
    "RunFailed",
    "Stats",
    "StreamListener",
    "Tree",
    "Weaver",
    "WeftError",
    "Window",
    "Workload",
    "apply",
    "compare",
    "diff",
    "micro_batch",
    "native",
    "optimize",
    "savings",
    "state",
    "view",
    "what_if",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'weft' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
