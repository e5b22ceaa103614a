"""Roster: which queries a shard answers, and since when there is all that they read.

A shard keeps, beside its blocks, the version that it has taken in. When a newer one comes,

1.  queries that it has already go on as they were;
2.  others are answered from what is retained. `floors` say since when a root's slices are all there: what no window
    needed has gone. Windows that begin before are incomplete, and are answered from what begins after the floor;
3.  once all windows that are still to be answered begin after it, a query is like the others.

A stream that is started again may make other slices, filters and partials of its events. What is retained is refitted
(`refitting.py`), and what was made before is noted down: a query that could not have been answered from that has its
history begin with the first instant of which no event came before the new start. So has one whose filter came late
(`latecomers.py`), with the micro-batch whose blocks all tell of it.
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from weft.errors import RunFailed
from weft.queries import expressions as ex
from weft.queries.query import Query
from weft.registry.grain import Grain
from weft.registry.versions import Version, number_of
from weft.spark.emitting import Answered, Last
from weft.spark.stream.blocks import Block, damaged, from_bytes
from weft.spark.stream.keeping import Head
from weft.spark.stream.live import Fabric, Woven, woven
from weft.spark.stream.refitting import matched, refitted
from weft.techniques.windows import ALWAYS

_VERSION, _NOTES = -(1 << 40), -(1 << 40) - 1
"""The numbers of the version and of the notes in the map of blocks."""
_MOST = 16
_remembered: OrderedDict[str, bytes] = OrderedDict()
"""Versions by their digest."""


@dataclass
class Arrived:
    """What came to a shard in a micro-batch."""

    blocks: dict[int, list[Block]] = field(default_factory=dict)
    """Of events, by root."""
    ahead: int = 0
    """Events that were set aside as too far ahead."""
    aside: list[bytes] = field(default_factory=list)
    """These events, as lines, where they are kept."""
    versions: list[bytes] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    """Word of versions that cannot be read."""
    late: list[dict[str, int] | None] = field(default_factory=list)
    """For each block of events, which filters that came late have which bit in it; None where nobody could tell."""


Past = list[tuple[int, Grain]]
"""What the stream made before, and the first instant of which no event came then, for each earlier start."""


def opened(fabric: Fabric, head: Head, store: Any, arrived: Arrived, watermark: int) -> Woven:
    """The queries of a shard in this micro-batch, with what came in it."""
    head.broken = [*head.broken, *arrived.broken][-_MOST:]
    head.patience = max(head.patience, fabric.patience)  # of an earlier start it may have been longer
    begin = max(watermark, 0) * 1_000 + head.patience + 1_000  # no event came before that is of this instant or later
    known = {json.loads(data[: data.index(b"\n")])["version"]: data for data in arrived.versions}
    number = max(known, default=0)
    newer = number > (head.version or 0)
    filters = _filters(head, arrived, begin)
    if head.told == fabric.told and not newer and filters == head.filters:
        return _now(fabric, head, store)
    grain, past = _notes(store)
    before: tuple[Mapping[str, Query], Mapping[str, int]]
    if grain is not None and head.told != fabric.told:
        before = _answered(grain, head, store)
        past = [*past, (begin, grain)]
        _refit(fabric, head, store, grain)
        past = _fewer(past, head, len(fabric.roots))
    else:
        before = (found := _now(fabric, head, store)).queries, found.numbers
    head.told, head.filters = fabric.told, filters
    if newer:
        head.version, head.digest = number, hashlib.sha256(known[number]).hexdigest()
        _remember(head.digest, known[number])
        head.broken = [word for word in head.broken if (number_of(word.split(":")[0]) or 0) > number]
        store.updateValue((_VERSION,), (known[number],))
    since, head.since = head.since, {}
    now = _now(fabric, head, store)
    there = now.queries.keys() | now.waiting.keys()
    head.late_by_query = {id_: count for id_, count in head.late_by_query.items() if id_ in there}
    past = [(at, made) for at, made in past if not _left_behind(at, head.floors)]
    for id_, query in now.queries.items():
        begins = [since.get(id_, ALWAYS)]
        if before[0].get(id_) != query:
            floor = head.floors[now.root_of[id_]] if head.floors else None
            begins = [ALWAYS if floor is None else floor, *(at for at, made in past if made.lacks(query))]
        if not fabric.grain.strands[now.root_of[id_]].has(query.where):
            begins.append(filters[ex.to_sql(query.where)][1])  # type: ignore[arg-type]  # there is one
        if max(begins) != ALWAYS:
            head.since[id_] = max(begins)
    for root in range(len(fabric.roots)):
        _renumber(store, root, before, now)
    _keep_notes(store, fabric.grain, past)
    settled(head, now)
    return _now(fabric, head, store)


def settled(head: Head, now: Woven) -> None:
    """Say what has been, or is about to be, let go of; and which queries have all that they read by now."""
    if head.upto is None:
        return
    head.floors = head.floors or [None] * len(now.closings)
    for root, what in enumerate(now.closings):
        floor, least = head.floors[root], head.upto - what.reach + 1
        head.floors[root] = least if floor is None else max(floor, least)
    for id_, begin in list(head.since.items()):
        window = now.queries[id_].window
        if begin <= head.upto - window.range - window.delay + 1:
            del head.since[id_]


def _now(fabric: Fabric, head: Head, store: Any) -> Woven:
    def version() -> bytes:
        if head.digest not in _remembered:
            value = store.getValue((_VERSION,))
            if value is None:
                raise damaged("the version of the query set that a shard has taken in is missing")
            _remember(head.digest, bytes(value[0]))
        return _remembered[head.digest]

    return woven(fabric, head.digest, version, head.since, {text: bit for text, (bit, _) in head.filters.items()})


def _filters(head: Head, arrived: Arrived, begin: int) -> dict[str, list[int]]:
    """Which filters that came late all events are asked from now on, by which bit, and since when."""
    if not arrived.late:
        return head.filters
    if None in arrived.late and head.filters:
        raise RunFailed(
            "a worker could not read it, and queries whose filters came late would be answered without its events",
            field="registry",
            remedy="Let all workers reach the folder, and start the stream again: nothing is lost",
        )
    first, *others = (each or {} for each in arrived.late)
    agreed = {text: bit for text, bit in first.items() if all(other.get(text) == bit for other in others)}
    return {
        text: head.filters[text] if head.filters.get(text, [None])[0] == bit else [bit, begin]
        for text, bit in agreed.items()
    }


def _remember(digest: str, version: bytes) -> None:
    _remembered[digest] = version
    _remembered.move_to_end(digest)
    while len(_remembered) > _MOST:
        _remembered.popitem(last=False)


def _answered(grain: Grain, head: Head, store: Any) -> tuple[dict[str, Query], dict[str, int]]:
    """The queries that were answered as the stream ran before."""
    value = store.getValue((_VERSION,))
    plan = None if value is None else Version.from_bytes(bytes(value[0])).plan
    if plan is None:
        return {}, {}
    queries = {}
    for tree in plan.trees:
        for position in tree.queries.tolist():
            query = plan.workload[position]
            if grain.why_not(query, tree.technique, head.filters) is None:
                queries[query.id] = query
    return queries, {}


def _fewer(past: Past, head: Head, roots: int) -> Past:
    """What the stream made at its last starts; of what was made before them, queries to come read nothing."""
    if len(past) > _MOST:
        least = past[-_MOST - 1][0]
        floors = head.floors or [None] * roots
        head.floors = [least if floor is None else max(floor, least) for floor in floors]
    return past[-_MOST:]


def _left_behind(begin: int, floors: Sequence[int | None]) -> bool:
    """Whether nothing is retained any more of before an instant."""
    return bool(floors) and all(floor is not None and floor >= begin for floor in floors)


def _renumber(store: Any, root: int, before: tuple[Mapping[str, Query], Mapping[str, int]], now: Woven) -> None:
    """The last answers are by the queries' numbers; those of queries that are gone, or others now, go."""
    value = store.getValue((-1 - root,))
    if value is None:
        return
    last, (queries, numbers) = Last.from_bytes(bytes(value[0])), before
    becomes = np.full(max(numbers.values(), default=-1) + 1, -1, np.int64)
    for id_, number in numbers.items():
        if now.queries.get(id_) == queries[id_]:
            becomes[number] = now.numbers[id_]
    rows = last.answered
    kept = np.flatnonzero(becomes[rows.query] >= 0)
    if not len(kept):
        store.removeKey((-1 - root,))
        return
    used, key = np.unique(rows.key[kept], return_inverse=True)
    places = pa.array(kept)
    taken = Answered(
        becomes[rows.query[kept]], key.astype(np.int64), rows.start[kept], rows.end[kept],
        [column.take(places) for column in rows.values],
    )  # fmt: skip
    store.updateValue((-1 - root,), (Last(last.keys.take(pa.array(used)), taken).to_bytes(),))


def _refit(fabric: Fabric, head: Head, store: Any, grain: Grain) -> None:
    """Rewrite what is retained as the stream makes it now. What was answered last is forgotten."""
    head.token = ""
    of = [matched(strand, fabric.grain.strands) for strand in grain.strands]
    floors: list[int | None] = [None] * len(fabric.roots)
    for old, new in enumerate(of):
        if new is not None and head.floors:
            floors[new] = head.floors[old]
    bits = {text: bit for text, (bit, _) in head.filters.items()}
    entries = []
    for entry in head.entries:
        new = of[entry.root]
        block = None
        if new is not None:
            value = store.getValue((entry.id,))
            if value is None:
                raise damaged(f"block {entry.id} of a shard is missing")
            found = from_bytes(bytes(value[0]))[1]
            strands = grain.strands[entry.root], fabric.grain.strands[new]
            block = refitted(found, *strands, bits, fabric.layouts[new], fabric.arguments[new], fabric.ansi)
        if new is None or block is None:
            store.removeKey((entry.id,))
            continue
        data = block.to_bytes()
        store.updateValue((entry.id,), (data,))
        entry.root, entry.rows, entry.bytes = new, block.count, len(data)
        entry.oldest, entry.newest = block.span
        entries.append(entry)
    head.entries, head.floors = entries, floors if any(floor is not None for floor in floors) else []
    for root in range(len(grain.strands)):
        if store.getValue((-1 - root,)) is not None:
            store.removeKey((-1 - root,))


def _notes(store: Any) -> tuple[Grain | None, Past]:
    value = store.getValue((_NOTES,))
    if value is None:
        return None, []
    told = json.loads(bytes(value[0]))
    return Grain.from_json(told["grain"]), [(begin, Grain.from_json(made)) for begin, made in told["past"]]


def _keep_notes(store: Any, grain: Grain, past: Past) -> None:
    told = {"grain": grain.to_json(), "past": [[begin, made.to_json()] for begin, made in past]}
    store.updateValue((_NOTES,), (json.dumps(told).encode(),))
