"""Bundles: runs of any column, some of it null; batches that come when they are full; and what Spark unrolls."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from weft.spark import bundles
from weft.spark.bundles import Buffers, Shape, bundled, unrolled

SHAPE = Shape(
    ("query", "query_number", "symbol", "window_start", "window_end", "value_bigint", "value_double", "value_string"),
    ("bigint", "double", "string"),
    ("first", "second"),
    "timestamp",
    True,
)


def keys(*symbols: str | None) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array(symbols, pa.string())], ["key_0"])


def numbers(column: pa.Array) -> list[list[int]]:
    return [[value.value for value in run] for run in column]


def test_runs_of_several_queries() -> None:
    buffers = Buffers(SHAPE, keys("a", None))
    known = np.array([True, False, True])
    assert not list(
        buffers.append(1, np.array([0, 0, 1]), np.array([10, 20, 20]), 5, [(0, np.array([7, 8, 9]), known)])
    )
    text = pa.array(["x"])
    assert not list(buffers.append(0, np.array([1]), np.array([-3]), 2, [(1, np.array([0.5]), None), (2, text, None)]))
    (batch,) = buffers.batches()
    assert batch.schema.names == list(SHAPE.names)
    assert batch["query"].to_pylist() == ["second", "second", "first"]
    assert batch["query_number"].to_pylist() == [1, 1, 0]
    assert batch["symbol"].to_pylist() == ["a", None, None]
    assert numbers(batch["window_start"]) == [[10, 20], [20], [-3]]
    assert numbers(batch["window_end"]) == [[15, 25], [25], [-1]]
    assert batch["value_bigint"].to_pylist() == [[7, None], [9], None]
    assert batch["value_double"].to_pylist() == [None, None, [0.5]]
    assert batch["value_string"].to_pylist() == [None, None, ["x"]]
    assert not list(buffers.batches())


def test_a_full_buffer_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundles, "ROOM", 4)
    buffers = Buffers(SHAPE, keys("a"))
    three = np.zeros(3, np.int64)
    made = [
        batch
        for start in (0, 3, 6)
        for batch in buffers.append(0, three, np.arange(start, start + 3), 1, [(0, np.arange(start, start + 3), None)])
    ]
    made += buffers.batches()
    assert [batch["value_bigint"].to_pylist() for batch in made] == [[[0, 1, 2]], [[3, 4, 5]], [[6, 7, 8]]]


CLOCKS = {"timestamp": pa.timestamp("us", "UTC"), "timestamp_ntz": pa.timestamp("us"), "bigint": pa.int64()}


@pytest.mark.parametrize(("time", "type_"), CLOCKS.items())
def test_clocks(time: str, type_: pa.DataType) -> None:
    buffers = Buffers(Shape(("query", "start", "end"), (), ("q",), time, False), keys().select([]))
    list(buffers.append(0, np.array([0]), np.array([1]), 1, []))
    (batch,) = buffers.batches()
    assert batch.schema.types == [pa.string(), pa.list_(type_), pa.list_(type_)]


def test_decimals_are_words() -> None:
    shape = Shape(("query", "start", "end", "value"), ("decimal(38,2)",), ("q",), "bigint", False)
    buffers = Buffers(shape, keys().select([]))
    words = np.array([[-150, -1], [0, 1], [7, 0]], np.int64)
    list(buffers.append(0, np.zeros(3, np.int64), np.arange(3), 1, [(0, words, np.array([True, True, False]))]))
    (batch,) = buffers.batches()
    assert batch["value"].to_pylist() == [[Decimal("-1.50"), Decimal(2**64).scaleb(-2), None]]


@pytest.mark.spark
def test_spark_unrolls_what_was_bundled(spark: Any) -> None:
    ends = "row_start bigint not null, row_end bigint not null"
    long_form = spark.createDataFrame([], f"query string not null, `a``b.c` string, {ends}, value_double double").schema
    rows = [("one", "k", [1, 2], [4, 5], [0.5, None]), ("two", None, [7], [8], None), ("none", "k", [], [], [])]
    found = unrolled(spark.createDataFrame(rows, bundled(long_form, 1)), 1)
    assert found.schema == long_form
    assert [tuple(row) for row in found.collect()] == [
        ("one", "k", 1, 4, 0.5),
        ("one", "k", 2, 5, None),
        ("two", None, 7, 8, None),
    ]
    bare = unrolled(
        spark.createDataFrame([("one", [1], [2])], "query string, row_start array<int>, row_end array<int>"), 0
    )
    assert [tuple(row) for row in bare.collect()] == [("one", 1, 2)]
