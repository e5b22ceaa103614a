"""What Weft says when it says no: one message that names the query, the field, the rule and the remedy.

Two kinds are enough. `BadRequest` means that what was asked cannot be done as it was asked (exit code 2 on the
command line); `RunFailed` means that the data or the run let us down (exit code 1).
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class WeftError(Exception):
    """The base of all of Weft's exceptions. `str(error)` is one readable message."""

    def __init__(self, rule: str, *, query: str | None = None, field: str | None = None, remedy: str | None = None):
        self.rule, self.query, self.field, self.remedy = rule, query, field, remedy
        where = ": ".join(part for part in (f"query '{query}'" if query else None, field) if part)
        message = f"{where}: {rule}" if where else rule
        super().__init__(f"{message}. {remedy}." if remedy else message)

    def within(self, query: str | None = None, field: str | None = None) -> WeftError:
        """The same error, told from further out: the query and the field are filled in where they were unknown."""
        return type(self)(
            self.rule, query=self.query or query, field=self.field or field, remedy=self.remedy
        ).with_traceback(self.__traceback__)


class BadRequest(WeftError):  # noqa: N818 - the name says what happened, not that it is an error
    """What was asked cannot be done as it was asked: the text, a value, a name or a plan has to change."""


class RunFailed(WeftError):  # noqa: N818
    """The request was sound; the data or the run was not."""


def shown(value: object) -> str:
    """What was given instead, short enough for a message.

    >>> shown("SELECT 1"), shown([1] * 100)
    ("'SELECT 1'", '[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,...')
    """
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def nearest(name: object, known: Iterable[str]) -> str | None:
    """The known name that was probably meant: one that begins so, or else one that looks like it.

    >>> nearest("weave", ["tri_weave", "weave_share"]), nearest("pane", ["panes"]), nearest("xyz", ["panes"])
    ('weave_share', 'panes', None)
    """
    known, wanted = list(known), str(name)
    begun = [other for other in known if wanted and other.startswith(wanted)]
    near = difflib.get_close_matches(wanted, begun or known, 1, 0.0 if begun else 0.6)
    return near[0] if near else None
