"""A Python worker that dies in the middle of a job: Spark starts its task again, and no answer is lost or doubled."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("where", ["events", "answers"])
def test_a_worker_that_dies_once(tmp_path: Path, where: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.differential.dying", where, str(tmp_path / "died")],
        capture_output=True,
        text=True,
        timeout=600,
        cwd=Path(__file__).parents[2],
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.startswith("same ")
