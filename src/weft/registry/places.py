"""Places: the bits of filters that came while a stream runs.

A stream tells its events apart by the filters that it began with, each compiled into Spark's plan. A filter that comes
later and differs from one of them in its constants only (`price > 150` for `price > 100`) needs no other plan: its
constants are read with every micro-batch, and it has a bit in a signature column kept for such filters.

Which bit is not written down anywhere: it follows from the versions since the stream's start, in order. A filter takes
the lowest bit that is free when it comes, and keeps it for some versions after its last query has gone: shards may not
have heard of that yet. So whoever has the folder says the same, and a filter's bit does not move.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

ROOM = 62
"""Bits: a bigint, with the sign left alone."""

_LINGERS = 8
"""Versions for which a filter without a query keeps its bit."""


@dataclass(frozen=True)
class Places:
    """Which filters, as text, have which bit as of a version."""

    version: int
    of: Mapping[str, int]
    used: Mapping[str, int]
    """The last version that had a query with the filter."""

    def then(self, version: int, filters: Iterable[str], comes_late: Callable[[str], bool]) -> Places:
        """As of the next version, which has these filters.

        >>> places = begun(1).then(2, ["a", "b", "old"], lambda text: text != "old")
        >>> places.of, places.then(3, ["b"], lambda _: True).of, places.then(20, ["b", "c"], lambda _: True).of
        ({'a': 0, 'b': 1}, {'a': 0, 'b': 1}, {'b': 1, 'c': 0})
        """
        used = {**self.used, **{text: version for text in dict.fromkeys(filters) if comes_late(text)}}
        kept = {text: bit for text, bit in self.of.items() if version - used[text] <= _LINGERS}
        free = iter(sorted(set(range(ROOM)) - set(kept.values())))
        for text, last in used.items():
            if last == version and text not in kept and (bit := next(free, None)) is not None:
                kept[text] = bit
        return Places(version, kept, {text: used[text] for text in kept})


def begun(version: int) -> Places:
    """As a stream starts: it knows all filters of its version."""
    return Places(version, {}, {})
