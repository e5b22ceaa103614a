"""Hop: the window as Flink writes it, around the stream.

    SELECT window_start, window_end, symbol, max(price)
    FROM TABLE(HOP(TABLE trades, DESCRIPTOR(ts), INTERVAL '2' MINUTES, INTERVAL '10' MINUTES))
    GROUP BY window_start, window_end, symbol

The slide comes before the size, as in Flink; an offset may follow. `TUMBLE` takes a size alone. Arguments may be
named: `DATA => TABLE trades, TIMECOL => DESCRIPTOR(ts), SLIDE => ..., SIZE => ...`.
"""

from __future__ import annotations

from dataclasses import dataclass

from weft.queries import expressions as ex
from weft.queries.brackets import Stream, duration, path, stream, window
from weft.queries.tokens import Cursor
from weft.queries.window import Window

_ARGUMENTS = {"hop": ("data", "timecol", "slide", "size", "offset"), "tumble": ("data", "timecol", "size", "offset")}
_FUNCTIONS = ("hop", "tumble", "cumulate", "session")


@dataclass(frozen=True, slots=True)
class Hop:
    """What stands between the brackets of HOP or TUMBLE."""

    source: Stream
    time: ex.Column
    window: Window


def ahead(cursor: Cursor) -> bool:
    """Whether FROM goes on with a table function rather than with the name of a stream."""
    return cursor.sees("(", steps=1) and cursor.sees("table", *_FUNCTIONS)


def read(cursor: Cursor) -> Hop:
    """`HOP(...)` or `TABLE(HOP(...))`."""
    wrapped = cursor.accept("table") is not None
    if wrapped:
        cursor.expect("(")
    at = cursor.take()
    if at.kind == "word" and at.text in ("cumulate", "session"):
        grows = "its windows grow" if at.text == "cumulate" else "a session's length depends on the data"
        cursor.refuse(f"{at.text.upper()} is not supported: {grows}", "Use HOP or TUMBLE", at)
    if at.kind != "word" or at.text not in _ARGUMENTS:
        cursor.refuse(f"{cursor.source(at)[:40]} is no window function", "Use HOP or TUMBLE", at)
    expected = _ARGUMENTS[at.text]
    cursor.expect("(")
    source = Stream(None, None)
    time: ex.Column | None = None
    sizes: dict[str, int] = {}
    given: list[str] = []
    while True:
        token = cursor.ahead()
        if cursor.sees("=>", steps=1) and token is not None:
            name = token.text
            cursor.at += 2
        elif len(given) < len(expected):
            name = expected[len(given)]
        else:
            cursor.unexpected(f"{at.text.upper()} takes {', '.join(expected)}")
        if name not in expected or name in given:
            cursor.refuse(f"{name[:40]} does not belong here", f"{at.text.upper()} takes {', '.join(expected)}", token)
        given.append(name)
        if name == "data":
            cursor.expect("table")
            source = stream(cursor)
        elif name == "timecol":
            cursor.expect("descriptor")
            cursor.expect("(")
            time = path(cursor)
            cursor.expect(")")
        else:
            sizes["range" if name == "size" else name] = duration(cursor)
        if not cursor.accept(","):
            break
    cursor.expect(")")
    if wrapped:
        cursor.expect(")")
    missing = [name for name in expected if name not in given and name != "offset"]
    if missing or time is None:
        cursor.refuse(f"{at.text.upper()} lacks {', '.join(missing)}", f"It takes {', '.join(expected)}", at)
    sizes.setdefault("slide", sizes["range"])
    return Hop(source, time, window(cursor, at, sizes))
