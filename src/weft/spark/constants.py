"""Constants: ten thousand expressions that differ in nothing but their constants are one expression and a table.

    price > 100, price > 101, price > 102, ...      price > ?  with  [100, 101, 102, ...]

A Spark column costs about a millisecond to make from Python and is compiled anew, so a workload of thresholds is built
from its *shapes* (`queries/shapes.py`). The constants go to Spark as one literal array.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from pyspark.sql import Column
from pyspark.sql import functions as F

from weft.queries import expressions as ex
from weft.queries.shapes import Row, blanked, is_blank, types
from weft.spark import columns

__all__ = ["Row", "blanked", "filled", "table", "types"]


def filled(shape: ex.Expression, constants: Sequence[Column]) -> Column:
    """A shape as a Spark column, with these columns for its constants."""
    rest = iter(constants)
    return columns.column(shape, lambda node: next(rest) if is_blank(node) else None)


def table(rows: Sequence[Row | None], of: Sequence[str]) -> Column:
    """An array of structs c0, c1, ... of these types: one literal, which Spark evaluates when it plans."""
    fields = [f"c{number}" for number in range(len(of))]
    text = json.dumps([None if row is None else dict(zip(fields, row, strict=True)) for row in rows])
    as_text = ", ".join(f"{field}: string" for field in fields)
    typed = ", ".join(f"{field}: {type_}" for field, type_ in zip(fields, of, strict=True))
    return F.from_json(F.lit(text), f"array<struct<{as_text}>>").cast(f"array<struct<{typed}>>")
