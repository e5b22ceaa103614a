"""weft view: rows of one query out of what `weft run` has written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import weft
from weft.cli import console, planning
from weft.cli.session import session
from weft.errors import BadRequest
from weft.queries.expressions import quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def view(results: Path, plan: Path | None, query: str, limit: int) -> None:
    """Print the first rows of a query, in the order of their columns."""
    from weft.cli import answers

    if not results.is_dir():
        raise BadRequest(f"there is no folder '{results}'", field="RESULTS", remedy="Give what weft run --to was given")
    if plan is None and not (results / answers.PLAN).is_file():
        raise BadRequest(
            f"'{results}' holds no {answers.PLAN}", field="RESULTS", remedy="Give what weft run wrote, or add --plan"
        )
    made = planning.saved(plan or results / answers.PLAN)
    made.workload.position(query)
    with session() as running:
        table(answers.read(running.spark, results, made, query), limit)


def table(rows: DataFrame, limit: int) -> None:
    """The first rows of a DataFrame on stdout."""
    rows = rows.orderBy(*(quoted(name) for name in rows.columns)).limit(limit)
    console.grid([tuple(map(cell, row)) for row in rows.collect()], tuple(rows.columns))


def cell(value: object) -> str:
    """A value as people read it: a window as its two ends.

    >>> cell(None), cell(0.1 + 0.2)
    ('', '0.3')
    """
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, tuple):  # a Row
        return " to ".join(map(cell, value))
    return str(value)


def shown(query: weft.Query) -> str:
    """A query as one line of SQL."""
    return " ".join(line for line in query.to_sql().splitlines() if not line.startswith("-- "))
