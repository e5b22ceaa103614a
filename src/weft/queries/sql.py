"""SQL: text in, queries out, in three spellings that one text may mix.

    -- name: high
    -- owner: trading desk
    SELECT symbol, max(price) AS high FROM trades GROUP BY symbol, window(ts, '10 minutes', '2 minutes');
    SELECT max(price) FROM trades [RANGE 10 MIN SLIDE 2 MIN] GROUP BY symbol;
    SELECT window_end, max(price) FROM HOP(TABLE trades, DESCRIPTOR(ts), INTERVAL '2' MINUTE, INTERVAL '10' MINUTE)
    GROUP BY window_end

A query is called what the line `-- name: ...` above it says, and else `q1`, `q2`, ... by position; `-- owner: ...` says
whose it is. Spark's spelling has the columns of its SELECT list, with Spark's names. `FROM stream` is whatever stream
the workload runs over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeVar

from weft.errors import BadRequest, WeftError
from weft.queries import brackets, hop, parse
from weft.queries import expressions as ex
from weft.queries.query import Measure, Query, moved
from weft.queries.tokens import LONGEST, UNSUPPORTED, Cursor, Token, comments, opened, tokens
from weft.queries.window import Window

_T = TypeVar("_T")
_NO_WINDOW = "there is no window"
_WRITE_WINDOW = "Write GROUP BY ..., window(ts, '10 minutes', '2 minutes'), or [RANGE 10 MIN SLIDE 2 MIN] after FROM"


@dataclass(frozen=True, slots=True)
class _Source:
    """What FROM says. `form` is spark, papers or flink."""

    form: str
    stream: brackets.Stream
    time: ex.Column | None = None
    window: Window | None = None
    listed: bool = True


@dataclass(frozen=True, slots=True)
class _Item:
    """One element of the SELECT list, as it is spelled."""

    expression: ex.Expression
    alias: str | None
    at: Token


def queries(text: str, first: int = 1) -> list[Query]:
    """All queries of a text, in order; `first` is the number of the first one, for those without a name."""
    if not isinstance(text, str):
        raise BadRequest(f"{text!r} is no text", field="SQL", remedy="Give a string")
    try:
        found = tokens(text)
    except BadRequest as error:
        raise _torn(text, error, first) from None
    read: list[Query] = []
    start, behind = 0, 0
    for at in range(len(found) + 1):
        if at < len(found) and (found[at].kind, found[at].text) != ("sign", ";"):
            continue
        if at > start:
            name = f"q{len(read) + first}"
            try:
                labels = _labels(text[behind : found[start].start])
                name = labels.get("name", name)
                if found[at - 1].end - found[start].start > LONGEST:
                    raise BadRequest(f"the statement is longer than {LONGEST} characters", remedy="Shorten it")
                query = _query(Cursor(text, found[start:at], clause="SQL"), name)
                read.append(moved(query, name, query.window, labels.get("owner")))
            except BadRequest as error:
                raise error.within(name, "SQL") from None
        if at < len(found):
            start, behind = at + 1, found[at].end
    if not read:
        raise BadRequest("there is no query", field="SQL", remedy="Write at least one SELECT")
    return read


def _torn(text: str, error: WeftError, first: int) -> WeftError:
    """The error of a text that cannot be cut into tokens, told of the query in which that begins."""
    whole = text[: opened(text)]
    try:
        before = tokens(whole)
    except BadRequest:
        return error.within(field="SQL")
    ends = [at for at, token in enumerate(before) if (token.kind, token.text) == ("sign", ";")]
    number = first + sum(end - start > 1 for start, end in pairwise((-1, *ends)))
    begun = before[ends[-1] + 1 :] if ends else before
    gap = whole[before[ends[-1]].end if ends else 0 : begun[0].start if begun else None]
    return error.within(_labels(gap).get("name", f"q{number}"), "SQL")


_LABELS = {"name": "high", "owner": "trading desk"}
"""What the comments above a query may say of it, each with an example."""


def _labels(gap: str) -> dict[str, str]:
    found = {}
    for comment in comments(gap):
        word, colon, rest = comment.removeprefix("--").partition(":")
        label = word.strip().lower()
        if comment.startswith("--") and colon and label in _LABELS:
            found[label] = rest.strip()
            if not found[label]:
                remedy = f"Write -- {label}: {_LABELS[label]}"
                raise BadRequest(f"the {label} is empty", field=f"-- {label}", remedy=remedy)
    return found


def _query(cursor: Cursor, name: str) -> Query:
    if not cursor.sees("select"):
        token = cursor.ahead()
        shown = cursor.source(token)[:40] if token is not None else ""
        other = UNSUPPORTED.get(shown.lower(), ("", "Write SELECT, FROM and GROUP BY"))[1]
        cursor.refuse(f"only SELECT can be asked, not {shown}", other)
    cursor.take()
    windows: dict[tuple[ex.Column, Window], Token] = {}
    cursor.calls["window"] = lambda inner: _window(inner, windows)
    items = _items(cursor)
    cursor.expect("from")
    cursor.clause = "FROM"
    source = _source(cursor)
    where = _clause(cursor, "where", parse.read)
    assumed: list[str] = []
    keys = _clause(cursor, "group by", lambda inner: _keys(inner, items, assumed)) or []
    having = _clause(cursor, "having", parse.read)
    parse.end(cursor)
    return _assembled(cursor, name, source, windows, items, where, keys, having, assumed)


def _clause(cursor: Cursor, words: str, reader: Callable[[Cursor], _T]) -> _T | None:
    first, *rest = words.split()
    if not cursor.accept(first):
        return None
    cursor.clause = words.upper()
    for word in rest:
        cursor.expect(word)
    return reader(cursor)


def _items(cursor: Cursor) -> list[_Item]:
    cursor.clause = "SELECT"
    items = []
    while True:
        at = cursor.ahead()
        raw = parse.read(cursor)
        assert at is not None  # there was something to read
        items.append(_Item(raw, parse.alias(cursor), at))
        if not cursor.accept(","):
            return items


def _source(cursor: Cursor) -> _Source:
    if hop.ahead(cursor):
        found = hop.read(cursor)
        source = _Source("flink", found.source, found.time, found.window)
        alias = parse.alias(cursor)
    else:
        source, alias = _Source("spark", brackets.stream(cursor)), parse.alias(cursor)
        if cursor.sees("["):
            bracket = brackets.read(cursor)
            source = _Source("papers", source.stream, bracket.time, bracket.window, bracket.listed)
            alias = alias or parse.alias(cursor)
    if cursor.sees(","):
        cursor.refuse(*UNSUPPORTED["join"])
    return source if alias is None else replace(source, stream=brackets.Stream(source.stream.name, alias))


def _window(cursor: Cursor, windows: dict[tuple[ex.Column, Window], Token]) -> ex.Expression:
    at = cursor.tokens[cursor.at - 2]
    time = brackets.path(cursor)
    sizes: dict[str, int] = {}
    for field in ("range", "slide", "offset"):
        if cursor.accept(","):
            sizes[field] = brackets.duration(cursor)
    cursor.expect(")")
    if "range" not in sizes:
        cursor.refuse("window() lacks a size", "Write window(ts, '10 minutes', '2 minutes')", at)
    if cursor.sees("."):
        cursor.refuse("window() is followed by a field", "Write window.start or window.end in the SELECT list")
    sizes.setdefault("slide", sizes["range"])
    windows.setdefault((time, brackets.window(cursor, at, sizes)), at)
    return ex.WINDOW


def _keys(cursor: Cursor, items: list[_Item], assumed: list[str]) -> list[ex.Expression]:
    # what GROUP BY takes for an alias is added to `assumed`: whether the stream has such a column is not known here
    keys = []
    while True:
        token = cursor.ahead()
        if cursor.sees("grouping", "rollup", "cube"):
            cursor.unexpected()
        raw = parse.read(cursor)
        if token is not None and token.kind == "number" and isinstance(raw, ex.Literal):
            position = int(raw.value or 0) if raw.type == "int" else 0
            if not 1 <= position <= len(items):
                cursor.refuse(
                    f"there is no column {cursor.source(token)} in the SELECT list",
                    f"Give a position from 1 to {len(items)}, or the column itself",
                    token,
                )
            raw = items[position - 1].expression
        key = _unaliased(raw, items)
        if key != raw and isinstance(raw, ex.Column):
            assumed.append(raw.path[0])
        keys.append(key)
        if not cursor.accept(","):
            return keys


def _unaliased(key: ex.Expression, items: list[_Item]) -> ex.Expression:
    # Spark takes a column of the stream before an alias. An alias whose own expression reads a column of that name
    # shows that there is such a column.
    for item in items:
        if not _is_alias(key, item) or any(True for _ in ex.aggregates(item.expression)):
            continue
        read = {column.path[-1].lower() for column in ex.columns(item.expression)}
        if item.alias is not None and item.alias.lower() not in read:
            return item.expression
    return key


def _is_alias(node: ex.Expression, item: _Item) -> bool:
    named = isinstance(node, ex.Column) and len(node.path) == 1 and item.alias is not None
    return named and isinstance(node, ex.Column) and node.path[0].lower() == str(item.alias).lower()


def _assembled(
    cursor: Cursor,
    name: str,
    source: _Source,
    windows: dict[tuple[ex.Column, Window], Token],
    items: list[_Item],
    where: ex.Expression | None,
    keys: list[ex.Expression],
    having: ex.Expression | None,
    assumed: list[str],
) -> Query:
    """The query that the clauses make together, whichever spelling they come from."""
    time, window = _place(cursor, source, windows, keys)
    qualifier = (source.stream.qualifier or "").lower()
    statement = source.form != "spark"

    def bare(node: ex.Expression) -> ex.Expression | None:
        if isinstance(node, ex.Column) and len(node.path) > 1 and node.path[0].lower() == qualifier:
            return ex.Column(node.path[1:])
        return None

    group_by = [parse.canonical(ex.rewrite(key, bare), statement) for key in keys]
    group_by = [key for key in group_by if key != ex.WINDOW and not (statement and isinstance(key, ex.WindowField))]
    group_by = list(dict.fromkeys(group_by))
    spelling = {_lower(column): column for key in reversed(group_by) for column in ex.columns(key)}
    keys_read = {column for key in group_by for column in ex.columns(key)}

    def respelled(node: ex.Expression) -> ex.Expression | None:
        # Spark does not tell `Symbol` from `symbol`: outside aggregates, a column is spelled as in GROUP BY.
        if isinstance(node, ex.Column) and node not in keys_read:
            return spelling.get(_lower(node))
        return node if isinstance(node, ex.Aggregate) else None

    def settled(raw: ex.Expression) -> ex.Expression:
        return ex.rewrite(parse.canonical(ex.rewrite(raw, bare), statement), respelled)

    columns = []
    for item in items:
        label = item.alias
        if label is None:
            label = ex.label(parse.spelled(ex.rewrite(item.expression, bare), statement))
        columns.append(Measure(label, settled(item.expression)))
    if having is not None:
        having = settled(_having(having, items, {ex.label(key).lower() for key in group_by}))
    listed = source.listed or names_window(columns)
    measures = [column for column in columns if any(True for _ in ex.aggregates(column.expression))]
    if not listed:
        _check_default(cursor, items, columns, group_by)
    return Query(
        name,
        measures,
        window,
        None if where is None else parse.canonical(ex.rewrite(where, bare), statement),
        group_by,
        having,
        None if time is None else ex.rewrite(time, bare),  # type: ignore[arg-type]  # a column stays a column
        source.stream.name,
        columns if listed else (),
        assumed,
    )


def names_window(columns: Iterable[Measure]) -> bool:
    """Whether a SELECT list names the window, which in the papers' spelling means that it lists all that it wants."""
    return any(
        isinstance(node, ex.WindowField)
        for column in columns
        if not any(True for _ in ex.aggregates(column.expression))
        for node in ex.walk(column.expression)
    )


def _lower(node: ex.Column) -> tuple[str, ...]:
    return tuple(part.lower() for part in node.path)


def _place(
    cursor: Cursor,
    source: _Source,
    windows: dict[tuple[ex.Column, Window], Token],
    keys: list[ex.Expression],
) -> tuple[ex.Column | None, Window]:
    """The time column and the window."""
    cursor.clause = "GROUP BY"
    if source.window is not None:
        if windows:
            at = next(iter(windows.values()))
            cursor.refuse("there are two windows, in FROM and in window()", "Keep one of them", at)
        if source.form == "flink" and not any(isinstance(key, ex.WindowField) for key in keys):
            cursor.refuse("the window is not grouped by", "Write GROUP BY window_start, window_end")
        return source.time, source.window
    if len(windows) > 1:
        cursor.refuse("there are two windows", "Write a query for each of them", list(windows.values())[1])
    if ex.WINDOW not in keys or not windows:
        cursor.refuse(_NO_WINDOW, _WRITE_WINDOW)
    return next(iter(windows))


def _having(having: ex.Expression, items: list[_Item], keys: set[str]) -> ex.Expression:
    """HAVING with the aliases of the SELECT list replaced by what they stand for, outside aggregates."""

    def change(node: ex.Expression) -> ex.Expression | None:
        if isinstance(node, ex.Aggregate):
            return node
        found = next((item for item in items if _is_alias(node, item)), None)
        if found is None or found.expression == node:
            return None
        if str(found.alias).lower() in keys and not isinstance(found.expression, ex.Column):
            raise BadRequest(
                f"{found.alias} is both a group key and a column of the SELECT list",
                field="HAVING",
                remedy="Give the column another name with AS",
            )
        return found.expression

    return ex.rewrite(having, change)


def _check_default(cursor: Cursor, items: list[_Item], columns: list[Measure], group_by: list[ex.Expression]) -> None:
    cursor.clause = "SELECT"
    for item, column in zip(items, columns, strict=True):
        if any(True for _ in ex.aggregates(column.expression)):
            continue
        if column.expression not in group_by:
            cursor.refuse(f"'{column.name}' is neither aggregated nor a group key", "Add it to GROUP BY", item.at)
        if column.name.lower() != ex.label(column.expression).lower():
            cursor.refuse(
                f"'{column.name}' renames a group key",
                "Add window to the SELECT list to get just the columns listed, or drop the name",
                item.at,
            )
