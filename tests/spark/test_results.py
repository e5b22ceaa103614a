"""The long form: which column holds which answers."""

from __future__ import annotations

import pyarrow as pa

from weft.spark.results import arrow_type, slot_name, storable, stored_type


def test_where_answers_stand() -> None:
    assert [stored_type(t) for t in ("tinyint", "int", "bigint")] == ["bigint"] * 3
    assert [stored_type(t) for t in ("float", "date", "decimal(9,1)")] == ["double", "date", "decimal(9,1)"]
    assert slot_name("decimal(9,1)", 2) == "value_decimal_9_1_3"
    assert arrow_type("decimal(9,1)") == pa.decimal128(9, 1)
    assert not storable("array<int>")
    assert not storable("interval day to second")
