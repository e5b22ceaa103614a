"""The table in the docs is what the cards say."""

from __future__ import annotations

import os
from pathlib import Path

from weft.techniques.cards import table

DOCS = Path(__file__).parents[2] / "docs" / "techniques.md"
BEGIN = "<!-- the table is written by `make golden` from the techniques' cards -->\n"
END = "<!-- end of the table -->\n"


def test_the_table_in_the_docs() -> None:
    text = DOCS.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    expected = f"{before}{BEGIN}{table()}{END}{after}"
    if os.environ.get("WEFT_GOLDEN") == "rewrite":
        DOCS.write_text(expected, encoding="utf-8")
    assert text == expected
