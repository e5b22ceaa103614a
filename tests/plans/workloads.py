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


PLANS: Mapping[str, Plan] = {
    "example_3_weave_share": weft.optimize(_example_3(), weft.Stats(1.2), technique="panes"),
    "example_3_shared": weft.optimize(_example_3(), weft.Stats(1.2), planner="shared", technique="panes"),
    "example_3_no_share": weft.optimize(_example_3(), weft.Stats(1.2), planner="no_share", technique="panes"),
    "example_3_optimal": weft.optimize(_example_3(), weft.Stats(1.2), planner="optimal", technique="panes"),
    "example_3_tri_weave": weft.optimize(_example_3(), weft.Stats(1.2), planner="tri_weave", technique="panes"),
    "readme": weft.optimize(_readme(), weft.Stats(5_000, 1_000, {"volume": "bigint"})),
    "many": weft.optimize(
        weft.Workload.windows(ranges=[60 * n for n in range(1, 41)], slides=60, measures="count(*)", group_by="k"),
        weft.Stats(10, 3),
    ),
}
