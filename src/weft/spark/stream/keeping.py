"""Keeping: what a shard has in the state store, and the copy of it that a worker may still have in memory.

    head     one value: the format, whose state this is, up to when windows are answered, the blocks there are, counts
    blocks   a map from a number to a block's bytes: one more for each micro-batch that brought something; below zero,
             the last answers of each root, where only changed answers or empty windows are asked for

A block is removed when no window can need any of it. So that thousands of micro-batches do not leave thousands of
blocks, eight blocks of one level become one of the next (a log-structured merge tree, O'Neil et al., Acta Informatica
1996): every partial is rewritten once a level, and only while the result stays small.

**The state store is the truth.** Every head carries a token made anew whenever it is written, and memory is used only
if it was left under the token that the head carries now. A task that is retried, a worker that served the shard three
batches ago, a batch that is replayed: none of them finds its token, and the blocks are read.
"""

from __future__ import annotations

import json
import uuid
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

from weft.spark.emitting import Last
from weft.spark.stream.blocks import FORMAT, Block, damaged, formatted, from_bytes, together
from weft.spark.stream.closing import Closing, retained

FAN = 8
"""How many blocks of a level become one of the next."""
LARGEST = 32 << 20
"""Bytes of a block beyond which it is not merged any more."""
_SETTLED = 99
_IN_MEMORY = 1 << 30
"""Bytes of blocks that a worker keeps in memory, over all shards and streams that it serves."""

_memory: OrderedDict[str, dict[int, list[Block]]] = OrderedDict()


@dataclass
class Entry:
    """A block in the store: whose root, how often merged, how large, and the slices it spans."""

    id: int
    root: int
    level: int
    rows: int
    bytes: int
    oldest: int
    newest: int


@dataclass
class Head:
    """What is known of a shard without looking into its blocks."""

    told: str
    token: str = ""
    upto: int | None = None
    """Windows that end at or before this instant, in microseconds, have been answered; None where none has."""
    timer: int | None = None
    next_id: int = 0
    entries: list[Entry] = field(default_factory=list)
    late: int = 0
    """Events too late for some query, once for each set of group keys."""
    late_by_query: dict[str, int] = field(default_factory=dict)
    ahead: int = 0
    calls: int = 0
    """How many micro-batches the shard has seen."""
    version: int | None = None
    """The version of the query set that has been taken in, where it may change."""
    digest: str = ""
    since: dict[str, int] = field(default_factory=dict)
    """Of queries that are younger than what they read: from when on there is all of it."""
    floors: list[int | None] = field(default_factory=list)
    """For each root, from when on all is retained; None (or nothing said) where nothing has been let go of."""
    filters: dict[str, list[int]] = field(default_factory=dict)
    """Filters that came late: their bits, and since when every event was asked."""
    broken: list[str] = field(default_factory=list)
    """Versions that came since and could not be read."""
    patience: int = 0
    """How late an event might be, in microseconds, at most: a stream may be started again with another watermark."""

    def to_bytes(self) -> bytes:
        """As JSON, with the format."""
        told = {**self.__dict__, "entries": [list(entry.__dict__.values()) for entry in self.entries]}
        return json.dumps({"format": FORMAT, **told}).encode()

    @staticmethod
    def from_bytes(data: bytes) -> Head:
        """The head of these bytes."""
        try:
            told = formatted(json.loads(data))
            return Head(**{**told, "entries": [Entry(*entry) for entry in told["entries"]]})
        except (KeyError, TypeError, ValueError) as error:
            raise damaged(f"the head of a shard cannot be read ({error})") from None


class Shard:
    """A shard in the hands of a worker, for one micro-batch."""

    def __init__(self, head: Head, store: Any, closings: tuple[Closing, ...]) -> None:
        self.head, self._store, self._closings = head, store, closings
        remembered = _memory.pop(head.token, None)
        if remembered is None:
            remembered = {}
            for entry in head.entries:
                remembered.setdefault(entry.root, []).append(self._read(entry))
        self._blocks = remembered

    def _read(self, entry: Entry) -> Block:
        value = self._store.getValue((entry.id,))
        if value is None:
            raise damaged(f"block {entry.id} of a shard is missing")
        return from_bytes(bytes(value[0]))[1]

    def whole(self, root: int) -> Block | None:
        """All that is retained for a root, as one block."""
        blocks = self._blocks.get(root)
        if not blocks:
            return None
        what = self._closings[root]
        if len(blocks) > 1:
            blocks = self._blocks[root] = [together(blocks, what.layout, what.job.ansi)]
        return blocks[0]

    def add(self, root: int, block: Block) -> None:
        """Take in what a micro-batch brought."""
        self._blocks.setdefault(root, []).append(block)
        self._write(root, 0, block)
        self._settle(root)

    def _write(self, root: int, level: int, block: Block) -> None:
        data = block.to_bytes()
        self._store.updateValue((self.head.next_id,), (data,))
        self.head.entries.append(Entry(self.head.next_id, root, level, block.count, len(data), *block.span))
        self.head.next_id += 1

    def _settle(self, root: int) -> None:
        """Merge levels that are full."""
        level = 0
        while level < _SETTLED:
            full = [entry for entry in self.head.entries if (entry.root, entry.level) == (root, level)]
            if len(full) < FAN:
                return
            if sum(entry.bytes for entry in full) > LARGEST:
                for entry in full:
                    entry.level = _SETTLED
                return
            what = self._closings[root]
            block = together([self._read(entry) for entry in full], what.layout, what.job.ansi)
            if self.head.upto is not None:
                block = retained(what, block, self.head.upto)
            self._remove(full)
            level += 1
            if block.count:
                self._write(root, level, block)

    def _remove(self, entries: list[Entry]) -> None:
        gone = {entry.id for entry in entries}
        for id_ in gone:
            self._store.removeKey((id_,))
        self.head.entries = [entry for entry in self.head.entries if entry.id not in gone]

    def last(self, root: int) -> Last | None:
        """The last answers, where what goes out depends on them."""
        if not self._closings[root].job.emission.remembers:
            return None
        value = self._store.getValue((-1 - root,))
        return None if value is None else Last.from_bytes(bytes(value[0]))

    def remember(self, root: int, last: Last | None) -> None:
        """Keep the last answers."""
        if last is not None:
            self._store.updateValue((-1 - root,), (last.to_bytes(),))
        elif self._closings[root].job.emission.remembers:
            self._store.removeKey((-1 - root,))

    def expire(self) -> None:
        """Let go of what no window can need any more."""
        upto = self.head.upto
        if upto is None:
            return
        self._remove([e for e in self.head.entries if e.newest <= upto - self._closings[e.root].reach])
        for root, blocks in self._blocks.items():
            kept = [retained(self._closings[root], block, upto) for block in blocks]
            self._blocks[root] = [block for block in kept if block.count]

    def leave(self) -> None:
        """Make a new token, and remember the shard under it."""
        self.head.token = uuid.uuid4().hex
        _memory[self.head.token] = self._blocks
        while len(_memory) > 1 and sum(map(_bytes, _memory.values())) > _IN_MEMORY:
            _memory.popitem(last=False)


def _bytes(blocks: dict[int, list[Block]]) -> int:
    return sum(block.rows.nbytes + block.keys.nbytes for some in blocks.values() for block in some)
