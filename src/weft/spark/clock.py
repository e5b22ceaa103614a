"""Clock: the event time in whole microseconds, and the slice that it falls into, as Spark columns.

The slice of an event starts at the largest `t - pmod(t - residue, slide)` over the edge classes: a `greatest` of a few
integer expressions in generated code, once per event, however many windows there are.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

from weft.queries import expressions as ex
from weft.slicing.edges import Classes, EdgeClass, common_tick

MOST_CLASSES = 64
"""Classes to test per event. Beyond, slices of the common tick cost one test and are hardly more: so many classes cut
at nearly every tick anyway."""

WHOLE = {
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}
"""Options of Spark's JSON, which leaves microseconds out unless it is told."""

_DAY = 86_400_000_000


def named(given: str | None) -> ex.Column | None:
    """The time column that a call names, perhaps inside a struct."""
    return ex.Column(tuple(given.split("."))) if given else None


def microseconds(time: Column, type_: T.DataType) -> Column:
    """The instant as microseconds since 1970; a timestamp without a time zone reads the same as in UTC."""
    if isinstance(type_, T.TimestampNTZType):
        seconds = (F.hour(time) * 3600 + F.minute(time) * 60).cast("bigint") * 1_000_000
        fraction = (F.date_part(F.lit("SECOND"), time) * 1_000_000).cast("bigint")
        return F.unix_date(F.to_date(time)).cast("bigint") * _DAY + seconds + fraction
    return F.unix_micros(time.cast("timestamp"))


def slice_start(at: Column, classes: Classes) -> Column:
    """The start of the slice that holds the instant."""
    starts = [at - F.pmod(at - F.lit(residue), F.lit(modulus)) for modulus, residue in classes]
    return starts[0] if len(starts) == 1 else F.greatest(*starts)


def executable(classes: Sequence[EdgeClass]) -> Classes:
    """The classes to cut at: those given, or the common tick where there are too many to test one by one."""
    return tuple(classes) if len(classes) <= MOST_CLASSES else ((common_tick(classes), 0),)
