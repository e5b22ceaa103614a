"""The examples in the docstrings of the room."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

from weft import slicing


@pytest.mark.parametrize("name", [module.name for module in pkgutil.iter_modules(slicing.__path__)])
def test_docstrings(name: str) -> None:
    outcome = doctest.testmod(importlib.import_module(f"{slicing.__name__}.{name}"))
    assert outcome.attempted
    assert not outcome.failed
