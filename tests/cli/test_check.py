"""The comparison that `--check` makes, on tables alone."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from weft.cli.check import rows_differ, sample

NAN, INF = float("nan"), float("inf")


def differ(expected: list[Any], got: list[Any]) -> str | None:
    column = pa.array(expected)
    return rows_differ(pa.table({"x": column}), pa.table({"x": pa.array(got, column.type)}))


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        ([], []),
        ([1, 2, None], [None, 2, 1]),
        ([0.1 + 0.2, NAN, INF, None], [INF, 0.3, None, NAN]),
        ([1e300 * (1 + 1e-10)], [1e300]),
        ([[1, 2], None], [None, [1, 2]]),
        ([{"start": 1, "end": {"at": 2.0}}], [{"start": 1, "end": {"at": 2.0 + 1e-12}}]),
    ],
)
def test_equal(expected: list[Any], got: list[Any]) -> None:
    assert differ(expected, got) is None


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        ([1], []),
        ([1, 1, 2], [1, 2, 2]),
        ([1], [None]),
        ([0.0], [None]),
        ([NAN], [None]),
        ([NAN], [0.0]),
        ([INF], [-INF]),
        ([1.0], [1.0 + 1e-8]),
        ([[1, 2]], [[2, 1]]),
        ([2**53], [2**53 + 1]),
        ([{"start": 1}], [None]),
        ([b"a", b"b"], [b"a", b"c"]),
    ],
)
def test_different(expected: list[Any], got: list[Any]) -> None:
    assert differ(expected, got) is not None


def test_the_first_different_row_is_said() -> None:
    expected = pa.table({"symbol": ["a", "b"], "high": [1.0, 2.0]})
    got = pa.table({"symbol": ["b", "a"], "high": [2.5, 1.0]})
    said = rows_differ(expected, got)
    assert said == "the first different row is (symbol=b, high=2.5), Spark's window() gives (symbol=b, high=2.0)"


def test_a_sample_is_the_same_every_time_and_no_larger_than_the_whole() -> None:
    ids = [f"q{number}" for number in range(100)]
    assert sample(ids, 5) == sample(ids, 5)
    assert sample(ids, 5) == sorted(sample(ids, 5), key=ids.index)
    assert sample(ids, 1000) == ids
