"""Constants: numbers, strings, dates and timestamps, typed and written as Spark types and writes them.

    100 int | 3000000000 bigint | 1.50 decimal(3,2) | 1e3 double, written 1000.0 | 3Y tinyint | 2.5F float

One value is written one way (`1e3`, `1000D` and `1000.0D` are the same constant), so that equal filters are equal.
"""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import Any

from weft.errors import BadRequest
from weft.queries import expressions as ex

_ESCAPES = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a"}
_ESCAPE = re.compile(
    r"\\(?:u(?P<u>[0-9a-fA-F]{4})|U(?P<U>[0-9a-fA-F]{8})|(?P<octal>[0-3][0-7]{2})|(?P<char>.))", re.DOTALL
)


def unescaped(text: str) -> str:
    """The inside of a string constant as Spark reads it. `\\%` and `\\_` keep their backslash, for LIKE.

    >>> unescaped(r"it\\'s 100\\% \\u0041")
    "it's 100\\\\% A"
    """

    def character(match: re.Match[str]) -> str:
        code = match["u"] or match["U"]
        if code or match["octal"]:
            number = int(code, 16) if code else int(match["octal"], 8)
            if number > 0x10FFFF or 0xD800 <= number < 0xE000:
                raise BadRequest(f"'{match[0]}' is no character", remedy="Write the character itself")
            return chr(number)
        char: str = match["char"]
        return match[0] if char in "%_" else _ESCAPES.get(char, char)

    return _ESCAPE.sub(character, text)


def number(text: str) -> ex.Literal | None:
    """A number as Spark types it, sign included; None where Spark has no such number.

    >>> number("-5"), number("1.50").type, number("1e3")
    (Literal(value='-5', type='int'), 'decimal(3,2)', Literal(value='1000.0', type='double'))
    """
    parts = re.fullmatch(r"(-?)(\d+|\d+\.\d*|\.\d+)(e[+-]?\d{1,4})?(bd|[lsydf])?", text, re.IGNORECASE | re.ASCII)
    if parts is None:
        return None
    sign, digits, exponent, suffix = parts[1], parts[2], parts[3] or "", (parts[4] or "").lower()
    if suffix in _INTEGERS or (not suffix and not exponent and digits.isdigit()):
        if not digits.isdigit() or exponent or len(digits) > 100:
            return None
        value = int(sign + digits)
        for type_, bits in (_INTEGERS[suffix],) if suffix else (("int", 32), ("bigint", 64)):
            if -(2 ** (bits - 1)) <= value < 2 ** (bits - 1):
                return ex.Literal(str(value), type_)
        return None if suffix else _decimal(sign + digits)
    if suffix == "bd" or not (suffix or exponent):
        return _decimal(sign + digits + exponent)
    return _floating(sign + digits + exponent, "float" if suffix == "f" else "double")


_INTEGERS = {"y": ("tinyint", 8), "s": ("smallint", 16), "l": ("bigint", 64)}


def _decimal(text: str) -> ex.Literal | None:
    from decimal import Decimal

    value = Decimal(text)
    _, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)  # no text here spells an infinity
    if abs(exponent) > 38:
        return None
    significant = len("".join(map(str, digits)).lstrip("0") or "0")
    scale = max(-exponent, 0)
    precision = max(significant + max(exponent, 0), scale)
    if precision > 38:
        return None
    return ex.Literal(f"{value or abs(value):f}", f"decimal({precision},{scale})")


def _floating(text: str, type_: str) -> ex.Literal | None:
    import numpy as np

    with np.errstate(over="ignore"):
        value: np.floating[Any] = np.float32(text) if type_ == "float" else np.float64(text)
    if not np.isfinite(value):
        return None
    if value == 0 or 1e-3 <= abs(float(value)) < 1e7:
        return ex.Literal(np.format_float_positional(value, unique=True, trim="0"), type_)
    mantissa, _, power = np.format_float_scientific(value, unique=True, trim="0").partition("e")
    return ex.Literal(f"{mantissa}E{int(power)}", type_)


def moment(text: str, type_: str) -> ex.Literal | None:
    """A date or a timestamp as Spark writes it; None where the text is none.

    >>> moment("2025-01-31T12:00", "timestamp")
    Literal(value='2025-01-31 12:00:00', type='timestamp')
    """
    return _date(text) if type_ == "date" else _timestamp(text, type_)


def _date(text: str) -> ex.Literal | None:
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", text, re.ASCII):
        return None
    try:
        return ex.Literal(date.fromisoformat(text).isoformat(), "date")
    except ValueError:
        return None


_TIMESTAMP = re.compile(
    r"(\d{4}-\d{2}-\d{2})(?:[ T](\d{2}:\d{2})(?:(:\d{2})(\.\d{1,6})?)?(Z|[+-]\d{2}:\d{2})?)?", re.ASCII
)


def _timestamp(text: str, type_: str) -> ex.Literal | None:
    parts = _TIMESTAMP.fullmatch(text)
    if parts is None or (parts[5] and type_ == "timestamp_ntz"):
        return None
    clock, fraction, zone = (parts[2] or "00:00") + (parts[3] or ":00"), parts[4] or "", parts[5] or ""
    try:
        datetime.fromisoformat(f"{parts[1]} {clock}{zone}")
    except ValueError:
        return None
    return ex.Literal(f"{parts[1]} {clock}{fraction.rstrip('0').rstrip('.')}{zone}", type_)
