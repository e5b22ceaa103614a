"""Refitting: retained partials of one strand as another strand of the same keys keeps them.

    signature    a filter's bit moves to where it is now; of a filter that is new, no row has it
    partials     a column that was kept moves; one that is new says that there were no values
    slices       stay where they were cut: finer ones do no harm, coarser ones are kept from those who need finer

Rows that no filter wants any more go, and rows that cannot be told apart any more are merged. Who may use what comes of
it is not decided here (`roster.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from weft.queries import expressions as ex
from weft.registry.grain import Strand
from weft.spark.series import columns_of
from weft.spark.stream.blocks import Block, Layout, row_names, sorted_block
from weft.spark.stream.merging import lifted, merged


def matched(old: Strand, strands: Sequence[Strand]) -> int | None:
    """The strand that keeps the same keys, of the same types, by the same time."""
    for number, new in enumerate(strands):
        if new.time == old.time and set(new.keys) == set(old.keys):
            return number
    return None


def refitted(
    block: Block,
    old: Strand,
    new: Strand,
    late: Mapping[str, int],
    layout: Layout,
    arguments: Sequence[pa.DataType | None],
    ansi: bool,
) -> Block | None:
    """The block as the new strand keeps it; None where nothing is left of it. `late` are bits of filters by text."""
    passes = _Passes(block, old, late)
    marks = np.zeros((new.width, block.count), np.int64)
    for where, (column, bit) in new.places.items():
        marks[column] |= passes(where).astype(np.int64) << bit
    if new.common is not None:
        kept = passes(new.common)
    else:
        kept = np.full(block.count, new.every_row) | (marks != 0).any(axis=0)
    if not kept.any():
        return None
    block, marks = block.chosen(kept), marks[:, kept]
    columns, at = {}, 0
    for partial, type_ in old.partials:
        width = columns_of(partial.kind, type_)
        columns[partial, type_] = [block.rows[f"partial_{n}"] for n in range(at, at + width)]
        at += width
    made: list[pa.Array] = []
    for (partial, type_), argument in zip(new.partials, arguments, strict=True):
        made += columns.get((partial, type_)) or _no_values(partial.kind, type_, argument, block.count, ansi)
    arrays = [pa.array(block.key), pa.array(block.slices), *map(pa.array, marks), *made]
    rows = pa.Table.from_arrays(arrays, row_names(layout))
    keys = block.keys
    if new.keys:
        order = [old.keys.index(key) for key in new.keys]
        names = [f"key_{number}" for number in range(len(order))]
        keys = pa.RecordBatch.from_arrays([keys[f"key_{number}"] for number in order], names)
    return sorted_block(keys, block.key, rows, layout, ansi)


class _Passes:
    """Which rows of a block pass a filter, as far as they tell."""

    def __init__(self, block: Block, strand: Strand, late: Mapping[str, int]) -> None:
        self._block, self._strand, self._late = block, strand, late

    def __call__(self, where: ex.Expression) -> npt.NDArray[np.bool_]:
        strand, text = self._strand, ex.to_sql(where)
        if where in strand.places or (text in self._late and strand.shaped(where)):
            column, bit = strand.places.get(where) or (strand.width - 1, self._late[text])
            signature = self._block.rows[f"signature_{column}"].to_numpy()
            passes: npt.NDArray[np.bool_] = (signature >> bit) & 1 == 1
            return passes
        return np.full(self._block.count, where == strand.common)


def _no_values(kind: str, type_: str | None, argument: pa.DataType | None, rows: int, ansi: bool) -> list[pa.Array]:
    """The partials of so many groups without a value."""
    if argument is None:
        return [pa.array(np.zeros(rows, np.int64))]
    columns = lifted(kind, type_, pa.nulls(rows, argument), rows)
    return merged(kind, type_, columns, np.arange(rows), rows, ansi)
