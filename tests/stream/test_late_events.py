"""Events behind the watermark and far ahead of the clock: what counts, what does not, and that somebody counts them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import StreamingQueryException

import weft
from tests.stream.streaming import Folder, answers, run, session

pytestmark = pytest.mark.spark
START = 1_600_000_000


def table(*rows: tuple[int, str, int]) -> pa.Table:
    seconds, keys, values = zip(*rows, strict=True)
    return pa.table(
        {
            "ts": pa.array([(START + second) * 1_000_000 for second in seconds], pa.timestamp("us", "UTC")),
            "k": pa.array(keys),
            "x": pa.array(values, pa.int64()),
        }
    )


@pytest.fixture(scope="module")
def own(spark: Any) -> Any:
    return session(spark)


def heads(spark: Any, at: Path) -> list[dict[str, Any]]:
    """The heads of all shards, from the checkpoint."""
    state = (
        spark.read.format("statestore")
        .options(path=str(at / "checkpoint"), stateVarName="head")
        .load()
        .select("value.value")
    )
    return [json.loads(bytes(row[0])) for row in state.collect()]


def test_late_events_count_where_they_do_in_sparks_own_windows(own: Any, tmp_path: Path) -> None:
    """A watermark of 10 s: after the event at 100 s, windows that end by 90 s are closed, and no others."""
    parts = [
        table((5, "a", 1), (31, "a", 2), (100, "b", 4)),
        table((89, "a", 8), (4, "a", 16), (95, "c", 32), (28, "b", 64), (140, "a", 128)),
        table((62, "c", 256), (131, "c", 512), (129, "d", 1024), (128, "a", 2048), (300, "e", 1)),
        table((1_000, "f", 1), (85, "a", 1), (100, "b", 1), (105, "b", 1)),
    ]
    behind = [(62, 90), (85, 130), (100, 130), (105, 130)]  # and the watermark of the micro-batch before
    folder = Folder(tmp_path / "in")
    for part in parts:
        folder.put(part)
    schema = own.read.parquet(str(folder.path)).schema
    workload = weft.Workload(
        [
            weft.Query(
                "sliding", ["sum(x) AS s", "count(*) AS n"], weft.Window("40 s", "7 s"), group_by="k", time="ts"
            ),
            weft.Query("tumbling", "sum(x) AS s", weft.Window("10 s", "10 s"), group_by="k", time="ts"),
            weft.Query("all", "max(x) AS m", weft.Window("30 s", "20 s"), time="ts"),
        ]
    )
    plan = weft.optimize(workload)
    aside = tmp_path / "aside"
    results = weft.apply(folder.stream(own, schema), plan, watermark="10 seconds", late=aside)
    run(results, tmp_path / "weft")
    found = answers(results, tmp_path / "weft").cache()
    for query in (workload["sliding"], workload["all"]):  # each costs as much time as all of Weft's
        watched = folder.stream(own, schema).withWatermark("ts", "10 seconds")
        theirs = weft.native(watched, query)
        run(theirs, tmp_path / query.id)
        expected = sorted(map(str, answers(theirs, tmp_path / query.id).collect()))
        assert sorted(map(str, weft.view(found, plan, query.id).collect())) == expected, query.id
    told = heads(own, tmp_path / "weft")
    late = {query.id: sum(head["late_by_query"].get(query.id, 0) for head in told) for query in workload}
    sizes = {"sliding": (40, 7), "tumbling": (10, 10), "all": (30, 20)}
    assert late == {
        name: sum(at - (START + at) % slide + size <= watermark for at, watermark in behind)
        for name, (size, slide) in sizes.items()
    }
    assert late == {"sliding": 1, "tumbling": 4, "all": 4}
    assert sum(head["late"] for head in told) == 2 * 4, "once for each set of group keys"
    kept = own.read.parquet(str(aside / "late"))
    assert kept.columns == ["k", "slice", "events", "queries"]
    rows = kept.selectExpr(
        "k", "unix_seconds(slice) - 1600000000 AS at", "events", "explode(queries) AS query"
    ).collect()
    assert {(row.k, row.query): row.events for row in rows if row["at"] <= 62 < row["at"] + 20} == {
        ("c", "tumbling"): 1,
        (None, "all"): 1,
    }
    for name, count in late.items():
        assert sum(row.events for row in rows if row["query"] == name) == count


def test_an_event_from_the_far_future_is_set_aside(own: Any, tmp_path: Path) -> None:
    """The year 2100 neither answers nor closes anything."""
    folder = Folder(tmp_path / "in")
    far = 130 * 365 * 86_400 - START
    folder.put(table((1, "a", 1), (far, "a", 100)))
    folder.put(table((2, "a", 2), (far, "b", 100)))
    folder.put(table((100, "a", 1)))
    query = weft.Query("q", "sum(x) AS s", weft.Window("10 s", "10 s"), where="x < 50", group_by="k", time="ts")
    plan = weft.optimize(weft.Workload([query]))
    schema = own.read.parquet(str(folder.path)).schema
    results = weft.apply(folder.stream(own, schema), plan, watermark="10 seconds", late=tmp_path / "aside")
    run(results, tmp_path)
    assert [row.s for row in weft.view(answers(results, tmp_path), plan, "q").collect()] == [3]
    told = heads(own, tmp_path)
    assert sum(head["ahead"] for head in told) == 2
    assert sum(head["late"] for head in told) == 0
    assert [path.name for path in (tmp_path / "aside").iterdir()] == ["ahead"]
    kept = own.read.schema(schema).json(str(tmp_path / "aside" / "ahead")).collect()
    assert sorted((row.k, row.x, row.ts.year) for row in kept) == [("a", 100, 2099), ("b", 100, 2099)]


def test_a_side_folder_that_cannot_be_written_to_fails_the_stream_and_not_the_answers(own: Any, tmp_path: Path) -> None:
    """What was to be kept is kept once there is room, once."""
    folder = Folder(tmp_path / "in")
    folder.put(table((1, "a", 1)))
    folder.put(table((100, "a", 1)))
    folder.put(table((150, "a", 1)))
    folder.put(table((2, "a", 2), (200, "a", 1)))
    query = weft.Query("q", "sum(x) AS s", weft.Window("10 s", "10 s"), group_by="k", time="ts")
    plan, schema = weft.optimize(weft.Workload([query])), own.read.parquet(str(folder.path)).schema
    aside = tmp_path / "aside"
    aside.write_text("a file, and no folder")

    def go() -> Any:
        results = weft.apply(folder.stream(own, schema), plan, watermark="10 seconds", late=aside)
        run(results, tmp_path)
        return results

    with pytest.raises(StreamingQueryException, match=r"late: '.*' cannot be written to"):
        go()
    aside.unlink()
    results = go()
    assert sorted(row.s for row in weft.view(answers(results, tmp_path), plan, "q").collect()) == [1, 1, 1]
    assert [(row.k, row.events, row.queries) for row in own.read.parquet(str(aside / "late")).collect()] == [
        ("a", 1, ["q"])
    ]


def test_nothing_is_late_in_a_batch(own: Any) -> None:
    plan = weft.optimize(weft.Workload([weft.Query("q", "count(*) AS n", weft.Window("1 s"), time="ts")]))
    with pytest.raises(weft.BadRequest, match="late: nothing is late in a batch"):
        weft.apply(own.createDataFrame(table((1, "a", 1))), plan, late="aside")
