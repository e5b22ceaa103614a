"""Cards: the techniques as a table that people read, in the terms that the field compares them by."""

from __future__ import annotations

from weft.techniques import AUTO, TECHNIQUES
from weft.techniques.technique import Technique

COLUMNS = ("technique", "windows", "in order", "operator", "time", "space", "first appeared")


def card(technique: Technique) -> tuple[str, ...]:
    """A technique in the words of the table's columns."""
    needs = " and ".join(sorted(technique.needs)) or "any associative one"
    name = f"**`{technique.name}`**" if technique in AUTO else f"`{technique.name}`"
    return (
        f"{name} {technique.title}",
        technique.ranges,
        technique.ordering,
        needs,
        technique.time,
        technique.space,
        technique.first_appeared,
    )


def table() -> str:
    """All cards, as Markdown; `auto` chooses from those in bold."""
    rows = [COLUMNS, ("---",) * len(COLUMNS), *map(card, TECHNIQUES)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"
