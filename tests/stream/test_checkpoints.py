"""What a checkpoint holds: whose it is, no more than live slices, and the truth whatever a worker remembers."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import weft
from tests.stream.streaming import Folder, run, session
from weft.spark.stream import keeping, pipeline
from weft.spark.stream.blocks import Block, from_bytes
from weft.spark.stream.keeping import Head
from weft.spark.stream.processor import Weaving

pytestmark = pytest.mark.spark
START = 1_600_000_000


def table(begin: int, end: int, keys: str = "abc") -> pa.Table:
    """A row a second, its second for value."""
    seconds = list(range(begin, end))
    return pa.table(
        {
            "ts": pa.array([(START + second) * 1_000_000 for second in seconds], pa.timestamp("us", "UTC")),
            "k": pa.array([keys[second % len(keys)] for second in seconds]),
            "x": pa.array(seconds, pa.int64()),
        }
    )


def plan(size: str = "60 s") -> weft.Plan:
    queries = [weft.Query("q", ["sum(x) AS s", "count(*) AS n"], weft.Window(size, "10 s"), group_by="k", time="ts")]
    return weft.optimize(weft.Workload(queries))


@pytest.fixture(scope="module")
def own(spark: Any) -> Any:
    return session(spark)


def begun(own: Any, at: Path, tables: list[pa.Table]) -> tuple[Folder, Any]:
    folder = Folder(at / "in")
    for each in tables:
        folder.put(each)
    return folder, own.createDataFrame(tables[0]).schema


def fails(start: Callable[[], Any]) -> str:
    """What the stream says as it fails."""
    from pyspark.errors import StreamingQueryException

    with pytest.raises(StreamingQueryException) as raised:
        start()
    return str(raised.value)


def test_a_checkpoint_of_other_queries_or_of_other_shards_is_told(own: Any, spark: Any, tmp_path: Path) -> None:
    folder, schema = begun(own, tmp_path, [table(0, 100)])
    run(weft.apply(folder.stream(own, schema), plan()), tmp_path)
    folder.put(table(100, 200))
    told = fails(lambda: run(weft.apply(folder.stream(own, schema), plan("70 s")), tmp_path))
    assert "checkpoint: it belongs to other queries" in told
    assert "Start with a new checkpoint folder" in told
    more = session(spark, partitions=3)
    told = fails(lambda: run(weft.apply(folder.stream(more, schema), plan()), tmp_path))
    assert "checkpoint: it keeps its state in 2 shards, and the stream has 3" in told
    assert "Set spark.sql.shuffle.partitions to 2" in told


def test_state_holds_live_slices_of_live_keys(own: Any, tmp_path: Path) -> None:
    """Twelve micro-batches: blocks are merged, old ones are gone, and so is a key that does not come any more."""
    parts = [table(0, 50, "abcdefgh"), *(table(at, at + 50) for at in range(50, 600, 50))]
    folder, schema = begun(own, tmp_path, parts)
    results = weft.apply(folder.stream(own, schema), plan(), watermark="0 seconds")
    run(results, tmp_path)
    state = own.read.format("statestore").options(path=str(tmp_path / "checkpoint"))
    heads = [
        json.loads(bytes(row[0])) for row in state.option("stateVarName", "head").load().select("value.value").collect()
    ]
    stored = state.option("stateVarName", "blocks").load().selectExpr("user_map_value.value AS value").collect()
    kept = [entry for head in heads for entry in head["entries"]]
    assert len(stored) == len(kept)
    newest = 599 // 10 * 10
    assert all(last > (START + newest - 60 - 60) * 1_000_000 for *_, last in kept)
    assert sum(rows for _, _, _, rows, *_ in kept) <= 3 * (60 + 60) // 10
    found = {key for row in stored for key in keys_of(bytes(row.value))}
    assert found <= set("abc")


def keys_of(data: bytes) -> list[str]:
    keys: list[str] = from_bytes(data)[1].keys["key_0"].to_pylist()
    return keys


class Value:
    """A state variable of one value."""

    def __init__(self) -> None:
        self.value: Any = None

    def get(self) -> Any:
        return self.value

    def update(self, value: Any) -> None:
        self.value = value


class Map(dict[Any, Any]):
    """A state variable of a map."""

    getValue, updateValue = dict.get, dict.__setitem__  # noqa: N815

    def removeKey(self, key: Any) -> None:  # noqa: N802
        self.pop(key, None)


class Store:
    """One shard's part of a state store, of which every micro-batch leaves a version."""

    def __init__(self) -> None:
        self.values, self.blocks, self.timers = defaultdict[str, Value](Value), Map(), set[int]()

    def version(self) -> Any:
        return {name: each.value for name, each in self.values.items()}, dict(self.blocks), set(self.timers)

    def back_to(self, version: Any) -> None:
        self.timers = set(version[2])
        for name, each in self.values.items():
            each.value = version[0].get(name)
        self.blocks.clear()
        self.blocks.update(version[1])

    def getValueState(self, name: str, *_: Any) -> Value:  # noqa: N802
        return self.values[name]

    def getMapState(self, *_: Any) -> Map:  # noqa: N802
        return self.blocks

    def registerTimer(self, at: int) -> None:  # noqa: N802
        self.timers.add(at)

    def deleteTimer(self, at: int) -> None:  # noqa: N802
        self.timers.remove(at)


@dataclass
class Clock:
    at: int

    def getCurrentWatermarkInMs(self) -> int:  # noqa: N802
        return self.at


def test_what_a_worker_remembers_is_not_trusted(own: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """One worker remembers, one forgets, one has done the batch before, and one remembers what was never committed."""
    made: dict[str, Any] = {}

    def spied(name: str, original: Any) -> Any:
        def spy(*args: Any) -> Any:
            made[name] = args
            return original(*args)

        return spy

    for name in ("Weaving", "folding"):
        monkeypatch.setattr(pipeline, name, spied(name, getattr(pipeline, name)))
    rate = own.readStream.format("rate").load().selectExpr("timestamp AS ts", "'a' AS k", "value AS x")
    query = weft.Query("q", ["sum(x) AS s", "max(x) AS m"], weft.Window("60 s", "10 s"), group_by="k", time="ts")
    weft.apply(rate, weft.optimize(weft.Workload([query])), emit="changed")
    folds, labels, told, ansi, _ = made["folding"]
    fold = pipeline.folding(folds, labels[:1], told, ansi)
    batches = []
    for begin in range(0, 1_000, 50):
        part = table(begin, begin + 50, "abcd"[: 2 + begin // 300])
        events = {"0_slice": pa.array([t - t % 10_000_000 for t in part["ts"].cast(pa.int64()).to_pylist()])}
        events |= {"key_0": part["k"].combine_chunks(), "0_argument_0": part["x"].combine_chunks()}
        batch = pa.RecordBatch.from_pydict(events)
        batches.append([sent.to_pandas() for sent in fold([batch])])

    def answered(before: Callable[[int, Store, Any], None]) -> list[str]:
        store, out = Store(), []
        for number, frames in enumerate(batches):
            version, clock = store.version(), Clock(max(0, (START + number * 50 - 20) * 1_000))

            def one(store: Store = store, frames: Any = frames, clock: Any = clock) -> list[str]:
                weaving = Weaving(*made["Weaving"])
                weaving.init(store)
                return [frame.to_csv() for frame in weaving.handleInputRows((0,), frames, clock)]

            before(number, store, one)
            store.back_to(version)
            out += one()
        return out

    def forget(*_: Any) -> None:
        keeping._memory.clear()

    def retried(number: int, store: Store, one: Any) -> None:
        one()

    stale: list[Any] = []

    def stale_version(number: int, store: Store, one: Any) -> None:
        stale.append(store.version())
        if number > 3:
            store.back_to(stale[number - 2])
            one()

    remembering = answered(lambda *_: None)
    assert len(remembering) > 10
    for other in (forget, retried, stale_version):
        assert answered(other) == remembering


def test_a_block_of_another_format_or_damaged_is_told() -> None:
    batch = pa.RecordBatch.from_pydict({"key": [0], "slice": [1]})
    data = Block(pa.RecordBatch.from_pydict({"key_0": ["a"]}), batch).to_bytes(told="t")
    assert from_bytes(data)[0] == {"told": "t"}
    for wrong, message in (
        (data.replace(b'"format": 1', b'"format": 2'), "its state has format 2, and this Weft reads format 1"),
        (data[: len(data) // 2], "a block of its state cannot be read"),
        (b"", "a block of its state cannot be read"),
        (b"[]\n", "its state is none of Weft's"),
    ):
        with pytest.raises(weft.RunFailed, match=message):
            from_bytes(wrong)
    with pytest.raises(weft.RunFailed, match="format 7"):
        Head.from_bytes(b'{"format": 7}')
    with pytest.raises(weft.RunFailed, match="cannot be read"):
        Head.from_bytes(Head("t").to_bytes()[:-3])
