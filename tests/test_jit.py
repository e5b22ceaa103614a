"""What has been compiled is found again, as what it is, whoever else compiles at the same time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from weft.algebra.operators import MAX, MIN, Operator, combine, load, store
from weft.jit import _Files, _meanings, kernel


@kernel
def _pair(operator, partials, out):  # type: ignore[no-untyped-def]
    store(operator, out, 0, combine(operator, load(operator, partials, 0), load(operator, partials, 1)))


def answer(operator: Operator) -> int:
    out = np.zeros((1, 1), np.int64)
    _pair(operator, np.array([[3], [9]]), out)
    return int(out[0, 0])


def test_two_processes_that_save_at_the_same_time(tmp_path: Path) -> None:
    """Each has looked for a free place before the other one has written, which is how Numba's own index goes wrong."""
    one, other = (_Files(str(tmp_path), "kernel", "source") for _ in range(2))
    assert one.load("min") is None
    assert other.load("max") is None
    one.save("min", "code of min")
    other.save("max", "code of max")
    for files in (one, other):
        assert (files.load("min"), files.load("max")) == ("code of min", "code of max")


def test_a_file_that_is_torn_or_somebody_elses_is_compiled_anew(tmp_path: Path) -> None:
    files = _Files(str(tmp_path), "kernel", "source")
    files.save("min", "code of min")
    files.save("max", "code of max")
    here, there = files._path("min"), files._path("max")
    here.write_bytes(there.read_bytes())
    assert files.load("min") is None
    here.write_bytes(there.read_bytes()[:20])
    assert files.load("min") is None


def test_code_of_an_older_source_goes_away(tmp_path: Path) -> None:
    old, new = _Files(str(tmp_path), "kernel", "source"), _Files(str(tmp_path), "kernel", "changed source")
    old.save("min", "old code")
    assert new.load("min") is None
    new.save("max", "new code")
    assert old.load("min") is None
    new.flush()
    assert list(tmp_path.iterdir()) == []


def test_an_operator_that_means_something_else_is_another_kernel() -> None:
    from numba import typeof

    def redefined(body: Any) -> Any:
        class Same(NamedTuple):
            identity: tuple[int]
            combine = staticmethod(body)

        return typeof(Same((0,)))

    left = redefined(lambda operator, older, newer: older)
    right = redefined(lambda operator, older, newer: newer)
    assert list(_meanings([left])) != list(_meanings([right]))
    assert list(_meanings([left])) == list(_meanings([left]))


CALLER = """
from other import AHEAD, step
from weft.jit import kernel
@kernel
def walk(at):
    return step(at) + AHEAD
print(walk(1))
"""


def test_a_kernel_that_calls_another_ones_new_code_is_another_kernel(tmp_path: Path) -> None:
    """Numba asks when a function's own file was written, and a kernel has the code of those it calls in it."""
    caller = tmp_path / "caller.py"
    caller.write_text(CALLER)
    said = []
    for by, ahead in ((1, 10), (2, 10), (2, 20)):
        other = f"from weft.jit import kernel\nAHEAD = {ahead}\n@kernel\ndef step(at):\n    return at + {by}\n"
        (tmp_path / "other.py").write_text(other)
        run = subprocess.run(
            [sys.executable, "-B", str(caller)],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")},
        )
        said.append(int(run.stdout))
    assert said == [12, 13, 23]


def test_operators_are_told_apart() -> None:
    assert (answer(MIN), answer(MAX)) == (3, 9)


@pytest.mark.parametrize("switched_off", ["0", "1"])
def test_the_same_without_the_compiler(switched_off: str) -> None:
    program = "import tests.test_jit as t; print(t.answer(t.MIN), t.answer(t.MAX))"
    environment = {**os.environ, "NUMBA_DISABLE_JIT": switched_off}
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment)
    assert said.stdout.split() == ["3", "9"]
