"""Tally: how many events each query has taken and how many answers it has given, since the stream began.

A shard counts for itself; whoever wants to know adds up (`state.py`). An event counts for a query if it passes the
query's filter, late or not. How many were late is counted where that is decided, in the shard's head.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from weft.spark.keys import numbers
from weft.spark.stream.blocks import Block, damaged
from weft.spark.stream.closing import Closing

Counts = npt.NDArray[np.int64]


class Tally:
    """The counts of a shard, by root, and by query as the root's job numbers them."""

    def __init__(self, closings: Sequence[Closing], data: bytes | None) -> None:
        self._closings = closings
        self.taken, self.given = 0, 0  # in this micro-batch
        self._numbers = [_numbers(what) for what in closings]
        ids = [pa.array(what.job.shape.ids, pa.string()) for what in closings]
        # the root as a whole stands last, without a name
        self._names = [
            pa.concat_arrays([every.take(mine), _NONE]) for every, mine in zip(ids, self._numbers, strict=True)
        ]
        self.events, self.answers = ([np.zeros(len(names), np.int64) for names in self._names] for _ in range(2))
        if data is None:
            return
        before = read(data)
        # by name, since a query may be another root's where a registry's stream was started again
        for root, names in enumerate(self._names):
            mine = before.filter(pc.or_(pc.is_valid(before["query"]), pc.equal(before["root"], root)))
            at = pc.index_in(mine["query"], names)
            known = at.is_valid().to_numpy(zero_copy_only=False)
            for name, counts in (("events", self.events), ("answers", self.answers)):
                counts[root][numbers(at)[known]] = mine[name].to_numpy()[known]

    def arrived(self, root: int, block: Block) -> None:
        """Count the events behind some new partials, for each query that they pass."""
        what = self._closings[root]
        events = numbers(block.rows[f"partial_{what.events}"])
        for each in what.lanes:
            passed = events
            if each.lane.filter is not None:
                column, bit = each.lane.filter
                passed = events[(block.rows[f"signature_{column}"].to_numpy() >> bit) & 1 == 1]
            asked = [number for window in each.lane.windows for number, _ in window.queries]
            self.events[root][np.searchsorted(self._numbers[root], asked)] += passed.sum()
        self.events[root][-1] += events.sum()
        self.taken += int(events.sum())

    def answered(self, root: int, batch: pa.RecordBatch) -> None:
        """Count the answers in a batch of bundles, for their queries. A wide row is one of each query."""
        if "query" not in batch.schema.names:
            self.answers[root] += batch.num_rows
            self.given += batch.num_rows
            return
        names = batch["query"].dictionary_encode()
        each = pc.list_value_length(batch["window_end"]).to_numpy(zero_copy_only=False)
        counts = np.bincount(names.indices.to_numpy(), weights=each, minlength=len(names.dictionary)).astype(np.int64)
        self.answers[root][pc.index_in(names.dictionary, self._names[root]).to_numpy()] += counts
        self.answers[root][-1] += each.sum()
        self.given += int(each.sum())

    def to_bytes(self) -> bytes:
        """As an Arrow stream of a row for each query, and one without a query's name for each root as a whole."""
        table = {
            "root": np.repeat(np.arange(len(self._names), dtype=np.int32), list(map(len, self._names))),
            "query": pa.concat_arrays(self._names),
            "events": np.concatenate(self.events),
            "answers": np.concatenate(self.answers),
        }
        batch, sink = pa.RecordBatch.from_pydict(table), pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
            writer.write_batch(batch)
        return bytes(sink.getvalue())


def _numbers(what: Closing) -> Counts:
    """A root's queries, by number, in order."""
    asked = {number for each in what.lanes for window in each.lane.windows for number, _ in window.queries}
    return np.array(sorted(asked), np.int64)


_NONE = pa.nulls(1, pa.string())


def read(data: bytes) -> pa.RecordBatch:
    """The counts of a shard: root, query (null: the root as a whole), events, answers."""
    try:
        return pa.ipc.open_stream(pa.py_buffer(data)).read_next_batch()
    except (pa.ArrowInvalid, StopIteration) as error:
        raise damaged(f"the counts of a shard cannot be read ({error})") from None
