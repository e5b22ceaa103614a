"""Brackets: the window as the papers on shared windows write it, behind the stream.

    SELECT max(price) FROM trades [RANGE 10 MIN SLIDE 2 MIN] WHERE price > 100 GROUP BY symbol
    ... [WINDOW 10 min] ...                 a missing SLIDE is the range: windows side by side
    ... [ROWS 100 SLIDE 10] ...             the last 100 rows, every 10
    ... [RANGE 1 H SLIDE 5 MIN OFFSET 1 MIN DELAY 30 S ON ts] ...

`ON` names the time column. `COLUMNS LISTED` makes the answer's columns those of the SELECT list, in its order, as
they are when the list names the window; otherwise the window and the keys come first of themselves.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from weft.errors import BadRequest
from weft.queries import durations
from weft.queries import expressions as ex
from weft.queries.parse import identifier
from weft.queries.tokens import Cursor, Token
from weft.queries.window import Window

ANY_STREAM = "stream"
"""The name that stands for no particular stream; a stream that is really called so is written in backquotes."""

FORMATS = ("parquet", "csv", "json", "orc", "text", "avro", "binaryfile", "delta", "iceberg", "hudi", "xml", "jdbc")
"""First words of a name that Spark takes for the format of a file."""
_FIELDS = {"range": "range", "window": "range", "rows": "range", "slide": "slide", "offset": "offset", "delay": "delay"}
_CLAUSES = (*_FIELDS, "on", "columns")


@dataclass(frozen=True, slots=True)
class Bracket:
    """What stands between the brackets. `listed` is whether `COLUMNS LISTED` does."""

    window: Window
    time: ex.Column | None
    listed: bool


def read(cursor: Cursor) -> Bracket:
    """The bracket that the cursor stands before."""
    opening = cursor.expect("[")
    if not cursor.sees("range", "window", "rows"):
        cursor.unexpected("Begin with RANGE or ROWS, as in [RANGE 10 MIN SLIDE 2 MIN]")
    unit = "rows" if cursor.sees("rows") else "time"
    sizes: dict[str, int] = {}
    time: ex.Column | None = None
    listed = False
    while not cursor.accept("]"):
        token = cursor.take()
        if token.text in _FIELDS and token.kind == "word":
            field = _FIELDS[token.text]
            if field in sizes:
                cursor.refuse(f"{token.text.upper()} is there twice", "Leave one out", token)
            sizes[field] = _size(cursor, token, unit)
        elif token.text == "on" and token.kind == "word" and time is None:
            time = path(cursor)
        elif token.text == "columns" and token.kind == "word" and not listed:
            cursor.expect("listed")
            listed = True
        else:
            cursor.at -= 1
            cursor.unexpected("Write [RANGE 10 MIN SLIDE 2 MIN], perhaps with OFFSET, DELAY and ON")
    sizes.setdefault("slide", sizes["range"])
    return Bracket(window(cursor, opening, sizes, unit), time, listed)


def window(cursor: Cursor, at: Token, sizes: dict[str, int], unit: str = "time") -> Window:
    """A window of these sizes, or a refusal at a token."""
    try:
        return Window.of(**sizes, unit=unit)
    except BadRequest as error:
        cursor.refuse(f"{error.field or 'window'} {error.rule}", error.remedy or "Mend it", at)


def path(cursor: Cursor) -> ex.Column:
    """A column, perhaps inside a struct."""
    parts = [identifier(cursor)]
    while cursor.accept("."):
        parts.append(identifier(cursor))
    return ex.Column(tuple(parts))


@dataclass(frozen=True, slots=True)
class Stream:
    """The stream that FROM names: None for any, and the word that qualifies its columns."""

    name: str | None
    qualifier: str | None


def stream(cursor: Cursor) -> Stream:
    """The name of a stream, perhaps inside a catalogue."""
    token = cursor.ahead()
    if cursor.sees("("):
        cursor.refuse("a subquery is not supported in FROM", "Name the stream itself")
    parts = path(cursor).path
    if cursor.sees("("):
        cursor.refuse(f"{'.'.join(parts)}() is not supported in FROM", "Name a stream, or write HOP or TUMBLE", token)
    if len(parts) > 1 and (parts[0].lower() in FORMATS or any(not re.fullmatch(r"[\w-]+", part) for part in parts)):
        cursor.refuse("FROM cannot read a file", "Name a stream, as trades or catalog.trades", token)
    if len(parts) == 1 and "." in parts[0]:
        cursor.refuse("the name of a stream cannot hold a dot", "Leave the backquotes out", token)
    anything = token is not None and token.kind == "word" and token.text == ANY_STREAM and len(parts) == 1
    return Stream(None if anything else ".".join(parts), parts[-1])


def _size(cursor: Cursor, clause: Token, unit: str) -> int:
    parts: list[Token] = []
    while not cursor.sees("]", *_CLAUSES):
        parts.append(cursor.take())
    return size(cursor, parts, clause, unit)


def size(cursor: Cursor, parts: list[Token], at: Token, unit: str = "time") -> int:
    """The duration (or the number of rows) that some tokens say."""
    if not parts:
        cursor.refuse("the size is missing", "Write a number and a unit, as in 10 MIN", at)
    text = " ".join(part.text if part.kind == "string" else cursor.source(part) for part in parts)
    if unit == "rows":
        digits = text.replace("- ", "-", 1)
        if not digits.removeprefix("-").isdecimal() or len(digits) > 18:
            cursor.refuse(f"'{text[:60]}' is no number of rows", "Write a whole number", parts[0])
        return int(digits)
    try:
        return durations.microseconds(text)
    except BadRequest as error:
        cursor.refuse(error.rule, error.remedy or 'Write it as "10 min"', parts[0])


def duration(cursor: Cursor) -> int:
    """A duration as an argument: `'10 minutes'`, `INTERVAL '10' MINUTES`, `INTERVAL 1 HOUR 30 MINUTES`."""
    token = cursor.ahead()
    parts: list[Token] = []
    if cursor.accept("interval"):
        while not cursor.sees(",", ")") and cursor.ahead() is not None:
            parts.append(cursor.take())
    elif token is not None and token.kind == "string":
        parts.append(cursor.take())
    else:
        cursor.unexpected("Write a duration here, as '10 minutes' or INTERVAL '10' MINUTES")
    return size(cursor, parts, token or parts[0])
