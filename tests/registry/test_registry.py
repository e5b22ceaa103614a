"""A registry is a folder of versions: each whole, each with its audit, none lost however many write."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import weft
from weft.registry import registry as door
from weft.registry.versions import Folder, Version


def query(id_: str, size: str = "10 min", slide: str = "2 min", **other: object) -> weft.Query:
    return weft.Query(id_, "max(price) AS m", weft.Window(size, slide), **{"group_by": "k", **other})  # type: ignore[arg-type]


@pytest.fixture
def registry(tmp_path: Path) -> weft.Registry:
    return weft.Registry(tmp_path / "registry", weft.Stats(rate=100, keys=10))


def test_each_change_is_a_version_with_its_line(registry: weft.Registry) -> None:
    added = registry.add([query("high"), query("low", owner="risk")], reason="asked for")
    registry.alter(query("high", "20 min"))
    registry.remove("low", reason="nobody reads it")
    assert [(line.what, line.query, line.before, line.after) for line in registry.history()] == [
        ("added", "high", 0, 1), ("added", "low", 0, 1), ("altered", "high", 1, 2), ("removed", "low", 2, 3),
    ]  # fmt: skip
    assert registry.history()[:2] == added
    last = registry.history()[-1]
    assert (last.owner, last.reason, last.trees_before, last.trees) == ("risk", "nobody reads it", 1, 1)
    for line in registry.history()[2:]:
        assert (line.cost_before, line.cost) == (registry.plan(line.before).cost, registry.plan(line.after).cost)
    assert str(last).endswith("because: nobody reads it")
    assert [each.query for each in registry.list()] == [query("high", "20 min")]
    assert registry.plan(1).workload.ids == ("high", "low")
    assert weft.diff(registry.plan(1), registry.plan(3)).removed == ("low",)


def test_text_is_read_and_queries_are_put_once(registry: weft.Registry) -> None:
    sql = "-- name: high\n-- owner: desk\nSELECT max(price) AS m FROM s [RANGE 10 MIN SLIDE 2 MIN ON ts] GROUP BY k;"
    assert [line.what for line in registry.put(sql)] == ["added"]
    assert registry.put(sql) == ()
    assert registry.put(sql.replace("-- owner: desk\n", "")) == ()
    assert registry.version == 1
    assert [line.what for line in registry.put(sql, owner="risk")] == ["altered"]
    assert [line.what for line in registry.put(sql.replace("10 MIN", "20 MIN"))] == ["altered"]
    assert registry.list()[0].query.owner == "desk"


def test_another_process_goes_on_from_what_is_there(registry: weft.Registry) -> None:
    registry.add(query("a"))
    other = weft.Registry(registry.path)
    other.add(query("b"))
    registry.add(query("c"))
    assert registry.plan() == weft.Registry(registry.path).plan()
    assert registry.plan().workload.ids == ("a", "b", "c")
    assert registry.plan().stats == weft.Stats(rate=100, keys=10)
    weft.Registry(registry.path, technique="two_stacks").remove("c")
    assert {tree.technique for tree in registry.plan()} == {"two_stacks"}


def test_many_writers_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "registry"

    def write(writer: int) -> None:
        own = weft.Registry(path)
        for number in range(5):
            own.add(query(f"{writer} {number}"))
            if number == 3:
                own.remove(f"{writer} 1")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    found = weft.Registry(path)
    assert {each.query.id for each in found.list()} == {f"{w} {n}" for w in range(4) for n in (0, 2, 3, 4)}
    assert found.version == 4 * 6
    assert not [file for file in path.iterdir() if file.name != "versions"], "nothing is left lying about"
    assert [line.after for line in found.history()] == list(range(1, 25))


def test_a_registry_that_is_emptied_keeps_its_settings(registry: weft.Registry) -> None:
    registry.add(query("a"))
    registry.remove("a")
    assert registry.list() == ()
    with pytest.raises(weft.BadRequest, match="there are no queries in it"):
        registry.plan()
    weft.Registry(registry.path).add(query("b"))
    assert registry.plan().stats == weft.Stats(rate=100, keys=10)


def test_a_change_that_fails_changes_nothing(registry: weft.Registry) -> None:
    registry.add(query("a"))
    for change in (
        lambda: registry.add([query("b"), query("a")]),
        lambda: registry.alter(query("c")),
        lambda: registry.remove(["a", "nosuch"]),
        lambda: registry.add(query("d", having="max(price) > 1")),
        lambda: registry.add(weft.Query("e", "count(*)", weft.Window.rows(10, 5))),
        lambda: registry.add(query("f"), owner=" "),
    ):
        with pytest.raises(weft.BadRequest):
            change()
    assert (registry.version, registry.plan().workload.ids) == (1, ("a",))
    registry.add(query("b"))
    assert registry.plan().workload.ids == ("a", "b")


@pytest.mark.parametrize("damage", [b"", b"{}\n", b"half", b'{"format": 9}\nnull\n'])
def test_a_broken_version_is_named_and_passed_over(registry: weft.Registry, damage: bytes) -> None:
    registry.add(query("a"))
    registry.add(query("b"))
    file = registry.path / "versions" / "00000002.json"
    file.write_bytes(file.read_bytes()[:-40] if damage == b"half" else damage)
    assert (registry.version, registry.plan().workload.ids) == (1, ("a",))
    assert list(registry.broken) == [str(file)]
    with pytest.raises(weft.RunFailed, match=r"00000002\.json: it cannot be read"):
        registry.plan(2)
    registry.add(query("c"))
    assert (registry.version, registry.plan().workload.ids) == (3, ("a", "c"))
    assert not registry.broken


def test_a_version_in_another_ones_place_is_none(registry: weft.Registry) -> None:
    registry.add(query("a"))
    there = registry.path / "versions" / "00000001.json"
    (there.parent / "00000007.json").write_bytes(there.read_bytes())
    assert registry.version == 1
    with pytest.raises(weft.RunFailed, match=r"00000007\.json: it cannot be read \(it is version 1\)"):
        registry.plan(7)
    with pytest.raises(weft.BadRequest, match=r"there is no version 5\. Use one of those"):
        registry.plan(5)


def test_a_folder_that_cannot_be_written_to_is_told_and_left_as_it_was(
    registry: weft.Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry.add(query("a"))
    before = sorted(registry.path.rglob("*"))

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    for call in ("fsync", "link"):
        with monkeypatch.context() as broken:
            broken.setattr(f"weft.registry.versions.os.{call}", full)
            with pytest.raises(weft.RunFailed, match=r"No space left .* Give a folder"):
                registry.add(query("b"))
        assert sorted(registry.path.rglob("*")) == before
    registry.add(query("b"))
    assert registry.plan().workload.ids == ("a", "b")


def test_versions_read_back(registry: weft.Registry) -> None:
    registry.add([query(f"q{number}", f"{number + 2} min", "1 min") for number in range(20)])
    data = (registry.path / "versions" / "00000001.json").read_bytes()
    version = Version.from_bytes(data)
    assert version.to_bytes() == data
    assert version.plan == registry.plan()
    assert json.loads(data.splitlines()[0])["version"] == 1


def test_writers_that_are_always_late_are_told(registry: weft.Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Folder, "write", lambda *_: False)
    monkeypatch.setattr(door, "_TRIES", 3)
    with pytest.raises(weft.RunFailed, match="other writers were quicker 3 times"):
        registry.add(query("a"))
