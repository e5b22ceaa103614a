"""Live: a running stream on the terminal, a table that is drawn anew while it works, or a line for each micro-batch.

Ctrl-C (or SIGTERM, as service managers send it) stops the stream: a micro-batch that is under way is left, and done
again by the next start. Nothing is raised in the middle of a call to Spark for that.
"""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pyspark.errors import PySparkException
from rich.live import Live
from rich.table import Table
from rich.text import Text

from weft.cli import checkpoint as checkpoints
from weft.cli import console, sources
from weft.spark.stream.observing import MicroBatch, micro_batch

_EVERY = 0.5
_SHOWN = 8
_AGAIN = 1.0
"""Seconds after which a second Ctrl-C is one: a terminal, or `timeout`, may well send two for one."""


def watch(writer: Any, to: str, checkpoint: str, queries: int) -> None:
    """Start a stream, and show what it does until it ends."""
    with _asked_to_stop() as asked:
        try:
            query = writer.start()
        except PySparkException as error:
            raise sources.told(error, to, "--to-option") from None
        terminal = console.err()
        told, totals = -1, [0, 0]
        recent: list[MicroBatch] = []
        screen = Live(console=terminal, refresh_per_second=4) if terminal.is_terminal else None
        try:
            if screen is not None:
                screen.start()
            going = True
            while going:
                going = query.isActive and not asked.wait(_EVERY)
                for batch in _since(query, told):
                    told = batch.number
                    totals = [totals[0] + batch.rows, totals[1] + batch.answers]
                    recent = [*recent, batch][-_SHOWN:]
                    if screen is None:
                        terminal.print(Text(line(batch)))
                if screen is not None:
                    screen.update(table(recent, queries, totals))
        finally:
            if screen is not None:
                screen.stop()
            stopped = query.isActive
            query.stop()
        if not stopped:
            try:
                query.awaitTermination()  # raises what it ended with
            except PySparkException as error:
                raise checkpoints.unreadable(error, checkpoint) or error from None
    end = (
        "Stopped. The same command goes on from here." if stopped else "All events that were there have been taken in."
    )
    console.say(f"{end} {totals[0]:,} rows in, {totals[1]:,} answers out.")


def _since(query: Any, number: int) -> list[MicroBatch]:
    """The micro-batches after one, of those that Spark still knows."""
    found = (micro_batch(progress) for progress in query.recentProgress)
    return [batch for batch in found if batch is not None and batch.number > number and batch.ran]


@contextmanager
def _asked_to_stop() -> Iterator[threading.Event]:
    """An event that Ctrl-C and SIGTERM set; a second Ctrl-C interrupts."""
    asked = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield asked
        return

    first = math.inf

    def stop(signalled: int, frame: Any) -> None:
        nonlocal first
        if time.monotonic() > first + _AGAIN and callable(interrupt := before[signal.SIGINT]):
            interrupt(signalled, frame)
        first = min(first, time.monotonic())
        asked.set()

    before = {kind: signal.signal(kind, stop) for kind in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield asked
    finally:
        for kind, handler in before.items():
            signal.signal(kind, handler)


def cells(batch: MicroBatch) -> dict[str, str]:
    """What is shown of a micro-batch."""
    return {
        "batch": str(batch.number),
        "began": f"{batch.at.astimezone():%H:%M:%S}",
        "seconds": f"{batch.seconds:.1f}",
        "rows": f"{batch.rows:,}",
        "rows/s": f"{batch.rows_per_second:,.0f}",
        "answers": f"{batch.answers:,}",
        "late": f"{batch.late:,}",
        "ahead": f"{batch.ahead:,}",
        "watermark": "" if batch.watermark is None else f"{batch.watermark.astimezone():%Y-%m-%d %H:%M:%S}",
        "state": "-" if batch.state_bytes is None else size(batch.state_bytes),
        "partials": "-" if batch.partials is None else f"{batch.partials:,}",
    }


def line(batch: MicroBatch) -> str:
    """A micro-batch on one line."""
    return "  ".join(f"{name} {value or '-'}" for name, value in cells(batch).items())


def table(batches: list[MicroBatch], queries: int, totals: list[int]) -> Table:
    """The last micro-batches, and the sums over all."""
    made = Table(box=None, pad_edge=False, header_style="bold", caption_justify="left")
    made.caption = Text(f"{queries:,} queries   {totals[0]:,} rows in   {totals[1]:,} answers out   Ctrl-C stops")
    for batch in batches:
        if not made.columns:
            for name in cells(batch):
                made.add_column(name, justify="right", no_wrap=True)
        made.add_row(*cells(batch).values())
    return made


def size(count: int) -> str:
    """Bytes, as people read them.

    >>> size(12), size(3_400), size(56_000_000)
    ('12 B', '3.4 kB', '56.0 MB')
    """
    for unit, one in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= one:
            return f"{count / one:,.1f} {unit}"
    return f"{count} B"
