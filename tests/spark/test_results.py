"""The buffers of the long form: segments of any column, some of it null, and batches that come when they are full."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from weft.spark import results
from weft.spark.results import Buffers, Shape, arrow_type, slot_name, storable, stored_type

SHAPE = Shape(
    ("query", "query_number", "symbol", "window_start", "window_end", "value_bigint", "value_double", "value_string"),
    ("bigint", "double", "string"),
    ("first", "second"),
    "timestamp",
    True,
)


def keys(*symbols: str | None) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array(symbols, pa.string())], ["key_0"])


def test_rows_of_several_queries() -> None:
    buffers = Buffers(SHAPE, keys("a", None))
    one, two = np.array([0, 1]), np.array([1])
    known = np.array([True, False])
    assert not list(buffers.append(1, one, np.array([10, 20]), 5, [(0, np.array([7, 8]), known)]))
    text = pa.array(["x"])
    assert not list(buffers.append(0, two, np.array([-3]), 2, [(1, np.array([0.5]), None), (2, text, None)]))
    (batch,) = buffers.batches()
    assert batch.schema.names == list(SHAPE.names)
    assert batch["query"].to_pylist() == ["second", "second", "first"]
    assert batch["query_number"].to_pylist() == [1, 1, 0]
    assert batch["symbol"].to_pylist() == ["a", None, None]
    assert batch["window_start"].cast(pa.int64()).to_pylist() == [10, 20, -3]
    assert batch["window_end"].cast(pa.int64()).to_pylist() == [15, 25, -1]
    assert batch["value_bigint"].to_pylist() == [7, None, None]
    assert batch["value_double"].to_pylist() == [None, None, 0.5]
    assert batch["value_string"].to_pylist() == [None, None, "x"]
    assert not list(buffers.batches())


def test_a_full_buffer_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "ROOM", 4)
    buffers = Buffers(SHAPE, keys("a"))
    three = np.zeros(3, np.int64)
    made = [
        batch
        for start in (0, 3, 6)
        for batch in buffers.append(0, three, np.arange(start, start + 3), 1, [(0, np.arange(start, start + 3), None)])
    ]
    made += buffers.batches()
    assert [batch.num_rows for batch in made] == [3, 3, 3]
    assert [value for batch in made for value in batch["value_bigint"].to_pylist()] == list(range(9))


CLOCKS = {"timestamp": pa.timestamp("us", "UTC"), "timestamp_ntz": pa.timestamp("us"), "bigint": pa.int64()}


@pytest.mark.parametrize(("time", "type_"), CLOCKS.items())
def test_clocks(time: str, type_: pa.DataType) -> None:
    buffers = Buffers(Shape(("query", "start", "end"), (), ("q",), time, False), keys().select([]))
    list(buffers.append(0, np.array([0]), np.array([1]), 1, []))
    (batch,) = buffers.batches()
    assert batch.schema.types == [pa.string(), type_, type_]


def test_decimals_are_words() -> None:
    shape = Shape(("query", "start", "end", "value"), ("decimal(38,2)",), ("q",), "bigint", False)
    buffers = Buffers(shape, keys().select([]))
    words = np.array([[-150, -1], [0, 1], [7, 0]], np.int64)
    list(buffers.append(0, np.zeros(3, np.int64), np.arange(3), 1, [(0, words, np.array([True, True, False]))]))
    (batch,) = buffers.batches()
    assert batch["value"].to_pylist() == [Decimal("-1.50"), Decimal(2**64).scaleb(-2), None]


def test_where_answers_stand() -> None:
    assert [stored_type(t) for t in ("tinyint", "int", "bigint")] == ["bigint"] * 3
    assert [stored_type(t) for t in ("float", "date", "decimal(9,1)")] == ["double", "date", "decimal(9,1)"]
    assert slot_name("decimal(9,1)", 2) == "value_decimal_9_1_3"
    assert arrow_type("decimal(9,1)") == pa.decimal128(9, 1)
    assert not storable("array<int>")
    assert not storable("interval day to second")
