"""Table: rows under a header, as text whose columns stand below each other and as HTML.

Numbers stand on the right. The last column may be a remark, which is left as long as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from weft.plans.plain import plain

_STYLE = "vertical-align:top;padding:2px 14px 2px 0"


@dataclass(frozen=True)
class Table:
    """Cells as texts. `numbers` says which columns hold numbers."""

    header: tuple[str, ...]
    numbers: frozenset[int]
    rows: Sequence[tuple[str, ...]]

    def text(self) -> str:
        """The table as text."""
        cells = [[plain(cell) for cell in row] for row in (self.header, *self.rows)]
        widths = [max(len(row[column]) for row in cells) for column in range(len(self.header))]
        return "\n".join("  ".join(self._cells(row, widths)).rstrip() for row in cells)

    def _cells(self, row: Sequence[str], widths: Sequence[int]) -> list[str]:
        return [
            f"{cell:>{width}}" if column in self.numbers else f"{cell:<{width}}"
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]

    def html(self) -> str:
        """The table as an HTML fragment. All cells are escaped."""
        rows = "".join(f"<tr>{self._row(row, 'td')}</tr>" for row in self.rows)
        return f"<table><thead><tr>{self._row(self.header, 'th')}</tr></thead><tbody>{rows}</tbody></table>"

    def _row(self, row: Sequence[str], tag: str) -> str:
        return "".join(
            f"<{tag} style='text-align:{'right' if column in self.numbers else 'left'};{_STYLE}'>"
            f"{escape(plain(cell))}</{tag}>"
            for column, cell in enumerate(row)
        )
