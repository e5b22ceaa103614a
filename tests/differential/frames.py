"""Frames: small streams with everything in them that an engine can get wrong, column by column.

Times lie on a grid of half seconds, mostly, so that rows on a window's edge are common; they begin before 1970.
Only the columns that a workload reads are drawn.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession

NAN, INF = float("nan"), float("inf")
HALF_SECONDS = st.integers(-30, 60)


def _time(halves: int, micros: int) -> int:
    return halves * 500_000 + micros


_TIMES = st.one_of(
    HALF_SECONDS.map(lambda halves: _time(halves, 0)),
    HALF_SECONDS.map(lambda halves: _time(halves, 0)),
    st.tuples(HALF_SECONDS, st.sampled_from((-1, 1))).map(lambda drawn: _time(*drawn)),
    st.none(),
)
_MOMENTS = st.sampled_from((None, 0, -1, 1, 1_700_000_000_123_456, -5_000_000_000_000_000))


def _decimals(*texts: str | None) -> st.SearchStrategy[Decimal | None]:
    return st.sampled_from([None if text is None else Decimal(text) for text in texts])


COLUMNS: dict[str, tuple[pa.DataType, st.SearchStrategy[Any]]] = {
    "ts": (pa.timestamp("us", "UTC"), _TIMES),
    "ntz": (pa.timestamp("us"), _TIMES),
    "name": (pa.string(), st.sampled_from(("a", "A", "é", "", None))),
    "flag": (pa.bool_(), st.sampled_from((True, False, None))),
    "day": (pa.date32(), st.sampled_from((date(1969, 12, 31), date(2024, 2, 29), None))),
    "bucket": (pa.int32(), st.sampled_from((0, 1, -1, None))),
    "real": (pa.float64(), st.sampled_from((0.0, -0.0, NAN, 1.5, None))),
    "b": (pa.int8(), st.sampled_from((0, 1, -3, 127, -128, None))),
    "s": (pa.int16(), st.sampled_from((0, 2, -3, 32_767, -32_768, None))),
    "i": (pa.int32(), st.sampled_from((0, 1, 2, 3, -7, 1_000, None))),
    "l": (pa.int64(), st.sampled_from((0, 1, 5, -3, 2**53 + 1, -(2**40), 2**62 - 1, -(2**62) + 3, None))),
    "f": (pa.float32(), st.sampled_from((0.1, 1.5, -2.25, 1e10, NAN, -INF, -0.0, None))),
    "d": (pa.float64(), st.sampled_from((0.1, 1.0, 1.0, -2.5, 1 / 3, 1e16, 1e16, -1e16, -0.0, NAN, INF, -INF, None))),
    "calm": (pa.float64(), st.sampled_from((0.1, 1.0, 1.0, -2.5, 1 / 3, 1e16, None))),
    "price": (pa.decimal128(10, 2), _decimals("0.00", "1.25", "-3.10", "99999999.99", "-99999999.99", "0.01", None)),
    "whole": (pa.decimal128(18, 0), _decimals("0", "7", "-7", "999999999999999999", "-999999999999999999", None)),
    "wide": (
        pa.decimal128(38, 6),
        _decimals("0", "1.000001", "-12345678901234567890.123456", "1" + "0" * 27 + ".5", "-0.000001", None),
    ),
    "text": (pa.string(), st.sampled_from(("", "a", "Z", "zz", "ä", "日本", "😀", "a" * 40, None))),
    "moment": (pa.timestamp("us", "UTC"), _MOMENTS),
    "local": (pa.timestamp("us"), _MOMENTS),
}  # fmt: skip
TYPES = {
    "ts": "timestamp", "ntz": "timestamp_ntz", "tick": "timestamp", "name": "string", "flag": "boolean", "day": "date",
    "bucket": "int", "real": "double", "b": "tinyint", "s": "smallint", "i": "int", "l": "bigint", "f": "float",
    "d": "double", "calm": "double", "price": "decimal(10,2)", "whole": "decimal(18,0)", "wide": "decimal(38,6)",
    "text": "string", "moment": "timestamp", "local": "timestamp_ntz",
}  # fmt: skip


@dataclass(frozen=True)
class Frame:
    """Columns of equal length."""

    columns: dict[str, list[Any]]

    def table(self) -> pa.Table:
        types = {name: pa.timestamp("us", "UTC") if name == "tick" else COLUMNS[name][0] for name in self.columns}
        return pa.table({name: pa.array(values, types[name]) for name, values in self.columns.items()})

    def on(self, spark: SparkSession) -> DataFrame:
        """The frame as a DataFrame; types are spelled out: Spark takes every timestamp for one with a zone."""
        return spark.createDataFrame(self.table(), ", ".join(f"{name} {TYPES[name]}" for name in self.columns))


@st.composite
def frames(draw: st.DrawFn, names: Iterable[str], most: int = 60) -> Frame:
    """A frame with these columns. `tick` has every time once, for windows of rows, whose order must be settled."""
    rows = draw(st.integers(0, most))
    columns = {}
    for name in sorted(names):
        if name == "tick":
            columns[name] = [500_000 * at for at in draw(st.permutations(range(-10, rows - 10)))]
        else:
            columns[name] = draw(st.lists(COLUMNS[name][1], min_size=rows, max_size=rows))
    return Frame(columns)
