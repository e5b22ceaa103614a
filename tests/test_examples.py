"""The examples in the docstrings."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

import weft

SOURCE = Path(weft.__file__).parent
WITH_EXAMPLES = sorted(path for path in SOURCE.rglob("*.py") if ">>> " in path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_docstrings(path: Path) -> None:
    name = ".".join(("weft", *path.relative_to(SOURCE).with_suffix("").parts))
    outcome = doctest.testmod(importlib.import_module(name))
    assert outcome.attempted
    assert not outcome.failed


@pytest.mark.parametrize("path", sorted((SOURCE / "slicing").glob("[a-z]*.py")), ids=lambda path: path.stem)
def test_slicing_is_told_by_examples(path: Path) -> None:
    assert path in WITH_EXAMPLES
