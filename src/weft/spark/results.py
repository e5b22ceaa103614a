"""Results: the long form, its columns and their types.

The long form has one row per query, group and window:

    query   <group keys>   window_start   window_end   value_double   value_bigint   value_bigint_2   ...

A query's aggregates stand in the value columns of their types, in the order in which the query first uses them;
integers of all widths in value_bigint, floats and doubles in value_double, and a column for each decimal type, so
nothing is rounded. A plan's queries agree on the columns; `binding.slot` says which aggregate stands where. Group keys
that a query does not group by are null in its rows.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from weft.queries.window import Window

_STORED_AS = {
    "tinyint": "bigint", "smallint": "bigint", "int": "bigint", "bigint": "bigint",
    "float": "double", "double": "double",
}  # fmt: skip
_ARROW: Mapping[str, pa.DataType] = {
    "bigint": pa.int64(),
    "double": pa.float64(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "timestamp_ntz": pa.timestamp("us"),
    "string": pa.string(),
    "binary": pa.binary(),
}


def stored_type(type_: str) -> str:
    """The Spark type of the value column that holds answers of this Spark type."""
    return _STORED_AS.get(type_, type_)


def storable(type_: str) -> bool:
    """Whether there is a value column for answers of this Spark type."""
    return stored_type(type_) in _ARROW or type_.startswith("decimal")


def ends(window: Window) -> tuple[str, str]:
    """The columns in which the ends of a query's windows stand."""
    return ("window_start", "window_end") if window.unit == "time" else ("row_start", "row_end")


def slot_name(type_: str, number: int) -> str:
    """The name of the number-th value column of a type, from 0.

    >>> slot_name("bigint", 0), slot_name("decimal(38,2)", 1)
    ('value_bigint', 'value_decimal_38_2_2')
    """
    plain = type_.replace("(", "_").replace(",", "_").replace(")", "")
    return f"value_{plain}" + (f"_{number + 1}" if number else "")


def arrow_type(type_: str) -> pa.DataType:
    """The Arrow type of a value column."""
    if type_.startswith("decimal"):
        precision, scale = type_[8:-1].split(",")
        return pa.decimal128(int(precision), int(scale))
    return _ARROW[type_]
