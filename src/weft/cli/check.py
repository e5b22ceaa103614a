"""Check: the answers of some queries, row by row, against Spark's own `window()`.

Rows are compared as a set, since neither side promises an order. Floating-point numbers may differ by a billionth of
their size (the two sum in different orders) or 1e-12; everything else has to be the same.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import types as T

RELATIVE, ABSOLUTE = 1e-9, 1e-12


def sample(ids: Iterable[str], count: int, seed: int = 7) -> list[str]:
    """So many of the names, in order, the same ones every time."""
    ids = list(ids)
    chosen = random.Random(seed).sample(range(len(ids)), min(count, len(ids)))
    return [ids[position] for position in sorted(chosen)]


def difference(schema: T.StructType, expected: pa.Table, got: DataFrame) -> str | None:
    """What is different first, in words; None where the two have the same columns and rows."""
    wanted, given = (", ".join(f"{f.name} {f.dataType.simpleString()}" for f in s.fields) for s in (schema, got.schema))
    if wanted != given:
        return f"the columns are {given}; Spark's window() gives {wanted}"
    return rows_differ(expected, got.toArrow())


def rows_differ(expected: pa.Table, got: pa.Table) -> str | None:
    """What is different first between the rows of two tables of one schema."""
    if expected.num_rows != got.num_rows:
        return f"there are {got.num_rows:,} rows, Spark's window() gives {expected.num_rows:,}"
    left, right = _sorted(expected), _sorted(got)
    first = min((_first(a, b) for a, b in zip(left.columns, right.columns, strict=True)), default=left.num_rows)
    if first == left.num_rows:
        return None
    row, wanted = right.slice(first, 1).to_pylist()[0], left.slice(first, 1).to_pylist()[0]
    return f"the first different row is {_said(row)}, Spark's window() gives {_said(wanted)}"


def _sorted(table: pa.Table) -> pa.Table:
    """Structs flattened, everything in order: exact columns first, as floats that are nearly equal have none."""
    while any(pa.types.is_struct(column.type) for column in table.columns):
        table = table.flatten()
    table = pa.Table.from_arrays([_orderable(column) for column in table.columns], table.column_names)
    numbered = table.rename_columns([str(number) for number in range(table.num_columns)])
    by = sorted(numbered.column_names, key=lambda name: pa.types.is_floating(numbered[name].type))
    order = pc.sort_indices(numbered, sort_keys=[(name, "ascending") for name in by])
    return table.take(order).combine_chunks()


def _orderable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_nested(column.type) or pa.types.is_null(column.type):
        return pa.chunked_array([pa.array([repr(value) for value in column.to_pylist()], pa.string())])
    return column


def _first(left: pa.ChunkedArray, right: pa.ChunkedArray) -> int:
    """The first row in which two columns differ, or their length."""
    absent, missing = _numpy(left.is_null()), _numpy(right.is_null())
    if pa.types.is_floating(left.type):
        same = _close(_numpy(left.fill_null(0)), _numpy(right.fill_null(0)))
    else:
        same = _numpy(pc.equal(left, right).fill_null(True))
    different = np.flatnonzero((absent != missing) | (~absent & ~same))
    return int(different[0]) if len(different) else len(left)


def _close(left: npt.NDArray[Any], right: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    close: npt.NDArray[np.bool_] = np.isclose(left, right, rtol=RELATIVE, atol=ABSOLUTE, equal_nan=True)
    return close


def _numpy(column: pa.ChunkedArray) -> npt.NDArray[Any]:
    values: npt.NDArray[Any] = column.to_numpy()
    return values


def _said(row: dict[str, Any]) -> str:
    return "(" + ", ".join(f"{name}={value}" for name, value in row.items()) + ")"
