"""Window: which rows an answer covers, and how often there is one.

    range 10, slide 4, offset 1

    ... |1         |11                      window k covers [offset + k * slide, offset + k * slide + range)
            |5         |15                  as Spark's window(ts, range, slide, offset)
                |9         |19

`delay` shifts the covered rows into the past and leaves the label where it is: with a delay of 5 the window labelled
[9, 19) covers [4, 14), which is Spark's window() over `ts + delay`. Times are whole microseconds; a window of rows
counts positions instead, from 0, in time order within its group.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from weft.errors import BadRequest
from weft.queries import durations

LONGEST = 2**62  # two of these still add up within a signed 64-bit integer


@dataclass(frozen=True)
class Window:
    """A sliding window over time, or over rows when made with `Window.rows`."""

    range: int
    slide: int
    offset: int = 0
    delay: int = 0
    unit: str = "time"

    def __init__(
        self,
        range: str | timedelta,
        slide: str | timedelta | None = None,
        offset: str | timedelta = timedelta(0),
        delay: str | timedelta = timedelta(0),
    ) -> None:
        given = {"range": range, "slide": range if slide is None else slide, "offset": offset, "delay": delay}
        sizes = {}
        for field, value in given.items():
            try:
                sizes[field] = durations.microseconds(value)
            except BadRequest as error:
                raise error.within(field=field) from None
        self._fill(unit="time", **sizes)

    def _fill(self, *, range: int, slide: int, offset: int, delay: int, unit: str) -> None:
        check_sizes(range=range, slide=slide, offset=offset, delay=delay, unit=unit)
        for field, value in (("range", range), ("slide", slide), ("offset", offset), ("delay", delay), ("unit", unit)):
            object.__setattr__(self, field, value)

    @classmethod
    def of(cls, range: int, slide: int, offset: int = 0, delay: int = 0, unit: str = "time") -> Window:
        """A window from whole microseconds (or rows, with `unit="rows"`)."""
        window = object.__new__(cls)
        window._fill(range=range, slide=slide, offset=offset, delay=delay, unit=unit)
        return window

    @classmethod
    def rows(cls, range: int, slide: int | None = None, offset: int = 0) -> Window:
        """A window that counts rows of its group, in time order: `Window.rows(100, 10)` is the last 100, every 10."""
        return cls.of(range, range if slide is None else slide, offset, 0, "rows")

    def __str__(self) -> str:
        say = durations.short if self.unit == "time" else "{} rows".format
        parts = [f"range {say(self.range)}", f"slide {say(self.slide)}"]
        parts += [f"{name} {say(size)}" for name, size in (("offset", self.offset), ("delay", self.delay)) if size]
        return " ".join(parts)


def check_sizes(*, range: int, slide: int, offset: int, delay: int, unit: str) -> None:
    """Refuse sizes that no window can have, naming the field."""
    example = '"10 min"' if unit == "time" else "10"
    for field, value in (("range", range), ("slide", slide), ("offset", offset), ("delay", delay)):
        if isinstance(value, bool) or not isinstance(value, int):
            raise BadRequest(f"{value!r} is no whole number", field=field, remedy="Give whole rows or microseconds")
        if field in ("range", "slide") and value < 1:
            shown = durations.text(value) if unit == "time" else value
            raise BadRequest(f"must be positive, got {shown}", field=field, remedy=f"Give a positive one, as {example}")
        if abs(value) >= LONGEST:
            raise BadRequest("does not fit 64-bit microseconds", field=field, remedy="Give a shorter one")
    if delay and unit == "rows":
        raise BadRequest("a window of rows has no delay", field="delay", remedy="Drop it, or count time instead")
    if delay < 0:
        raise BadRequest("must not be negative: a window cannot cover the future", field="delay", remedy="Drop it")
