"""Golden texts: what plans and questions about them print, kept in `golden/`.

WEFT_GOLDEN=rewrite writes them; the diff is the review.
"""

from __future__ import annotations

import os
from pathlib import Path

_FOLDER = Path(__file__).parent / "golden"


def check(name: str, text: str) -> None:
    path = _FOLDER / f"{name}.txt"
    if os.environ.get("WEFT_GOLDEN") == "rewrite":
        path.write_text(f"{text}\n", encoding="utf-8")
    assert f"{text}\n" == path.read_text(encoding="utf-8")
