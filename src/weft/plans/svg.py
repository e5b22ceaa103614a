"""SVG: the elements that a picture is put together from, as strings.

Self-contained and safe to put into a page: no script, style sheet, font, link or id; whatever is text is made plain and
escaped. Coordinates are hundredths of a pixel, so shapes that end and begin at the same one meet exactly. The colours
are two mid-tones and the reader's own ink, which serve on white and on black.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from html import escape

from weft.plans.plain import plain

INK = "currentColor"
QUIET = 0.66
BLUE = "#4f86c0"
ORANGE = "#e08a3c"
FONT = "system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', Helvetica, Arial, 'DejaVu Sans', sans-serif"


def document(width: int, height: float, label: str, ink: str, paper: str, body: Iterable[str]) -> str:
    """The whole picture. `label` is what a screen reader says."""
    size = number(height)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {size}" width="{width}" height="{size}" '
        f'role="img" aria-label="{_safe(label)}" font-family="{_safe(FONT)}" fill="currentColor" '
        f'style="max-width:100%;height:auto;color:{_colour(ink)}">'
        f'<rect width="100%" height="100%" fill="{_colour(paper)}"/>{"".join(body)}</svg>'
    )


def rect(
    x: float,
    y: float,
    width: float,
    height: float,
    *,
    title: str,
    opacity: float = 1,
    round_: float = 0,
    more: str = "",
) -> str:
    """A rectangle in the colour of its group, that says its title when pointed at."""
    extra = (f' opacity="{opacity:g}"' if opacity != 1 else "") + (f' rx="{round_:g}"' if round_ else "") + more
    return (
        f'<rect x="{number(x)}" y="{number(y)}" width="{number(width)}" height="{number(height)}"{extra}>'
        f"<title>{_safe(title)}</title></rect>"
    )


def path(moves: str, *, opacity: float = 1, stroke: bool = False, title: str = "") -> str:
    """A path, filled or stroked."""
    paint = ' fill="none" stroke="currentColor"' if stroke else ""
    faint = f' opacity="{opacity:g}"' if opacity != 1 else ""
    inner = f"<title>{_safe(title)}</title>" if title else ""
    return f'<path d="{moves}"{paint}{faint}>{inner}</path>' if inner else f'<path d="{moves}"{paint}{faint}/>'


def line(x1: float, y1: float, x2: float, y2: float, opacity: float = 1) -> str:
    """A thin line."""
    return path(f"M{number(x1)} {number(y1)}L{number(x2)} {number(y2)}", opacity=opacity, stroke=True)


def text(
    x: float,
    y: float,
    content: str,
    *,
    rest: str = "",
    size: float = 12,
    bold: bool = False,
    anchor: str = "start",
    opacity: float = 1,
    room: float | None = None,
    title: str = "",
) -> str:
    """A line of text, and more of it in a quieter voice, cut to the room that there is.

    Pointed at, it says its title, or what was cut.
    """
    content = plain(content)
    shown = content if room is None else cut(content, room, size, bold)
    title = title or (content if shown != content else "")
    extra = (' font-weight="600"' if bold else "") + (f' text-anchor="{anchor}"' if anchor != "start" else "")
    extra += f' opacity="{opacity:g}"' if opacity != 1 else ""
    inner = f"<title>{_safe(title)}</title>{_safe(shown)}" if title else _safe(shown)
    left = None if room is None else room - length(shown, size, bold) - 8
    if rest and (left is None or left > 2 * size):
        more = rest if left is None else cut(rest, left, size - 1)
        inner += (
            f'<tspan dx="8" font-size="{size - 1:g}" font-weight="400" fill-opacity="{QUIET}">{_safe(more)}</tspan>'
        )
    return f'<text x="{number(x)}" y="{number(y)}" font-size="{size:g}"{extra}>{inner}</text>'


def group(body: Iterable[str], colour: str = INK) -> str:
    """Elements of one colour."""
    fill = "" if colour == INK else f' fill="{colour}" color="{colour}"'
    return f"<g{fill}>{''.join(body)}</g>"


def number(value: float) -> str:
    """A coordinate in hundredths of a pixel.

    >>> number(1.5), number(2.0), number(2.004)
    ('1.5', '2', '2')
    """
    return f"{value:.2f}".rstrip("0").rstrip(".")


def cut(content: str, room: float, size: float, bold: bool = False) -> str:
    """As much of a text as fits, by a guess that errs on the wide side: no font can be asked here.

    >>> cut("max(price)", 100, 12), cut("max(price)", 40, 12)
    ('max(price)', 'max…')
    """
    if length(content, size, bold) <= room:
        return content
    left, kept = room - size, ""
    for character in content:
        left -= length(character, size, bold)
        if left < 0:
            break
        kept += character
    return kept.rstrip() + "…"


def length(content: str, size: float, bold: bool = False) -> float:
    """About how many pixels a text is long.

    >>> length("ill", 12) < length("WAM", 12)
    True
    """
    return sum(map(_ems, content)) * size * (1.12 if bold else 1)


def _ems(character: str) -> float:
    if unicodedata.east_asian_width(character) in "WF":
        return 1.0
    if unicodedata.combining(character):
        return 0.0
    return (
        0.33
        if character in " .,:;'|!iIjlft()[]·"
        else 0.92
        if character in "mMwW@%…"
        else 0.66
        if (character.isupper())
        else 0.57
    )


def _safe(content: str) -> str:
    return escape(plain(content), quote=True)


def _colour(name: str) -> str:
    """A colour as CSS, and nothing else."""
    return _safe("".join(c for c in name if c.isalnum() or c in "#(),.% -"))
