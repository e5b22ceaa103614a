"""Durations: what people write (`"10 min"`, `"1h"`, `timedelta`) and what Weft keeps (whole microseconds).

A month and a year have no fixed length, so they are refused rather than guessed at.
"""

from __future__ import annotations

import re
from datetime import timedelta

from weft.errors import BadRequest

MICROSECONDS: dict[str, int] = {
    "microsecond": 1,
    "millisecond": 1_000,
    "second": 1_000_000,
    "minute": 60_000_000,
    "hour": 3_600_000_000,
    "day": 86_400_000_000,
    "week": 604_800_000_000,
}
_SHORT = {
    "us": "microsecond", "µs": "microsecond", "usec": "microsecond", "micro": "microsecond",
    "ms": "millisecond", "msec": "millisecond", "milli": "millisecond",
    "s": "second", "sec": "second",
    "m": "minute", "min": "minute",
    "h": "hour", "hr": "hour",
    "d": "day",
    "w": "week",
}  # fmt: skip
_UNFIXED = {"month", "mon", "quarter", "year", "yr", "y"}
_PIECE = re.compile(r"\s*([+-]?\s*\d+(?:\.\d+)?)\s*([a-zµ]+)", re.IGNORECASE)


def unit_microseconds(unit: str) -> int:
    """The length of one unit, in whichever usual spelling.

    >>> unit_microseconds("Mins")
    60000000
    """
    name = unit.lower()
    for candidate in (name, name.removesuffix("s")):
        canonical = _SHORT.get(candidate, candidate)
        if canonical in MICROSECONDS:
            return MICROSECONDS[canonical]
        if canonical in _UNFIXED:
            raise BadRequest(
                f"a {candidate} has no fixed length", remedy="Give the duration in weeks, days or smaller units"
            )
    raise BadRequest(f"'{unit}' is no unit of time", remedy=f"Use one of {', '.join(MICROSECONDS)}")


def microseconds(value: str | int | timedelta) -> int:
    """A duration in whole microseconds. A bare number is refused, since nobody can tell its unit.

    >>> microseconds("1 hour 30 min")
    5400000000
    >>> microseconds(timedelta(milliseconds=5))
    5000
    """
    if isinstance(value, timedelta):
        return (value.days * 86_400 + value.seconds) * 1_000_000 + value.microseconds
    if not isinstance(value, str):
        raise BadRequest(f"{value!r} is no duration", remedy='Write "10 min", "1h" or a datetime.timedelta')
    text = re.sub(r"^\s*interval\b", "", value, flags=re.IGNORECASE).replace("'", " ").strip()
    total, at = 0, 0
    while at < len(text):
        piece = _PIECE.match(text, at)
        if piece is None:
            break
        number, unit = piece[1].replace(" ", ""), unit_microseconds(piece[2])
        whole, _, fraction = number.lstrip("+-").partition(".")
        numerator, denominator = int(whole + fraction) * unit, 10 ** len(fraction)
        if numerator % denominator:
            raise BadRequest(f"'{value}' is no whole number of microseconds", remedy="Round it")
        total += (-1 if number.startswith("-") else 1) * (numerator // denominator)
        at = piece.end()
    if at < len(text) or not text:
        raise BadRequest(f"'{value}' is no duration", remedy='Write a number and a unit, as in "10 min" or "1h"')
    return total


def text(duration: int) -> str:
    """A duration as Spark and people read it, in the largest unit that divides it.

    >>> text(5_400_000_000)
    '90 minutes'
    """
    if duration == 0:
        return "0 seconds"
    for name, length in reversed(MICROSECONDS.items()):
        if duration % length == 0 and name != "week":
            count = duration // length
            return f"{count} {name}" if abs(count) == 1 else f"{count} {name}s"
    raise AssertionError("a microsecond divides every whole duration")


def short(duration: int) -> str:
    """A duration for a table.

    >>> short(3_600_000_000), short(90_000_000), short(1_500)
    ('1 h', '90 s', '1500 us')
    """
    for unit in ("d", "h", "min", "s", "ms"):
        length = MICROSECONDS[_SHORT[unit]]
        if duration and duration % length == 0:
            return f"{duration // length} {unit}"
    return f"{duration} us" if duration else "0 s"
