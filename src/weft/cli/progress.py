"""Progress: a line per step, alive while it runs and kept with its time when it is done.

A step over queries counts queries. A Spark job counts the tasks of the stages submitted so far (Spark plans the later
ones as it goes, so their number grows) and the bytes that have reached the folder. Nothing is guessed from a clock.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.text import Text

from weft.cli import console
from weft.cli.tasklog import TaskLog

_EVERY = 0.25


@contextlib.contextmanager
def step(
    said: str, *, total: int | None = None, tasks: TaskLog | None = None, folder: Path | None = None
) -> Iterator[Callable[[], None]]:
    """A step of the work, which calls what it is given once per thing done, where `total` says how many there are."""
    terminal = console.err()
    started = time.monotonic()
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=30),
        TextColumn("{task.fields[note]}", markup=False),
        TimeElapsedColumn(),
    )
    done = 0
    with Progress(*columns, console=terminal, transient=True, disable=not terminal.is_terminal) as bar:
        shown = bar.add_task(said, total=total, note="")
        stop = threading.Event()
        watcher = threading.Thread(target=_watch, args=(bar, shown, tasks, folder, total is None, stop), daemon=True)
        if tasks is not None:
            tasks.restart()
        watcher.start()

        def one_more() -> None:
            nonlocal done
            done += 1
            bar.update(shown, completed=done, note=f"{done} of {total}")

        try:
            yield one_more
        finally:
            stop.set()
            watcher.join()
    extra = _note(tasks if total is None else None, folder)
    line = f"  {said:<34}{time.monotonic() - started:>7.1f} s{'  ' + extra if extra else ''}"
    terminal.print(Text(line, "dim"))


def _watch(
    bar: Progress, shown: TaskID, tasks: TaskLog | None, folder: Path | None, counts: bool, stop: threading.Event
) -> None:
    while counts and not stop.wait(_EVERY):
        if tasks is not None:
            tasks.read()
            if tasks.known:
                # the job's own end is one more thing to wait for: no bar is full before
                bar.update(shown, total=tasks.known + 1, completed=tasks.finished)
        bar.update(shown, note=_note(tasks, folder))
    if tasks is not None:
        tasks.read()


def _note(tasks: TaskLog | None, folder: Path | None) -> str:
    parts = []
    if tasks is not None and tasks.known:
        parts.append(f"{tasks.finished} of {tasks.known} tasks")
    if folder is not None:
        size = _size(folder)
        parts.append(f"{size / 1e6:,.1f} MB written" if size >= 1e6 else f"{size / 1e3:,.0f} kB written")
    return ", ".join(parts)


def _size(folder: Path) -> int:
    """Bytes of Parquet below a folder. Spark moves files and folders while we look."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.stat(os.path.join(place, name)).st_size if name.endswith(".parquet") else 0
    return total
