"""Console: what is asked for goes to stdout, everything else to stderr, and nothing is wrapped when it is piped."""

from __future__ import annotations

import sys

from rich.console import Console
from rich.table import Table
from rich.text import Text

_PIPED_WIDTH = 200


def out() -> Console:
    """Where answers go."""
    return Console(soft_wrap=True, width=None if sys.stdout.isatty() else _PIPED_WIDTH)


def err() -> Console:
    """Where progress and errors go."""
    return Console(stderr=True, soft_wrap=True, width=None if sys.stderr.isatty() else _PIPED_WIDTH)


def say(text: str = "", style: str = "") -> None:
    """A text on stdout, as it is: square brackets are windows here, not markup."""
    console = out()
    if console.is_terminal and not style:
        console.print(text, markup=False)
    else:
        console.print(Text(text, style))


def note(text: str) -> None:
    """A remark on stderr."""
    err().print(Text(text, "dim"))


def grid(rows: list[tuple[str, ...]], header: tuple[str, ...]) -> None:
    """A table on stdout."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for number, name in enumerate(header):
        table.add_column(Text(name), no_wrap=number == 0, overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    Console(width=None if sys.stdout.isatty() else _PIPED_WIDTH).print(table)
