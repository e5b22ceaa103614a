"""A small folder of trades, and the program as a person would call it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from weft.cli import trades
from weft.cli.app import app

QUERIES = """
-- name: high
SELECT symbol, max(price) AS high, window.end FROM trades GROUP BY symbol, window(ts, '10 minutes', '4 minutes');

-- name: vwap/all day
SELECT sum(price * volume) / sum(volume) AS vwap FROM trades [RANGE 5 MIN SLIDE 2 MIN ON ts] GROUP BY symbol;

-- name: none
SELECT count(*) AS trades FROM trades [RANGE 1 MIN ON ts] HAVING count(*) > 1000000;
"""

Weft = Callable[..., Result]


@pytest.fixture
def weft() -> Weft:
    def call(*arguments: object) -> Result:
        return CliRunner().invoke(app, [str(argument) for argument in arguments])

    return call


@pytest.fixture(scope="session")
def events(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cli") / "trades"
    trades.write(folder, rows=3000, keys=4, seed=1)
    return folder


@pytest.fixture
def queries(tmp_path: Path) -> Path:
    path = tmp_path / "queries.sql"
    path.write_text(QUERIES)
    return path
