"""Failures: every way in which a verb can end, as one message and an exit code.

    0   done
    1   the data or the run failed, or answers differ from Spark's own
    2   the request was wrong
    130 interrupted

The one line that matters is shown; the rest goes to a file. `WEFT_DEBUG=1` lets Python say it all.
"""

from __future__ import annotations

import functools
import os
import re
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypeVar

import typer
from rich.text import Text

from weft.cli import console, session
from weft.errors import BadRequest, WeftError

_P = ParamSpec("_P")
_R = TypeVar("_R")
_SAID = re.compile(
    r"^(?:Caused by: )?(?:[\w$]+\.)*(?P<kind>\w*(?:Error|Exception|Failed|Warning)): (?P<rest>.+)$", re.M
)


def told(verb: Callable[_P, _R]) -> Callable[_P, _R]:
    """The verb, with its exceptions told on stderr and turned into exit codes."""

    @functools.wraps(verb)
    def guarded(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return verb(*args, **kwargs)
        except typer.Exit:
            raise
        except KeyboardInterrupt:
            raise typer.Exit(130) from None
        except BrokenPipeError:  # the reader, `head` perhaps, has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None
        except Exception as error:
            if os.environ.get("WEFT_DEBUG") == "1":
                raise
            raise typer.Exit(_tell(error)) from None

    return guarded


def _tell(error: Exception) -> int:
    if isinstance(error, WeftError):
        _complain(str(error))
        return 2 if isinstance(error, BadRequest) else 1
    _complain(line(error))
    console.note(f"The whole trace is in {_saved()} (WEFT_DEBUG=1 prints it).")
    return 1


def _complain(message: str) -> None:
    console.err().print(Text.assemble(("weft: ", "bold red"), message))


def line(error: BaseException) -> str:
    """The one line that matters of an exception.

    >>> line(ValueError("no"))
    'ValueError: no'
    >>> line(RuntimeError("aborted\\nTraceback\\n  File x\\nOverflowError: sum overflows\\n\\tat org.apache"))
    'OverflowError: sum overflows'
    """
    text = f"{type(error).__name__}: {error}"
    head = text.split("\n\tat ", 1)[0]
    found = [(match["kind"], match["rest"]) for match in _SAID.finditer(head)] or [
        ("", head.splitlines()[0].rstrip(": "))
    ]
    kind, rest = found[-1]
    rest = re.sub(r"\s*SQLSTATE: \w+\s*$", "", rest).strip()
    return rest if rest.startswith(("[", "query '")) or not kind else f"{kind}: {rest}"


def _saved() -> Path:
    descriptor, name = tempfile.mkstemp(prefix="weft-failure-", suffix=".log")
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(traceback.format_exc())
        log = session.last_words()
        if log:
            file.write(f"\n--- what Spark logged\n{log}")
    return Path(name)
