"""A stream follows a registry: whatever comes and goes, and however often it is started, no row is lost or repeated."""

from __future__ import annotations

import os
import random
from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import functions as F

import weft
from tests.stream.streaming import Folder, answers, run, session

pytestmark = pytest.mark.spark
EXAMPLES, RUNS = (60, 4) if os.environ.get("WEFT_PROFILE") == "deep" else (2, 3)
START, PATIENCE, STEP = 1_600_000_000, 8, 60
SECOND = 1_000_000


@pytest.fixture(scope="module")
def own(spark: Any) -> Any:
    return session(spark)


def table(rng: random.Random, begin: int, end: int) -> pa.Table:
    """Two rows a second, of three keys, none further behind than the watermark's patience."""
    seconds = [second for second in range(begin, end) for _ in range(2)]
    late = [max(begin - PATIENCE // 2, second - rng.randrange(PATIENCE // 2)) for second in seconds]
    late[-1] = end - 1
    return pa.table(
        {
            "ts": pa.array([(START + second) * SECOND for second in late], pa.timestamp("us", "UTC")),
            "k": pa.array([rng.choice("abc") for _ in late]),
            "v": pa.array([rng.choice([None, "x", "y"]) for _ in late], pa.string()),
            "x": pa.array([rng.choice([None, *range(9)]) for _ in late], pa.int64()),
        }
    )


def asked(measures: list[str], size: int, slide: int, offset: int, delay: int, where: Any, keys: Any) -> dict[str, Any]:
    window = weft.Window(f"{size} s", f"{slide} s", f"{offset} s", f"{delay} s")
    return {"measures": measures, "window": window, "where": where, "group_by": keys, "time": "ts"}


def drawn(rng: random.Random) -> dict[str, Any]:
    """What a query asks."""
    return asked(
        rng.choice([["sum(x) AS s"], ["max(x) AS m", "count(*) AS n"], ["avg(x) AS a"], ["min(v) AS low"]]),
        rng.choice([10, 15, 20, 50, 90]),
        rng.choice([5, 10, 20]),
        rng.choice([0, 0, 3]),
        rng.choice([0, 0, 10]),
        rng.choice([None, "x > 2", f"x > {rng.randrange(9)}", f"x > {rng.randrange(9)}.5", "v = 'x' AND x < 7"]),
        rng.choice(["k", "k", "k", ["v", "k"]]),
    )


@dataclass
class Stretch:
    """A run of the stream: the windows that were answered in it, and the queries that there were."""

    after: int
    upto: int
    newest: int
    """Of the events before."""
    results: Any
    plan: weft.Plan | None
    listed: dict[str, Any]


@pytest.mark.parametrize("seed", range(EXAMPLES))
def test_every_query_has_the_rows_of_its_life(own: Any, tmp_path: Path, seed: int) -> None:
    """Those of its windows that ended meanwhile, each once; and the complete ones are what Spark's own windows say."""
    rng = random.Random(seed)
    emit = "changed" if seed % 3 == 1 else "final"
    folder, registry = Folder(tmp_path / "in"), weft.Registry(tmp_path / "registry")
    registry.add([weft.Query(f"first {number}", **drawn(rng)) for number in range(rng.randrange(2, 5))])
    schema = own.createDataFrame(table(rng, 0, 1)).schema
    end, life, results = 0, list[Stretch](), None
    for turn in range(RUNS):
        for _ in range(rng.randrange(1, 4) if turn else 0):
            known = [one.query for one in registry.list()]
            if known and rng.random() < 0.3:
                registry.remove(rng.choice(known).id)
            elif rng.random() < 0.5:  # a query that is like one that there was, over longer or shorter windows
                like = rng.choice(known or [weft.Query("any", **drawn(rng))])
                window = weft.Window(f"{rng.choice([10, 20, 50, 90])} s", timedelta(microseconds=like.window.slide))
                registry.put(
                    weft.Query(rng.choice("pqrs"), like.measures, window, like.where, like.group_by, time="ts")
                )
            else:
                registry.put(weft.Query(rng.choice("pqrs"), **drawn(rng)))
        newest = end - 1
        for _ in range(rng.randrange(1, 3)):
            folder.put(table(rng, end, end + STEP))
            end += STEP
        listed = {one.query.id: one for one in registry.list()}
        if listed and (results is None or turn % 2 == 0):  # planned anew; otherwise the stream only goes on
            results = weft.apply(folder.stream(own, schema), registry, watermark=f"{PATIENCE} seconds", emit=emit)
            listed = {one.query.id: one for one in registry.list()}
            assert not any(one.restart for one in listed.values())
        run(results, tmp_path)
        after = life[-1].upto if life else -10_000
        plan = registry.plan() if listed else None
        life.append(Stretch(after, end - 1 - PATIENCE, newest, results, plan, listed))
    check(own.read.parquet(str(folder.path)).cache(), tmp_path, life, emit)


def check(events: Any, at: Path, life: list[Stretch], emit: str) -> None:
    native: dict[Any, Counter[Any]] = {}
    began: dict[Any, int] = {}
    for number, stretch in enumerate(life):
        found = answers(stretch.results, at)
        found = found.where((F.unix_seconds("window_end") - START).between(stretch.after + 1, stretch.upto)).cache()
        answered = {id_ for id_, one in stretch.listed.items() if one.restart is None}
        assert {row.query for row in found.select("query").distinct().collect()} <= answered
        for id_ in sorted(answered):
            query = stretch.listed[id_].query
            same = number and life[number - 1].listed.get(id_)
            if not (same and same.restart is None and same.query == query):
                began[id_] = stretch.newest
            if query not in native:
                native[query] = shown(weft.native(events, query))
            mine = Counter({row: n for row, n in native[query].items() if stretch.after < row[1] <= stretch.upto})
            whole = shown(weft.view(found.where("complete"), stretch.plan, id_))
            parts = shown(weft.view(found.where("NOT complete"), stretch.plan, id_))
            window = query.window
            assert not whole - mine, (id_, query)
            assert max((whole + parts).values(), default=1) == 1
            assert {row[:2] for row in parts} <= {row[:2] for row in mine}
            assert not {row[:2] for row in parts} & {row[:2] for row in whole}
            if began[id_] < 0:
                assert not parts, (id_, query)
            if emit == "final":
                lead = (window.range + window.delay) // SECOND
                due = {row for row in mine if row[1] - lead > began[id_]}
                assert due <= set(whole), (id_, query)


def shown(rows: Any) -> Counter[Any]:
    """Rows as key, end in seconds since the start, values."""
    keys = [name for name in ("k", "v") if name in rows.columns]
    found: Counter[Any] = Counter()
    for row in rows.collect():
        told = row.asDict()
        window = told.pop("window")
        found[
            (tuple(told.get(key) for key in keys), int(window.end.timestamp()) - START, *map(str, told.values()))
        ] += 1
    return found
