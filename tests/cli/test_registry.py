"""weft register, remove and list."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import weft as library
from tests.cli.conftest import Weft

SQL = """
-- name: high
SELECT symbol, max(price) AS high FROM trades GROUP BY symbol, window(ts, '10 minutes', '2 minutes');
-- name: low
-- owner: risk
SELECT symbol, min(price) AS low FROM trades GROUP BY symbol, window(ts, '10 minutes', '2 minutes');
"""


@pytest.fixture
def few(tmp_path: Path) -> Path:
    path = tmp_path / "few.sql"
    path.write_text(SQL)
    return path


def test_queries_are_put_listed_and_taken_out(weft: Weft, few: Path, tmp_path: Path) -> None:
    path = tmp_path / "registry"
    told = weft("register", path, few, "--rate", 100, "--keys", 7, "--types", "price=double", "--reason", "at first")
    assert told.exit_code == 0
    assert [line.split()[4:6] for line in told.stdout.splitlines()] == [["added", "high,"], ["added", "low,"]]
    assert all(line.endswith("because: at first") for line in told.stdout.splitlines())
    assert library.Registry(path).stats == library.Stats(100, 7, {"price": "double"})
    assert "Nothing to do" in weft("register", path, few).stdout
    few.write_text(SQL.replace("10 minutes", "20 minutes", 1))
    assert [line.split()[4] for line in weft("register", path, few, "--rate", 200).stdout.splitlines()] == ["altered"]
    assert library.Registry(path).stats == library.Stats(200, 7, {"price": "double"})
    listed = weft("list", path).stdout
    assert listed.startswith("version 2, 2 queries\n")
    assert "risk" in listed
    assert "'20 minutes'" in listed
    found = json.loads(weft("list", path, "--json").stdout)
    asked = [(query["id"], query["owner"], query["restart"]) for query in found["queries"]]
    assert sorted(asked) == [("high", None, None), ("low", "risk", None)]
    assert "it left 1 other" in weft("remove", path, "low", "--reason", "gone").stdout
    history = weft("list", path, "--history").stdout.splitlines()
    assert len(history) == 4
    assert history[-1].endswith("because: gone")
    assert [line["what"] for line in json.loads(weft("list", path, "--history", "--json").stdout)][-1] == "removed"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("remove", "registry", "hihg"), "query 'hihg': id: there is no query of this name. Did you mean 'high'."),
        (("list", "nosuch"), "PATH: there is no folder 'nosuch'. Begin one with weft register."),
        (("register", "registry", "nosuch.sql"), "file: there is no file 'nosuch.sql'. Check the path."),
        (("register", "few.sql", "few.sql"), "registry: 'few.sql' is no folder"),
    ],
)
def test_what_cannot_be_is_told(
    weft: Weft, few: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(few.parent)
    weft("register", "registry", few)
    told = weft(*arguments)
    assert told.exit_code == 2
    assert told.stderr.startswith(f"weft: {said}")


def test_a_broken_version_is_told(weft: Weft, few: Path, tmp_path: Path) -> None:
    weft("register", tmp_path / "registry", few)
    file = tmp_path / "registry" / "versions" / "00000002.json"
    file.write_text("half a ver")
    told = weft("list", tmp_path / "registry")
    assert told.stdout.startswith("version 1, 2 queries")
    assert f"{file}: it cannot be read" in told.stderr
