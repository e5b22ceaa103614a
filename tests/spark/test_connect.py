"""Over Spark Connect, where a DataFrame is a plan that a server runs, everything is as it is inside one process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.spark


def test_a_connect_session() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.spark.connecting"],
        capture_output=True,
        text=True,
        timeout=600,
        cwd=Path(__file__).parents[2],
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.endswith("same\n")
