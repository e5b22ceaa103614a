"""What is counted: by Spark's listener for each micro-batch, and in the checkpoint for each shard, tree and query."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import Result
from typer.testing import CliRunner

import weft
from tests.stream.streaming import Folder, answers, run, session
from weft.cli.app import app

pytestmark = pytest.mark.spark
START = 1_600_000_000
PARTS = 3


def table(begin: int, end: int) -> pa.Table:
    """A row a second, its second for value."""
    seconds = list(range(begin, end))
    return pa.table(
        {
            "ts": pa.array([(START + second) * 1_000_000 for second in seconds], pa.timestamp("us", "UTC")),
            "k": pa.array(["abc"[second % 3] for second in seconds]),
            "x": pa.array(seconds, pa.int64()),
        }
    )


@pytest.fixture(scope="module")
def stream(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A stream that has ended: its answers, its checkpoint, Spark's reports, and what a listener was told."""
    own, at, heard = session(spark), tmp_path_factory.mktemp("metrics"), list[Any]()
    folder = Folder(at / "in")
    for begin in range(0, PARTS * 50, 50):
        folder.put(table(begin, begin + 50))
    folder.put(pa.concat_tables([table(0, 5), table(170, 171)]))  # five rows that come too late
    queries = [
        weft.Query("sum", "sum(x) AS s", weft.Window("60 s", "10 s"), group_by="k", time="ts"),
        weft.Query("odd", "count(*) AS n", weft.Window("60 s", "20 s"), where="x % 2 = 1", group_by="k", time="ts"),
        weft.Query("all", "max(x) AS m", weft.Window("40 s", "20 s"), time="ts"),
    ]
    plan = weft.optimize(weft.Workload(queries))
    results = weft.apply(folder.stream(own, own.createDataFrame(table(0, 1)).schema), plan, watermark="0 seconds")
    listener = weft.StreamListener(heard.append)
    own.streams.addListener(listener)
    try:
        reports = run(results, at)
    finally:
        own.streams.removeListener(listener)
    return own, answers(results, at), at / "checkpoint", reports, heard


def test_a_micro_batch_says_what_it_did(stream: Any) -> None:
    _, found, _, reports, heard = stream
    batches = [weft.micro_batch(report) for report in reports]
    assert [batch.rows for batch in batches] == [50] * PARTS + [6, 0]
    assert [batch.events for batch in batches] == [100] * PARTS + [12, 0], "once for k, and once for all"
    assert sum(batch.answers for batch in batches) == found.count()
    assert sum(batch.late for batch in batches) == 10
    assert [batch.watermark is None for batch in batches[:2]] == [True, False]
    assert batches[-1].lag > 0
    assert all(batch.partials > 0 and batch.bytes_per_partial < 300 for batch in batches[:-1])
    assert all(batch.state_bytes > 0 and batch.store_bytes > 0 for batch in batches[:-1])
    assert heard == batches[: len(heard)], "the listener hears the same, a moment later"
    assert heard


def test_the_state_counts_for_every_query(stream: Any) -> None:
    own, found, checkpoint, reports, _ = stream
    held = weft.state(own, checkpoint)
    last = weft.micro_batch(reports[-1])
    assert held.batch == last.number
    assert (held.retained.partials, held.retained.bytes) == (last.partials, last.state_bytes)
    assert held.watermark == last.watermark
    assert held.lag == 0
    assert held.late == 10
    rows = PARTS * 50 + 6
    odd = sum(int(x) % 2 for x in [*range(PARTS * 50), *range(5), 170])
    counts = {row["query"]: row["count"] for row in found.groupBy("query").count().collect()}
    for name, events in (("sum", rows), ("odd", odd), ("all", rows)):
        assert held.queries[name].events == events
        assert held.queries[name].answers == counts[name]
    assert [held.queries[name].late for name in ("sum", "odd", "all")] == [5, 2, 5]
    assert sorted(name for tree in held.trees for name in tree.queries) == ["all", "odd", "sum"]
    assert sum(tree.count.answers for tree in held.trees) == found.count()
    assert sum(tree.retained.partials for tree in held.trees) == held.retained.partials
    assert {shard.partition for shard in held.shards} == {0, 1}
    assert weft.state(own, checkpoint, batch=1).queries["sum"].events == 100, "of an earlier micro-batch"


def test_state_and_top_show_it(stream: Any, tmp_path: Path) -> None:
    _, found, checkpoint, _, _ = stream
    shown = weft_("state", checkpoint)
    assert shown.exit_code == 0, shown.output
    assert "10 late" in shown.stdout
    assert [line.split()[0] for line in shown.stdout.splitlines()[-3:]] == ["sum", "odd", "all"]
    assert "and 2 queries that gave fewer answers" in weft_("state", checkpoint, "--limit", 1).stdout
    told = json.loads(weft_("state", checkpoint, "--json").stdout)
    assert sum(count["answers"] for count in told["queries"].values()) == found.count()
    assert weft_("top", checkpoint, "--times", 2, "--every", 0.1).stdout.count("watermark 2020-09-13") == 2
    for nothing in (tmp_path, tmp_path / "gone"):
        refused = weft_("state", nothing)
        assert refused.exit_code == 2
        assert "there is no state in" in refused.stderr
    (tmp_path / "state").mkdir()
    assert "there is no state of Weft's" in weft_("top", tmp_path).stderr


def weft_(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_the_state_is_found_behind_other_stateful_operators(spark: Any, tmp_path: Path) -> None:
    own, folder = session(spark), Folder(tmp_path / "in")
    for _ in range(2):
        folder.put(table(0, 50))
    query = weft.Query("sum", "sum(x) AS s", weft.Window("60 s", "10 s"), group_by="k", time="ts")
    events = folder.stream(own, own.createDataFrame(table(0, 1)).schema).withWatermark("ts", "1 hour")
    run(weft.apply(events.dropDuplicates(["x"]), weft.optimize(weft.Workload([query]))), tmp_path)
    assert weft.state(own, tmp_path / "checkpoint").queries["sum"].events == 50
