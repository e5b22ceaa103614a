"""Render: a query as SQL that `sql.queries` reads back to the same query.

What Spark's `window()` can say is written for Spark; a delay, a window of rows, a slide longer than the range, a query
that names no time column and one with the default columns are written with the papers' brackets. Columns are written
behind the stream's alias where a bare name could be taken for something else of the statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from weft.errors import BadRequest
from weft.queries import durations
from weft.queries import expressions as ex
from weft.queries.brackets import ANY_STREAM, FORMATS
from weft.queries.query import Measure, Query
from weft.queries.sql import names_window
from weft.queries.window import Window
from weft.queries.workload import Workload

_ALIAS = "t"


def workload_sql(workload: Workload) -> str:
    """All queries of a workload, with a semicolon behind each."""
    return "\n\n".join(f"{query_sql(query)};" for query in workload) + "\n"


def query_sql(query: Query) -> str:
    """One query, below its name."""
    labels = {"name": query.id} if query.owner is None else {"name": query.id, "owner": query.owner}
    for (label, said), field in zip(labels.items(), ("id", "owner"), strict=False):
        if said != said.strip() or re.search(r"[\r\n]", said):
            raise BadRequest(
                f"this {label} does not fit behind -- {label}:",
                query=query.id,
                field=field,
                remedy="Use a name on one line",
            )
    qualified = _qualified(query)

    def text(expression: ex.Expression) -> str:
        def column(node: ex.Expression) -> str | None:
            return f"{_ALIAS}.{'.'.join(map(ex.plain, node.path))}" if isinstance(node, ex.Column) else None

        return ex.to_sql(expression, column) if qualified else ex.to_sql(expression)

    def item(measure: Measure) -> str:
        said = text(measure.expression)
        return said if ex.label(measure.expression) == measure.name else f"{said} AS {ex.plain(measure.name)}"

    keys = [f"({text(key)})" if isinstance(key, ex.Literal) else text(key) for key in query.group_by]
    stream = _stream(query) + (f" AS {_ALIAS}" if qualified else "")
    if query.time is not None and query.columns and _for_spark(query.window):
        keys.append(f"window({', '.join([text(query.time), *_sizes(query.window)])})")
    else:
        stream += f" {_bracket(query, None if query.time is None else text(query.time))}"
    lines = [
        *(f"-- {label}: {said}" for label, said in labels.items()),
        f"SELECT {', '.join(map(item, query.columns or query.measures))}",
        f"FROM {stream}",
    ]
    if query.where is not None:
        lines.append(f"WHERE {text(query.where)}")
    if keys:
        lines.append(f"GROUP BY {', '.join(keys)}")
    if query.having is not None:
        lines.append(f"HAVING {text(query.having)}")
    return "\n".join(lines)


def _for_spark(window: Window) -> bool:
    return window.unit == "time" and not window.delay and window.slide <= window.range


def _sizes(window: Window) -> Iterator[str]:
    given = [window.range]
    if window.slide != window.range or window.offset:
        given.append(window.slide)
    if window.offset:
        given.append(window.offset)
    return (f"'{durations.text(size)}'" for size in given)


def _bracket(query: Query, time: str | None) -> str:
    window = query.window
    rows = window.unit == "rows"
    parts = [("ROWS" if rows else "RANGE", window.range)]
    parts += [
        (field, size)
        for field, size, usual in (
            ("SLIDE", window.slide, window.range),
            ("OFFSET", window.offset, 0),
            ("DELAY", window.delay, 0),
        )
        if size != usual
    ]
    said = [f"{field} {size if rows else durations.text(size).upper()}" for field, size in parts]
    if time is not None:
        said.append(f"ON {time}")
    if query.columns and not names_window(query.columns):
        said.append("COLUMNS LISTED")
    return f"[{' '.join(said)}]"


def _stream(query: Query) -> str:
    if query.source is None:
        return ANY_STREAM
    parts = query.source.split(".")
    if not all(parts) or (len(parts) > 1 and not (all(map(_SIMPLE.fullmatch, parts)) and parts[0] not in FORMATS)):
        raise BadRequest(
            f"'{query.source}' cannot be written in SQL", query=query.id, field="FROM", remedy="Use a simple name"
        )
    return ".".join(ex.quoted(part) if part.lower() == ANY_STREAM else ex.plain(part) for part in parts)


_SIMPLE = re.compile(r"[\w-]+")


def _qualified(query: Query) -> bool:
    """Whether a bare column could be read as an alias of the SELECT list, or its struct as the stream."""
    items = query.columns or query.measures
    aliases = {item.name.lower() for item in items if item.name != ex.label(item.expression)}
    expressions = [item.expression for item in items] + [*query.group_by]
    expressions += [expression for expression in (query.where, query.having, query.time) if expression is not None]
    stream = (query.source or ANY_STREAM).split(".")[-1].lower()
    return any(
        column.path[0].lower() in (aliases if len(column.path) == 1 else (stream,))
        for expression in expressions
        for column in ex.columns(expression)
    )
