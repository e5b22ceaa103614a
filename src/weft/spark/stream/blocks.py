"""Blocks: the retained partials of some keys, sorted by key and slice; what is kept, sent, merged and thrown away.

    keys              rows
    key_0             key   slice   signature_0   partial_0   partial_1
    AAPL              0     8:00    1             ...
    MSFT              0     8:01    1
                      1     8:00    3

A block stands for itself: its rows point into its own table of keys. So a key is gone when the last block that has rows
of it is, two blocks merge without asking anybody for numbers, and a block can be read by itself years later.

Where queries do not group, there is one key, in a column `all` that says nothing. As bytes: a line of JSON with the
format's version, then two Arrow IPC streams, the keys and the rows.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from weft.errors import RunFailed
from weft.spark.keys import dense
from weft.spark.lanes import Source
from weft.spark.series import columns_of
from weft.spark.stream.merging import merged

FORMAT = 1
"""Of what is kept in a state store. It goes up when that changes in a way that an older Weft would misread."""


def damaged(rule: str) -> RunFailed:
    """What to raise for a checkpoint that cannot be gone on with."""
    return RunFailed(rule, field="checkpoint", remedy="Start with a new checkpoint folder, or with a copy of this one")


def formatted(told: Any) -> dict[str, Any]:
    """What a head or a header says, if it is of our format."""
    if not isinstance(told, dict) or "format" not in told:
        raise damaged("its state is none of Weft's")
    if told["format"] != FORMAT:
        raise damaged(f"its state has format {told['format']}, and this Weft reads format {FORMAT}")
    return {name: value for name, value in told.items() if name != "format"}


@dataclass(frozen=True, eq=False)
class Layout:
    """What a block's rows look like: the same for all blocks of a stream's root."""

    keys: int
    signatures: int
    sources: tuple[Source, ...]

    @property
    def partials(self) -> int:
        """How many partial columns there are."""
        return sum(columns_of(source.kind, source.type) for source in self.sources)


@dataclass(frozen=True, eq=False)
class Block:
    """Partials by key, slice and signature, each once and in this order."""

    keys: pa.RecordBatch
    rows: pa.RecordBatch

    @property
    def count(self) -> int:
        """How many partials there are."""
        return int(self.rows.num_rows)

    @cached_property
    def key(self) -> npt.NDArray[np.int64]:
        """The key of each row, by its place among the keys."""
        values: npt.NDArray[np.int64] = self.rows["key"].to_numpy()
        return values

    @cached_property
    def slices(self) -> npt.NDArray[np.int64]:
        """The start of each row's slice."""
        values: npt.NDArray[np.int64] = self.rows["slice"].to_numpy()
        return values

    @cached_property
    def span(self) -> tuple[int, int]:
        """The first and the last slice."""
        return int(self.slices.min()), int(self.slices.max())

    def bounds(self) -> npt.NDArray[np.int64]:
        """Where each key's rows begin, and the end; every key has rows."""
        return np.append(np.flatnonzero(np.diff(self.key, prepend=-1)), self.count)

    def chosen(self, rows: npt.NDArray[np.bool_]) -> Block:
        """Some of the rows, and their keys."""
        if rows.all():
            return self
        picked = self.rows.filter(pa.array(rows))
        used, key = np.unique(picked["key"].to_numpy(), return_inverse=True)
        keys = self.keys.take(pa.array(used))
        return Block(keys, picked.set_column(0, "key", pa.array(key.astype(np.int64))))

    def to_bytes(self, **told: Any) -> bytes:
        """The block with a header."""
        sink = pa.BufferOutputStream()
        sink.write(json.dumps({"format": FORMAT, **told}).encode() + b"\n")
        for batch in (self.keys, self.rows):
            with pa.ipc.new_stream(sink, batch.schema) as writer:
                writer.write_batch(batch)
        return bytes(sink.getvalue())


def from_bytes(data: bytes) -> tuple[dict[str, Any], Block]:
    """The header and the block."""
    try:
        end = data.index(b"\n")
        header = formatted(json.loads(data[:end]))
        source = pa.BufferReader(pa.py_buffer(data).slice(end + 1))
        keys, rows = (_only_batch(pa.ipc.open_stream(source)) for _ in range(2))
    except (ValueError, pa.ArrowInvalid) as error:
        raise damaged(f"a block of its state cannot be read ({error})") from None
    return header, Block(keys, rows)


def _only_batch(reader: Any) -> pa.RecordBatch:
    batch = reader.read_next_batch()
    for _ in reader:  # to the end of this stream, where the next one begins
        raise ValueError("more than one batch")
    return batch


def together(blocks: Sequence[Block], layout: Layout, ansi: bool) -> Block:
    """The blocks as one: partials of one key, slice and signature are merged."""
    if len(blocks) == 1:
        return blocks[0]
    tables = pa.Table.from_batches([block.keys for block in blocks]).combine_chunks()
    count = sum(block.keys.num_rows for block in blocks)
    of_row, first = dense([_whole(tables[name]) for name in tables.column_names], count)
    keys = _batch(tables.take(pa.array(first)))
    begins = np.cumsum([0, *(block.keys.num_rows for block in blocks)])
    key = np.concatenate([of_row[block.key + begin] for block, begin in zip(blocks, begins, strict=False)])
    return sorted_block(keys, key, pa.Table.from_batches([block.rows for block in blocks]), layout, ansi)


def sorted_block(keys: pa.RecordBatch, key: npt.NDArray[np.int64], rows: pa.Table, layout: Layout, ansi: bool) -> Block:
    """A block of rows in any order, of these keys."""
    rows = rows.combine_chunks()
    slices = rows["slice"].to_numpy()
    marks = [rows[f"signature_{number}"].to_numpy() for number in range(layout.signatures)]
    order = _order([key, slices, *marks])
    begins = np.zeros(len(key), np.bool_)
    begins[:1] = True
    for column in (key, slices, *marks):
        ordered = column[order]
        begins[1:] |= ordered[1:] != ordered[:-1]
    first = order[begins]
    if len(first) == len(key):
        partials = [_whole(rows[f"partial_{n}"]).take(pa.array(order)) for n in range(layout.partials)]
    else:
        group = np.empty(len(key), np.int64)
        group[order] = np.cumsum(begins) - 1
        partials = [
            column
            for source in layout.sources
            for column in merged(
                source.kind,
                source.type,
                [_whole(rows[f"partial_{source.column + n}"]) for n in range(columns_of(source.kind, source.type))],
                group,
                len(first),
                ansi,
            )
        ]
    arrays = [pa.array(column[first]) for column in (key, slices, *marks)]
    return Block(keys, pa.RecordBatch.from_arrays([*arrays, *partials], row_names(layout)))


def row_names(layout: Layout) -> list[str]:
    """The columns of a block's rows."""
    marks = [f"signature_{number}" for number in range(layout.signatures)]
    return ["key", "slice", *marks, *(f"partial_{number}" for number in range(layout.partials))]


def _order(columns: list[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    """The order by some columns, the first one first; nearly free where the rows are a few sorted runs."""
    if not len(columns[0]):
        return np.empty(0, np.int64)
    code, span = np.zeros(len(columns[0]), np.int64), 1
    for column in columns:
        lowest, width = int(column.min()), int(column.max()) - int(column.min()) + 1
        if span * width > 2**62:
            values = np.unique(column)
            column, lowest, width = np.searchsorted(values, column), 0, len(values)
        if span * width > 2**62:
            return np.lexsort(columns[::-1])
        code, span = code * width + (column - lowest), span * width
    return np.argsort(code, kind="stable")


def _whole(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _batch(table: pa.Table) -> pa.RecordBatch:
    return table.combine_chunks().to_batches()[0] if table.num_rows else pa.RecordBatch.from_pylist([], table.schema)
