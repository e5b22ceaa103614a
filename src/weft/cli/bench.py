"""Bench: run a benchmark of the source checkout that this Weft was installed from."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from pathlib import Path

import weft
from weft.cli.console import say
from weft.errors import BadRequest

_NOT_BENCHMARKS = {"measure"}


def bench(name: str, rows: int | None, runs: int | None) -> None:
    """Run `benchmarks/NAME.py`, which prints as it goes and keeps its samples."""
    folder = Path(weft.__file__).parents[2] / "benchmarks"
    found = sorted(path.stem for path in folder.glob("*.py") if path.stem not in _NOT_BENCHMARKS)
    if not found:
        raise BadRequest(
            "the benchmarks are not part of the installed package",
            field="bench",
            remedy="Clone the repository and run make bench there",
        )
    if name not in found:
        raise BadRequest(f"there is no benchmark '{name}'", field="bench", remedy=f"Use one of {', '.join(found)}")
    sys.path.insert(0, str(folder))  # the benchmarks share measure.py, which is no part of the package
    spec = importlib.util.spec_from_file_location(f"weft_bench_{name}", folder / f"{name}.py")
    if spec is None or spec.loader is None:
        raise BadRequest(f"'{folder / name}.py' cannot be loaded", field="bench")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if rows is not None and "rows" not in inspect.signature(module.main).parameters:
        raise BadRequest(f"'{name}' reads no rows", field="rows", remedy="Leave out --rows")
    sizes = {key: value for key, value in (("rows", rows), ("runs", runs)) if value is not None}
    module.main(say=say, **sizes)
