"""Constants go to the events in a row of their own, and a task knows what the bits mean that were made with it."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

import weft
from tests.registry.test_grain import GRAIN, PRICE, above, registered
from weft.registry.versions import Folder
from weft.spark.stream.arriving import BROKEN, VERSION, _newest
from weft.spark.stream.latecomers import MARK, Latecomers


def test_a_task_knows_its_bits_though_versions_came_since_the_row_was_read(tmp_path: Path) -> None:
    registry = registered(tmp_path)
    some = Latecomers(str(tmp_path), GRAIN, 1, GRAIN.strands[0].shapes, {PRICE: "double"})
    for constant in (1, 2):
        registry.add(above(f"q{constant}", constant))
    row = next(some._read([pa.RecordBatch.from_pydict({"id": [0]})]))
    table = row.column(1).to_pylist()[0]
    assert table == [{"mask": "1", "c0": "1"}, {"mask": "2", "c0": "2"}]
    for constant in (3, 4):
        registry.add(above(f"q{constant}", constant))
    events = pa.table({MARK: [row.column(0)[0].as_py()]})
    assert some.heard(events) == {"(price > 1)": 0, "(price > 2)": 1}
    assert some.heard(pa.table({MARK: [12345]})) is None, "nobody knows them"
    away = Latecomers(str(tmp_path / "away"), GRAIN, 1, GRAIN.strands[0].shapes, {PRICE: "double"})
    assert away.heard(events) is None
    unseen = next(away._read([pa.RecordBatch.from_pydict({"id": [0]})]))
    assert some.heard(pa.table({MARK: [unseen.column(0)[0].as_py()]})) is None, "its events were asked nothing"


def test_of_many_versions_the_newest_sound_one_goes_on_and_damaged_newer_ones_are_named(tmp_path: Path) -> None:
    registry = weft.Registry(tmp_path)
    for constant in range(1, 5):
        registry.add(above(f"q{constant}", constant))
    folder = Folder(tmp_path)
    folder.file(4).write_bytes(folder.file(1).read_bytes())
    folder.file(3).write_bytes(b"half")
    files = [folder.file(number) for number in (3, 1, 4, 2)]
    batch = pa.RecordBatch.from_pydict(
        {"path": [f"file://{file}" for file in files], "content": [file.read_bytes() for file in files]}
    )
    sent = [(row["root"], row["block"]) for each in _newest((7, 8))([batch]) for row in each.to_pylist()]
    assert [what for what, _ in sent] == [BROKEN] * 4 + [VERSION] * 2
    assert sent[0][1] == b"00000004.json: it cannot be read (it is version 1)"
    assert sent[2][1].startswith(b"00000003.json: it cannot be read")
    assert sent[-1][1] == folder.file(2).read_bytes()
