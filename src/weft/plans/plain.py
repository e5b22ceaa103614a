"""Plain: text from strangers, fit for one line of a page or a terminal.

A query's name may hold anything: line breaks, the escape that recolours a terminal, marks that turn a line around, half
a surrogate pair that no file can be written with. White space becomes a blank, the rest becomes U+FFFD.
"""

from __future__ import annotations

_JOINERS = "\u200c\u200d"
"""Invisible, and parts of words in Persian and of emoji."""


def plain(text: str) -> str:
    """The text on one line, with nothing in it that acts instead of showing.

    >>> plain("high\\nof \\x1b[31mday")
    'high of \ufffd[31mday'
    """
    return text if text.isprintable() else "".join(map(_shown, text))


def _shown(character: str) -> str:
    if character.isprintable() or character in _JOINERS:
        return character
    return " " if character.isspace() else "\ufffd"
