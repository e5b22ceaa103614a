"""Shards: one to a partition, and a key's never changes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import functions as F

from weft.spark.keys import alike, dense, hashes
from weft.spark.stream.shards import labels, spark_hash


@pytest.mark.spark
def test_each_partition_has_one_label(spark: Any) -> None:
    for partitions in (1, 2, 3, 200):
        df = spark.createDataFrame([(label,) for label in labels(partitions)], "label int")
        found = df.select(F.pmod(F.hash("label"), F.lit(partitions))).toArrow().column(0).to_pylist()
        assert sorted(found) == list(range(partitions))
    numbers = [-(2**31), -1, 0, 1, 2**31 - 1]
    theirs = spark.createDataFrame([(n,) for n in numbers], "n int").select(F.hash("n")).toArrow().column(0)
    assert spark_hash(np.array(numbers, np.int32)).tolist() == theirs.to_pylist()


def test_a_keys_hash_is_settled_for_good() -> None:
    """State is kept by it: other numbers here mean that every checkpoint is lost."""
    columns = [pa.array(["a", "", None, "a"]), pa.array([1, -1, None, 1], pa.int32()), pa.array([0.0, 1.5, None, -0.0])]
    found = hashes([alike(column) for column in columns], 4)
    assert found[0] == found[3]
    assert [int(number) for number in found[:3]] == [
        6_696_977_312_074_163_125,
        13_184_859_790_401_915_172,
        13_941_327_480_303_136_000,
    ]


def test_keys_are_one_where_spark_says_so() -> None:
    nan = float("nan")
    floats = alike(pa.array([0.0, -0.0, nan, -nan, None, None, 1.0]))
    assert dense([floats], 7)[0].tolist() == [0, 0, 1, 1, 2, 2, 3]
    names = pa.array(["a", "b", "a", None, "b", "a", "a"])
    ids, first = dense([names, floats], 7)
    assert len(set(ids.tolist())) == 7 - (ids[0] == ids[2])
    assert ids[first].tolist() == list(range(len(first)))


def test_a_hash_does_not_depend_on_the_other_keys() -> None:
    names = pa.array(["x", "a", "b", None])
    assert hashes([names], 4)[1:].tolist() == hashes([names.slice(1)], 3).tolist()
