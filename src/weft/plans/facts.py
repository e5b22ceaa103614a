"""Facts: what EXPLAIN and its kin print, a line each: what it is about in front, to grep for, and what it says.

The same facts make a text and an HTML table. Whatever comes from a query is made plain, and escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from weft.plans.plain import plain

Fact = tuple[str, str]
"""What a line is about, and what it says; two empty texts for an empty line."""
NOTHING: Fact = ("", "")
SHOWN = 8
"""Names listed before the rest is counted."""


def as_text(facts: Iterable[Fact], width: int = 12) -> str:
    """Facts as text."""
    return "\n".join(f"{plain(name):<{width}}{plain(said)}".rstrip() for name, said in facts)


def as_html(facts: Iterable[Fact]) -> str:
    """Facts as an HTML fragment."""
    style = "text-align:left;vertical-align:top;padding:1px 14px 1px"
    rows = "".join(
        f"<tr><td style='{style} {12 if name.startswith(' ') else 0}px'>{'' if name.startswith(' ') else '<b>'}"
        f"{escape(plain(name.strip()))}{'' if name.startswith(' ') else '</b>'}</td>"
        f"<td style='{style} 0'>{escape(plain(said)) or '&nbsp;'}</td></tr>"
        for name, said in facts
    )
    return f"<div><table><tbody>{rows}</tbody></table></div>"


def listed(names: Sequence[str]) -> str:
    """Some names, and how many more."""
    more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
