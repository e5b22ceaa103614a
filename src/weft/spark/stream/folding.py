"""Folding: a micro-batch's events become blocks before they are shuffled. Runs over Arrow where the events come from.

    events of a task --number keys, slices, signatures--> groups --merge--> a block for each shard

A task sends each shard what it has for it, or an empty block: so every shard hears of every micro-batch that has rows,
and all of them close the same windows. Events are folded a few hundred thousand at a time. An event too far in the
future comes without a slice; it is counted and goes no further.

Structured Streaming has no aggregation in the JVM that keeps no state, so this is where a stream differs from a batch,
whose slices the JVM makes; the partials are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from weft.spark.keys import alike, dense, hashes, plain
from weft.spark.stream.aside import ASIDE, EVENT
from weft.spark.stream.blocks import Block, Layout, row_names, sorted_block, together
from weft.spark.stream.latecomers import Latecomers
from weft.spark.stream.merging import lifted, merged

ENOUGH = 1 << 19
"""Events folded at once."""
SENT = pa.schema([("shard", pa.int32()), ("root", pa.int32()), ("ahead", pa.int64()), ("block", pa.binary())])
"""What goes to the shards. `ahead` counts the events set aside as too far in the future."""
FORM = "shard int, root int, ahead bigint, block binary"
"""The same, as Spark says it."""


@dataclass(frozen=True)
class Fold:
    """How a root's events become blocks."""

    layout: Layout
    keys: tuple[str, ...]
    """The event columns that the keys stand in."""
    slice: str
    signatures: tuple[str, ...]
    arguments: tuple[str | None, ...]
    """The event column of each source's argument; None counts rows."""
    wanted: str | None
    """The event column that says whether the root wants the event; None where it wants all."""


def folding(
    folds: tuple[Fold, ...], labels: tuple[int, ...], told: str, ansi: bool, latecomers: Latecomers | None = None
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The function that Spark maps over the events. What is `told` travels in the head of every block."""

    def fold(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        made: list[list[Block]] = [[] for _ in folds]
        ahead, events, lines = 0, 0, list[str]()
        heard: dict[str, Any] = {}
        for some in _gathered(batches):
            if latecomers is not None and not heard:
                heard = {"late": latecomers.heard(some)}
            slices = some[folds[0].slice]
            if slices.null_count:
                ahead += slices.null_count
                if EVENT in some.column_names:
                    lines += some[EVENT].drop_null().to_pylist()
                some = some.filter(slices.is_valid())
            events += some.num_rows
            for number, how in enumerate(folds):
                block = folded(how, some, ansi)
                if block.count:
                    made[number].append(block)
        if events or ahead:
            yield from _sent(folds, labels, made, ahead, {"told": told, **heard}, ansi)
        if lines:
            yield message(labels[:1], ASIDE, [0], ["\n".join(lines).encode()])

    return fold


def folded(how: Fold, events: pa.Table, ansi: bool) -> Block:
    """The events of a root as a block."""
    if how.wanted is not None:
        events = events.filter(events[how.wanted])
    events = events.combine_chunks()
    rows, column = events.num_rows, {name: _array(events, name) for name in events.column_names}
    layout = how.layout
    keys = [alike(column[name]) for name in how.keys]
    key, first_of_key = dense(keys, rows)
    slices = column[how.slice].to_numpy()
    marks = [column[name].to_numpy() for name in how.signatures]
    group, first = dense([key, slices, *marks], rows)
    partials = []
    for source, argument in zip(layout.sources, how.arguments, strict=True):
        values = None if argument is None else plain(column[argument])
        columns = lifted(source.kind, source.type, values, rows)
        partials += merged(source.kind, source.type, columns, group, len(first), ansi)
    arrays = [pa.array(each[first]) for each in (key, slices, *marks)]
    table = pa.Table.from_arrays([*arrays, *partials], row_names(layout))
    found = pa.array(first_of_key)
    named = [pa.array(np.zeros(len(found), np.int8))] if not keys else [each.take(found) for each in keys]
    return sorted_block(pa.RecordBatch.from_arrays(named, key_names(layout)), key[first], table, layout, ansi)


def key_names(layout: Layout) -> list[str]:
    """The columns of a block's keys."""
    return [f"key_{number}" for number in range(layout.keys)] or ["all"]


def _gathered(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    held: list[pa.RecordBatch] = []
    count = 0
    for batch in batches:
        held.append(batch)
        count += batch.num_rows
        if count >= ENOUGH:
            yield pa.Table.from_batches(held)
            held, count = [], 0
    if count:
        yield pa.Table.from_batches(held)


def _sent(
    folds: tuple[Fold, ...],
    labels: tuple[int, ...],
    made: list[list[Block]],
    ahead: int,
    head: dict[str, Any],
    ansi: bool,
) -> Iterator[pa.RecordBatch]:
    for number, how in enumerate(folds):
        parts: list[bytes | None] = [None] * len(labels)
        if made[number]:
            block = together(made[number], how.layout, ansi)
            keys = [block.keys[name] for name in block.keys.schema.names if how.keys]
            of_key = (hashes(keys, block.keys.num_rows) % np.uint64(len(labels))).astype(np.int64)
            of_row = of_key[block.key]
            for shard in np.unique(of_key).tolist():
                parts[shard] = block.chosen(of_row == shard).to_bytes(**head)
        said = [ahead if number == shard == 0 else 0 for shard in range(len(labels))]
        yield message(labels, number, said, parts)


def message(labels: tuple[int, ...], root: int, ahead: list[int], parts: Sequence[bytes | None]) -> pa.RecordBatch:
    """A row for each shard."""
    columns = [labels, [root] * len(labels), ahead, parts]
    return pa.RecordBatch.from_arrays(
        [pa.array(each, field.type) for each, field in zip(columns, SENT, strict=True)], schema=SENT
    )


def _array(events: pa.Table, name: str) -> pa.Array:
    column = events[name]
    return column.chunk(0) if column.num_chunks else pa.array([], column.type)
