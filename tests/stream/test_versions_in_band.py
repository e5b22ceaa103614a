"""Versions of a query set reach every shard in one micro-batch, are replayed as they were, and may be broken."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import weft
from tests.stream.streaming import Folder, answers, run, session

pytestmark = pytest.mark.spark
START = 1_600_000_000


@pytest.fixture(scope="module")
def own(spark: Any) -> Any:
    return session(spark)


def table(begin: int, end: int) -> pa.Table:
    """A row a second of each of two keys."""
    seconds = [second for second in range(begin, end) for _ in "ab"]
    times = pa.array([(START + second) * 1_000_000 for second in seconds], pa.timestamp("us", "UTC"))
    return pa.table({"ts": times, "k": ["a", "b"] * (end - begin), "x": pa.array(seconds, pa.int64())})


def query(id_: str, measures: str, size: str = "20 s", **other: Any) -> weft.Query:
    return weft.Query(id_, measures, weft.Window(size, "10 s"), **{"group_by": "k", "time": "ts", **other})


class Batches:
    """A sink that keeps the rows of each micro-batch, however often it is given them."""

    def __init__(self, results: Any, at: Path) -> None:
        self.results, self.at = results, at
        self.given: list[tuple[int, list[str]]] = []

    def run(self) -> list[tuple[int, list[str]]]:
        before = len(self.given)

        def keep(df: Any, number: int) -> None:
            self.given.append((number, sorted(map(str, df.collect()))))

        stream = self.results.writeStream.foreachBatch(keep).option("checkpointLocation", str(self.at / "checkpoint"))
        stream.trigger(availableNow=True).start().awaitTermination()
        return self.given[before:]


def test_a_version_comes_in_one_batch_and_again_in_its_replay(own: Any, tmp_path: Path) -> None:
    """The micro-batch that took it in is run again after the next version has come, and gives the same rows."""
    folder, registry = Folder(tmp_path / "in"), weft.Registry(tmp_path / "registry")
    registry.add(query("sum", "sum(x) AS s"))
    folder.put(table(0, 50))
    schema = own.createDataFrame(table(0, 1)).schema
    sink = Batches(weft.apply(folder.stream(own, schema), registry, watermark="0 seconds"), tmp_path)
    sink.run()
    registry.add(query("count", "count(*) AS n", "40 s"))
    folder.put(table(50, 100))
    took = sink.run()
    rows = {number: "\n".join(rows) for number, rows in took if rows}
    with_it = {number for number, said in rows.items() if "count" in said}
    assert with_it == set(rows), "answered from the first micro-batch on that had it"
    last = max(number for number, _ in took)
    for number in range(min(with_it), last + 1):
        for left in (tmp_path / "checkpoint" / "commits").glob(f"*{number}*"):
            left.unlink()
    registry.remove("count")
    registry.add(query("more", "count(x) AS n"))
    again = sink.run()
    by_number = dict(again)
    assert {number: by_number[number] for number in rows} == {
        number: said.splitlines() for number, said in rows.items()
    }
    folder.put(table(100, 150))
    later = "\n".join(row for _, said in sink.run() for row in said)
    assert "sum" in later
    assert "count" not in later
    first = [row for _, said in took for row in said if "'count'" in row and "k='a'" in row]
    assert [re.search(r"complete=(\w+)", row)[1] for row in first][-1] == "True"  # type: ignore[index]
    assert any("complete=False" in row for row in first)


def test_a_broken_version_is_told_and_the_last_sound_one_goes_on(own: Any, tmp_path: Path) -> None:
    folder, registry = Folder(tmp_path / "in"), weft.Registry(tmp_path / "registry")
    registry.add(query("sum", "sum(x) AS s", where="x > 10"))
    folder.put(table(0, 50))
    schema = own.createDataFrame(table(0, 1)).schema
    results = weft.apply(folder.stream(own, schema), registry, watermark="0 seconds")
    run(results, tmp_path)
    registry.add(query("count", "count(*) AS n"))
    broken = tmp_path / "registry" / "versions" / "00000002.json"
    broken.write_bytes(broken.read_bytes()[:-100])
    folder.put(table(50, 100))
    run(results, tmp_path)
    assert {row.query for row in answers(results, tmp_path).select("query").distinct().collect()} == {"sum"}
    state = weft.state(own, tmp_path / "checkpoint")
    assert state.version == 1
    assert len(state.broken) == 1
    assert state.broken[0].startswith("00000002.json: it cannot be read")
    with pytest.warns(UserWarning, match=r"00000002\.json: it cannot be read"):
        weft.apply(folder.stream(own, schema), registry)
    line = registry.add(query("count", "count(*) AS n", where="x > 112.5"))[0]
    assert line.restart is None, "another constant is no other condition"
    folder.put(table(100, 150))
    run(results, tmp_path)
    rows = weft.view(answers(results, tmp_path).where("complete"), registry, "count").collect()
    counts = {(row.k, int(row.window.start.timestamp()) - START): row.n for row in rows}
    assert counts == {(key, start): n for key in "ab" for start, n in ((100, 7), (110, 17), (120, 20))}


def test_what_a_registry_cannot_do_is_refused(own: Any, tmp_path: Path) -> None:
    registry = weft.Registry(tmp_path / "registry")
    folder = Folder(tmp_path / "in")
    folder.put(table(0, 50))
    schema = own.createDataFrame(table(0, 1)).schema
    stream = folder.stream(own, schema)
    with pytest.raises(weft.BadRequest, match="there are no queries in it"):
        weft.apply(stream, registry)
    registry.add(query("sum", "sum(x) AS s"))
    with pytest.raises(weft.BadRequest, match="a wide row has a column for each query"):
        weft.apply(stream, registry, output="wide")
    with pytest.raises(weft.BadRequest, match="says whether a row is complete"):
        weft.apply(stream.withColumnRenamed("k", "complete"), altered(tmp_path, group_by="complete"))
    batch = weft.apply(own.read.parquet(str(folder.path)), registry)
    assert "complete" not in batch.columns
    assert weft.view(batch, registry, "sum").count() == 2 * 6


def altered(at: Path, **other: Any) -> weft.Registry:
    registry = weft.Registry(at / "other")
    registry.add(query("sum", "sum(x) AS s", **other))
    return registry
