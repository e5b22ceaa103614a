"""weft state and weft top: what a checkpoint holds, once or again and again, with how fast it grows."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from weft.cli import console
from weft.cli.events import is_local, local
from weft.cli.live import size
from weft.cli.session import session
from weft.errors import BadRequest, RunFailed

if TYPE_CHECKING:
    from weft.spark.stream.state import Count, Retained, State


@dataclass(frozen=True)
class Reading:
    """A state, and when its micro-batch was committed."""

    state: State
    at: float


def show(checkpoint: str, as_json: bool, limit: int, conf: Mapping[str, str]) -> None:
    """Print what a checkpoint holds."""
    _check(checkpoint)
    with session(conf=conf) as running:
        from weft.spark.stream.state import state

        found = state(running.spark, checkpoint)
    if as_json:
        typer.echo(found.to_json())
    else:
        console.out().print(picture(found, limit, None))


def top(checkpoint: str, every: float, times: int | None, limit: int, conf: Mapping[str, str]) -> None:
    """Show it again and again, until Ctrl-C or so many times."""
    _check(checkpoint)
    with session(conf=conf) as running:
        terminal = console.out()
        screen = (
            Live(console=terminal, auto_refresh=False, screen=terminal.is_terminal) if terminal.is_terminal else None
        )
        before = now = _read(running.spark, checkpoint)
        try:
            if screen is not None:
                screen.start()
            while True:
                shown = picture(now.state, limit, before if before is not now else None, now.at)
                if screen is not None:
                    screen.update(shown, refresh=True)
                else:
                    terminal.print(shown)
                times = None if times is None else times - 1
                if times == 0:
                    return
                time.sleep(every)
                latest = _read(running.spark, checkpoint)
                if latest.state.batch != now.state.batch:
                    before, now = now, latest
        finally:
            if screen is not None:
                screen.stop()


def _check(checkpoint: str) -> None:
    if is_local(checkpoint) and not (local(checkpoint) / "state").is_dir():
        raise BadRequest(
            f"there is no state in '{checkpoint}'",
            field="CHECKPOINT",
            remedy="Give what weft run --checkpoint was given",
        )


def _read(spark: Any, checkpoint: str) -> Reading:
    from weft.spark.stream.state import state

    for last in (False, False, True):
        try:
            found = state(spark, checkpoint)
            break
        except (BadRequest, RunFailed):  # a file that was there when Spark looked, and is not any more
            if last:
                raise
            time.sleep(1)
    at = time.time()
    if is_local(checkpoint):
        commit = local(checkpoint) / "commits" / str(found.batch)
        at = commit.stat().st_mtime if commit.exists() else at
    return Reading(found, at)


def picture(now: State, limit: int, before: Reading | None, at: float = 0.0) -> Group:
    """All of a state as tables; with rates since another one."""
    seconds = at - before.at if before is not None else 0.0

    def rates(count: Count, was: Count | None) -> list[str]:
        if before is None or was is None or seconds <= 0:
            return []
        return [f"{(count.events - was.events) / seconds:,.0f}", f"{(count.answers - was.answers) / seconds:,.0f}"]

    more = ["events/s", "answers/s"] if before is not None and seconds > 0 else []
    shards = _table(["shard", "blocks", "partials", "bytes", "oldest", "newest", "answered to", "late", "ahead"])
    for shard in now.shards[:limit]:
        late = (f"{shard.late:,}", f"{shard.ahead:,}")
        shards.add_row(str(shard.partition), *_retained(shard.retained), _clock(shard.answered), *late)
    trees = _table(["tree", "queries", "blocks", "partials", "bytes", "oldest", "newest", "events", "answers", *more])
    for number, tree in enumerate(now.trees):
        was = before.state.trees[number].count if before is not None and number < len(before.state.trees) else None
        counts = (f"{tree.count.events:,}", f"{tree.count.answers:,}", *rates(tree.count, was))
        trees.add_row(str(number + 1), f"{len(tree.queries):,}", *_retained(tree.retained), *counts)
    queries = _table(["query", "events", "answers", "late", *more])
    busiest = sorted(now.queries.items(), key=lambda item: (-item[1].answers, item[0]))
    for name, count in busiest[:limit]:
        was = None if before is None else before.state.queries.get(name)
        queries.add_row(name, f"{count.events:,}", f"{count.answers:,}", f"{count.late:,}", *rates(count, was))
    rest = len(now.queries) - limit
    kept = now.retained
    each = "" if kept.bytes_per_partial is None else f" ({kept.bytes_per_partial:,.0f} bytes each)"
    head = [
        f"batch {now.batch}   watermark {_clock(now.watermark) or 'none yet'}   lag {now.lag:,.0f} s",
        f"{kept.partials:,} partials in {kept.blocks:,} blocks, {size(kept.bytes)}{each}   "
        f"{now.late:,} late   {now.ahead:,} ahead of the clock",
    ]
    if now.version is not None:
        head.append(f"version {now.version} of the registry" + "".join(f"\nbroken: {word}" for word in now.broken))
    tail = [Text(f"and {rest:,} queries that gave fewer answers: --limit, or --json")] if rest > 0 else []
    blank = Text()
    return Group(*map(Text, head), blank, shards, blank, trees, blank, queries, *tail)


def _table(names: list[str]) -> Table:
    made = Table(box=None, pad_edge=False, header_style="bold")
    for name in names:
        made.add_column(name, justify="left" if name == "query" else "right", no_wrap=True)
    return made


def _retained(kept: Retained) -> tuple[str, ...]:
    return f"{kept.blocks:,}", f"{kept.partials:,}", size(kept.bytes), _clock(kept.oldest), _clock(kept.newest)


def _clock(at: datetime | None) -> str:
    return "" if at is None else f"{at.astimezone():%Y-%m-%d %H:%M:%S}"
