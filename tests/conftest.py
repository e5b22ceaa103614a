"""What all tests share: an embedded Spark, started once and only where a test asks for it, and how much to draw.

`WEFT_PROFILE=deep` draws many more examples, and different ones each time (`make check-deep`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.session import started

_CALM = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large]}
settings.register_profile("dev", max_examples=50, derandomize=True, database=None, **_CALM)
settings.register_profile("deep", max_examples=2_000, print_blob=True, **_CALM)
settings.load_profile(os.environ.get("WEFT_PROFILE", "dev"))


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    session = started()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()
