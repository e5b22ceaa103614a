"""Reading: one row for each event, with all that any root needs of it, and the watermark.

    __weft_time     the event time; null where it is too far in the future, and only this column moves the watermark
    key_0, ...      the keys of all roots, each once
    0_slice         of the first root; null where the event is too far in the future
    0_signature_0   the signature of the event among the first root's filters
    0_argument_0    what the first root's partials aggregate
    0_wanted        whether the first root takes the event, where not every event is for all roots
    __weft_event    all of the event as JSON, where it is too far in the future, if such events are to be kept

One pass, however many roots there are: Spark would read a stream's source again for each. What no root wants is dropped
before it costs anything in Python, but not below the watermark: events that nobody asks for still say what time it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import or_

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from weft.queries import expressions as ex
from weft.spark import clock, columns
from weft.spark.lanes import Source
from weft.spark.roots import Root
from weft.spark.slices import arguments
from weft.spark.stream.aside import EVENT
from weft.spark.stream.blocks import Layout
from weft.spark.stream.folding import Fold
from weft.spark.stream.latecomers import MARK

_OWN = "__weft_"
_TIME, _AT, _AHEAD, _TICK = "__weft_time", "__weft_at", "__weft_ahead", "__weft_tick"


def read(
    df: DataFrame,
    roots: Sequence[Root],
    sources: Sequence[tuple[Source, ...]],
    watermark: int | None,
    future: int,
    aside: bool = False,
    idle: int | None = None,
) -> tuple[DataFrame, tuple[Fold, ...]]:
    """The columns that the workers get, and how they make blocks of them.

    `future` is how many microseconds an event may be ahead of the micro-batch's own time. Without a `watermark` the
    stream has one already. With `aside`, events that are too far ahead come along as they are. With `idle`, the clock
    says what time it is, too, so many microseconds behind.
    """
    whole = F.to_json(F.struct(*(ex.quoted(name) for name in df.columns if not name.startswith(_OWN))), clock.WHOLE)
    df = _timed(df, roots[0], watermark, future, idle)
    roots = [replace(r, filters=replace(r.filters, name=f"__weft_{n}_signature")) for n, r in enumerate(roots)]
    marks = {
        name: column for root in roots for name, column in zip(root.filters.names, root.filters.columns(), strict=True)
    }
    df = df.withColumns(marks) if marks else df
    wants = [_wants(root) for root in roots]
    ahead = F.col(_AHEAD)
    if all(want is not None for want in wants):
        # asking the event time keeps Spark from deciding this below the watermark
        passes = [want for want in wants if want is not None]
        df = df.where(reduce(or_, passes) | (ahead if watermark is None else F.col(_TIME).isNull()))
    keys: dict[ex.Expression, str] = {}
    selected: dict[str, Column] = {EVENT: F.when(ahead, whole)} if aside else {}
    folds = []
    for number, (root, want, made) in enumerate(zip(roots, wants, sources, strict=True)):
        for key in root.keys:
            if key not in keys:
                keys[key] = f"key_{len(keys)}"
                selected[keys[key]] = _key(
                    key, ahead, [want for r, want in zip(roots, wants, strict=True) if key in r.keys]
                )
        slice_, wanted = f"{number}_slice", None
        selected[slice_] = F.when(~ahead, clock.slice_start(F.col(_AT), root.classes))
        if want is not None and len(roots) > 1:
            wanted = f"{number}_wanted"
            selected[wanted] = F.coalesce(want, F.lit(False))
        for mark in root.filters.names:
            selected[mark] = F.col(mark)
        at_hand: dict[ex.Expression, str] = {}
        for argument, value in arguments(root).items():
            at_hand[argument] = f"{number}_argument_{len(at_hand)}"
            needed = ahead if root.common_filter is None else ahead | ~columns.column(root.common_filter)
            selected[at_hand[argument]] = value if _harmless(argument) else F.when(~needed, value)
        asked = [None if partial.argument is None else at_hand[partial.argument] for partial in root.partials]
        folds.append(
            Fold(
                Layout(len(root.keys), root.filters.width, made),
                tuple(keys[key] for key in root.keys),
                slice_,
                tuple(root.filters.names),
                (*asked, *[None] * (len(made) - len(asked))),
                wanted,
            )
        )
    if MARK in df.columns:
        selected[MARK] = F.col(MARK)
    return df.select(*(column.alias(name) for name, column in selected.items())), tuple(folds)


def _timed(df: DataFrame, root: Root, watermark: int | None, future: int, idle: int | None) -> DataFrame:
    """The events that have a time, with that in microseconds, and whether it is too far in the future."""
    time = columns.column(root.time)
    type_ = df.select(time).schema[0].dataType
    at = clock.microseconds(time, type_)
    if isinstance(type_, T.TimestampNTZType):
        now = clock.microseconds(F.localtimestamp(), type_)
    else:
        now = clock.microseconds(F.current_timestamp(), T.TimestampType())
    df = df.where(time.isNotNull()).withColumn(_AT, at).withColumn(_AHEAD, F.col(_AT) > now + F.lit(future))
    if watermark is None:
        return df
    if idle is not None:
        df = df.unionByName(_ticks(df, type_, idle), allowMissingColumns=True)
    shown = F.when(~F.col(_AHEAD), F.timestamp_micros(F.col(_AT)))
    df = df.withColumn(_TIME, shown).withWatermark(_TIME, f"{watermark // 1000} milliseconds")
    # asking the event time, as below: a tick is to pass the watermark, and nothing else
    return df if idle is None else df.where(F.col(_TICK).isNull() | F.col(_TIME).isNull()).drop(_TICK)


def _ticks(df: DataFrame, type_: T.DataType, idle: int) -> DataFrame:
    """A row a second that is no event, and has a time. Spark keeps in the checkpoint which ticks a micro-batch had."""
    ticks = df.sparkSession.readStream.format("rate").option("rowsPerSecond", 1).option("numPartitions", 1).load()
    ntz = isinstance(type_, T.TimestampNTZType)
    at = clock.microseconds(F.col("timestamp").cast("timestamp_ntz") if ntz else F.col("timestamp"), type_)
    return ticks.select((at - F.lit(idle)).alias(_AT), F.lit(False).alias(_AHEAD), F.lit(True).alias(_TICK))


def _wants(root: Root) -> Column | None:
    """Whether the root wants an event; None where it wants every one."""
    if root.common_filter is not None:
        return columns.column(root.common_filter)
    if root.takes_every_row:
        return None
    return reduce(or_, (F.col(mark) != 0 for mark in root.filters.names))


def _harmless(expression: ex.Expression) -> bool:
    """Whether it can be computed of any event."""
    return isinstance(expression, (ex.Column, ex.Literal))


def _key(key: ex.Expression, ahead: Column, wants: Sequence[Column | None]) -> Column:
    """A key, only computed of events that some root with that key wants."""
    if _harmless(key):
        return columns.column(key)
    needed = ~ahead
    if all(want is not None for want in wants):
        needed &= reduce(or_, (want for want in wants if want is not None))
    return F.when(needed, columns.column(key))
