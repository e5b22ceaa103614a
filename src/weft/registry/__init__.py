"""Registry: a query set that changes while a stream runs on it, as a folder of versions.

In: queries that come, change and go. Out: numbered versions, each a plan, which a stream takes in (`weft.spark`).

    versions.py   the files: one for each version, written whole or not at all; what a version says
    registry.py   the door: add, alter, remove, list, history
    places.py     the bits of filters that came while a stream runs
    grain.py      what a running stream makes of its events, and why a query cannot be answered from that
"""

from weft.registry.registry import Registry

__all__ = ["Registry"]
