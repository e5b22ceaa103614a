"""Which answers go out: all or those that changed, and records of windows that became empty; in long and wide rows."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import weft
from tests.stream.streaming import session, streamed

pytestmark = pytest.mark.spark
START, SLIDE = 1_600_000_000, 10
RANGES = {"short": 10, "long": 60}
FLUSH = 100_000
Row = tuple[str, int, Any, Any, bool]


@pytest.fixture(scope="module")
def own(spark: Any) -> Any:
    return session(spark)


def events() -> list[tuple[int, str, int | None]]:
    """Keys that come, go and return; values that stay alike for a while."""
    rng = random.Random(4)
    rows: list[tuple[int, str, int | None]] = [(s, "steady", 7) for s in range(0, 300, 5)]
    rows += [(s, "twice", rng.choice((1, 2))) for s in (3, 14, 22, 170, 171, 260)]
    rows += [(s, "null", None if s < 200 else 3) for s in range(0, 290, 9)]
    rows += [(s, f"k{rng.randrange(5)}", rng.randrange(3)) for s in sorted(rng.sample(range(300), 60))]
    return sorted(rows)


def table(rows: Iterable[tuple[int, str, int | None]]) -> pa.Table:
    seconds, keys, values = zip(*rows, strict=True)
    times = pa.array([(START + second) * 1_000_000 for second in seconds], pa.timestamp("us", "UTC"))
    return pa.table({"ts": times, "k": pa.array(keys), "x": pa.array(values, pa.int64())})


def answers(rows: list[tuple[int, str, int | None]], size: int) -> dict[str, dict[int, tuple[int, int | None]]]:
    """By key and end: count and maximum, worked out window by window."""
    found: dict[str, dict[int, tuple[int, int | None]]] = {}
    for end in range(-(START % SLIDE), 300 + size + SLIDE, SLIDE):
        for key in {key for _, key, _ in rows}:
            values = [x for at, k, x in rows if k == key and end - size <= at < end]
            if values:
                known = [x for x in values if x is not None]
                found.setdefault(key, {})[end] = (len(values), max(known) if known else None)
    return found


def expected(by_end: dict[int, Any], key: str, changed: bool, empty: bool, nothing: Any) -> list[Any]:
    """What goes out for one group: the rule, said again one by one."""
    out = []
    for end in sorted(by_end):
        before = by_end.get(end - SLIDE)
        if not changed or before is None or before != by_end[end]:
            out.append((key, end, by_end[end], False))
        if empty and end + SLIDE not in by_end:
            out.append((key, end + SLIDE, nothing, True))
    return out


def seconds(moment: Any) -> int:
    return round(moment.timestamp()) - START


@pytest.mark.parametrize(
    ("kind", "changed", "empty"),
    [("batch", True, False), ("batch", True, True), ("batch", False, True), ("stream", True, True)],
)
def test_what_goes_out_in_long_rows(own: Any, tmp_path: Path, kind: str, changed: bool, empty: bool) -> None:
    rows = events()
    plan = weft.optimize(workload())
    options = {"emit": "changed" if changed else "final", "empty": empty}
    results = over(own, tmp_path, kind, rows, plan, options)
    found = sorted(
        (
            row["query"],
            row.k,
            seconds(row.window_end),
            (row.value_bigint, row.value_bigint_2),
            row.empty if empty else False,
        )
        for row in results.collect()
        if row.k != "flush"
    )
    wanted = [
        (name, *rest)
        for name, size in RANGES.items()
        for key, by_end in answers(rows, size).items()
        for rest in expected(by_end, key, changed, empty, (None, None))
    ]
    assert found == sorted(wanted)
    if empty:
        assert weft.view(results, plan, "short").where("n IS NULL").count() == 0


@pytest.mark.parametrize("kind", ["batch", "stream"])
def test_what_goes_out_in_wide_rows(own: Any, tmp_path: Path, kind: str) -> None:
    rows = events()
    results = over(
        own, tmp_path, kind, rows, weft.optimize(workload()), {"output": "wide", "emit": "changed", "empty": True}
    )
    assert results.columns == ["k", "window_end", "empty", "short_n", "short_m", "long_n", "long_m"]
    found = sorted(
        (row.k, seconds(row.window_end), (row.short_n, row.short_m, row.long_n, row.long_m), row.empty)
        for row in results.collect()
        if row.k != "flush"
    )
    short, long = (answers(rows, size) for size in RANGES.values())
    wanted = []
    for key in long:
        ends = {**long[key], **short.get(key, {})}
        by_end = {e: (*short.get(key, {}).get(e, (None, None)), *long[key].get(e, (None, None))) for e in ends}
        wanted += expected(by_end, key, True, True, (None,) * 4)
    assert found == sorted(wanted)


def workload() -> weft.Workload:
    return weft.Workload(
        [
            weft.Query(name, ["count(*) AS n", "max(x) AS m"], window(size), group_by="k", time="ts")
            for name, size in RANGES.items()
        ]
    )


def window(size: int) -> weft.Window:
    return weft.Window(f"{size} s", f"{SLIDE} s")


def over(own: Any, at: Path, kind: str, rows: list[Any], plan: weft.Plan, options: dict[str, Any]) -> Any:
    """The answers over the rows, at once or in micro-batches with a restart."""
    if kind == "batch":
        return weft.apply(own.createDataFrame(table(rows)), plan, **options)
    parts = [table(rows[a : a + 40]) for a in range(0, len(rows), 40)]
    runs = [parts[:2], [*parts[2:], table([(FLUSH, "flush", 0)])]]
    schema = own.createDataFrame(parts[0]).schema
    return streamed(own, at, plan, schema, runs, watermark="20 seconds", **options)


@pytest.mark.parametrize(
    ("options", "change", "message"),
    [
        ({"output": "tall"}, {}, "'tall' is none"),
        ({"emit": "changed"}, {"having": "count(*) > 1"}, "emit: which answers go out is decided before HAVING"),
        ({"output": "wide"}, {"group_by": ()}, "query 'long': group_by: a wide row holds all queries"),
        ({"output": "wide"}, {"window": weft.Window("60 s", "20 s")}, "query 'long': window: a wide row"),
        ({"output": "wide"}, {"id": "K"}, "two columns of the wide form would be called 'K'"),
    ],
)  # fmt: skip
def test_what_cannot_go_out_is_refused(own: Any, options: Any, change: Any, message: str) -> None:
    told = {"id": "long", "measures": "count(*) AS n", "window": window(60), "group_by": "k", "time": "ts", **change}
    short = weft.Query("short", "count(*) AS n", window(10), group_by="k", time="ts")
    plan = weft.optimize(weft.Workload([short, weft.Query(**told)]))
    with pytest.raises(weft.BadRequest) as refused:
        weft.apply(own.createDataFrame(table([(0, "a", 1)])), plan, **options)
    assert message in str(refused.value)
