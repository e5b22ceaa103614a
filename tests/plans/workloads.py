"""Workloads whose plans are kept as golden text: small enough to check by hand."""

from __future__ import annotations

from collections.abc import Mapping

import weft
from weft.plans import Plan


def _example_3() -> weft.Workload:
    """Example 3 of Guirguis et al., CIKM 2011: ranges 16, 10 and 8 s, slides 4, 5 and 4 s."""
    return weft.Workload(
        weft.Query(name, "max(a)", weft.Window(f"{size} s", f"{slide} s"))
        for name, size, slide in (("qa", 16, 4), ("qb", 10, 5), ("qc", 8, 4))
    )


def _readme() -> weft.Workload:
    return weft.Workload.from_sql("""
        -- name: avg_volume
        SELECT symbol, avg(volume) AS avg_volume FROM trades WHERE price > 100
        GROUP BY symbol, window(ts, '24 hours', '1 hour');
        -- name: high
        SELECT max(price) AS high FROM trades [RANGE 10 MIN SLIDE 2 MIN];
        -- name: last_hundred
        SELECT sum(volume) FROM trades [ROWS 100 SLIDE 7];
        -- name: odd
        SELECT max(price) - min(price) AS spread FROM trades [RANGE 7 MIN SLIDE 3 MIN OFFSET 30 SEC DELAY 1 MIN];
    """)


def _filtered() -> weft.Workload:
    """Windows of which some look at few rows; x > 5 is a part of x > 1, and nothing is known of y."""
    filters = (None, "x > 1", "x > 5", "y = 2")
    return weft.Workload(
        weft.Query(f"q{i}", "max(x)", weft.Window(f"{60 + 10 * i} s", "10 s"), where=where)
        for i, where in enumerate(filters)
    )


PLANS: Mapping[str, Plan] = {
    "example_3_weave_share": weft.optimize(_example_3(), weft.Stats(1.2), technique="panes"),
    "example_3_shared": weft.optimize(_example_3(), weft.Stats(1.2), planner="shared", technique="panes"),
    "example_3_no_share": weft.optimize(_example_3(), weft.Stats(1.2), planner="no_share", technique="panes"),
    "example_3_optimal": weft.optimize(_example_3(), weft.Stats(1.2), planner="optimal", technique="panes"),
    "example_3_tri_weave": weft.optimize(_example_3(), weft.Stats(1.2), planner="tri_weave", technique="panes"),
    "readme": weft.optimize(_readme(), weft.Stats(5_000, 1_000, {"volume": "bigint"})),
    "filters": weft.optimize(_filtered(), weft.Stats(100, filters={"x > 1": 0.5, "x > 5": 0.001}), planner="shared"),
    "keys": weft.optimize(
        weft.Workload(
            weft.Query(f"q{i}", "max(x)", weft.Window("60 s", "10 s"), group_by=keys.split(", ") if keys else ())
            for i, keys in enumerate(("symbol", "venue", "symbol, venue, side", ""))
        ),
        weft.Stats(5_000, {"symbol": 1_000, "venue": 12, "side": 2, "symbol, venue": 3_000}),
    ),
    "many_filters": weft.optimize(
        weft.Workload(
            weft.Query(f"q{i}", "max(x)", weft.Window("60 s", "10 s"), where=f"k{i} = {i}") for i in range(10)
        ),
        weft.Stats(100, filters={f"k{i} = {i}": (i + 1) / 100 for i in range(10)}),
        planner="shared",
    ),
    "many": weft.optimize(
        weft.Workload.windows(ranges=[60 * n for n in range(1, 41)], slides=60, measures="count(*)", group_by="k"),
        weft.Stats(10, 3),
    ),
}
