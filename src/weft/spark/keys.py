"""Keys: which rows are of one key, whatever types the keys are of, and which shard a key belongs to.

Each key column is numbered by Arrow, value by value, and the numbers are combined; a null is a value like any other,
all NaNs are one, and -0.0 is 0.0, as when Spark groups. A key's shard comes from a hash of its values that depends on
nothing else: not on the batch, the process or the other keys, since it decides where the key's state is kept for good.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from weft.jit import kernel

Numbers = npt.NDArray[np.int64]
_MANY = 2**62


def alike(column: pa.Array) -> pa.Array:
    """The column with one spelling for what Spark takes for one key, and one Arrow type for each Spark type."""
    type_ = column.type
    if pa.types.is_floating(type_):
        column = pc.add(column, pa.scalar(0.0, type_))
        return pc.if_else(pc.is_nan(column), pa.scalar(float("nan"), type_), column)
    return plain(column)


def plain(column: pa.Array) -> pa.Array:
    """The column as one Arrow type for each Spark type, whatever the session's settings."""
    type_ = column.type
    if pa.types.is_timestamp(type_) and type_.tz not in (None, "UTC"):
        return column.cast(pa.timestamp("us", "UTC"))
    if pa.types.is_large_string(type_):
        return column.cast(pa.string())
    return column.cast(pa.binary()) if pa.types.is_large_binary(type_) else column


def numbers(array: pa.Array) -> npt.NDArray[Any]:
    """A primitive column as numpy, with zeros for nulls."""
    values: npt.NDArray[Any] = (pc.fill_null(array, 0) if array.null_count else array).to_numpy(zero_copy_only=False)
    return values


def absent_of(array: pa.Array) -> npt.NDArray[np.bool_] | None:
    """Where a column is null; None where it nowhere is."""
    return array.is_null().to_numpy(zero_copy_only=False) if array.null_count else None


def dense(columns: Sequence[pa.Array | Numbers], rows: int) -> tuple[Numbers, Numbers]:
    """Number equal rows alike, from 0 in order of first appearance; and where each number appears first.

    >>> dense([pa.array(["b", "a", "b", None]), np.array([1, 1, 1, 1])], 4)
    (array([0, 1, 0, 2]), array([0, 1, 3]))
    """
    ids, count = np.zeros(rows, np.int64), min(rows, 1)
    for column in columns:
        codes, different = _numbered(column)
        if different == 1:
            continue
        if count == 1:
            ids, count = codes, different
            continue
        if count * different > _MANY:
            ids, count = _numbered(ids)
        ids, count = ids * different + codes, count * different
        if count > 4 * rows:
            ids, count = _numbered(ids)
    if count > rows // 2:
        ids, count = _numbered(ids)
    return _first_seen(ids, count)


def _numbered(column: pa.Array | Numbers) -> tuple[Numbers, int]:
    array = pa.array(column) if isinstance(column, np.ndarray) else column
    encoded = array.dictionary_encode(null_encoding="encode")
    return encoded.indices.to_numpy().astype(np.int64), len(encoded.dictionary)


@kernel
def _appearance(ids, number, first):
    """Number the ids in order of appearance; how many there are."""
    found = 0
    for i in range(len(ids)):
        n = number[ids[i]]
        if n < 0:
            n = found
            number[ids[i]], first[found] = n, i
            found += 1
        ids[i] = n
    return found


def _first_seen(ids: Numbers, count: int) -> tuple[Numbers, Numbers]:
    ids, first = ids.copy(), np.empty(count, np.int64)
    return ids, first[: _appearance(ids, np.full(count, -1, np.int64), first)]


def hashes(columns: Sequence[pa.Array], rows: int) -> npt.NDArray[np.uint64]:
    """A hash of each row of key columns that have been made `alike`."""
    mixed = np.full(rows, 0x9E37_79B9_7F4A_7C15, np.uint64)
    for column in columns:
        present = column.is_valid().to_numpy(zero_copy_only=False)
        if pa.types.is_string(column.type) or pa.types.is_binary(column.type):
            _, ends, data = column.buffers()
            offsets = np.frombuffer(ends, np.int32)[column.offset : column.offset + rows + 1]
            _mix_bytes(mixed, present, offsets, np.frombuffer(data or b"", np.uint8))
        else:
            for words in _words(column):
                _mix_words(mixed, present, words)
    return mixed


def _words(column: pa.Array) -> list[npt.NDArray[np.uint64]]:
    """A column of fixed width as 64-bit words, equal where the values are."""
    type_ = column.type
    if pa.types.is_decimal(type_):
        both = np.frombuffer(column.buffers()[1], np.uint64).reshape(-1, 2)[column.offset : column.offset + len(column)]
        return [np.ascontiguousarray(both[:, 0]), np.ascontiguousarray(both[:, 1])]
    if pa.types.is_floating(type_):
        return [numbers(column).astype(np.float64).view(np.uint64)]
    if pa.types.is_boolean(type_):
        column = column.cast(pa.int8())
    elif not pa.types.is_integer(type_):
        column = column.view(pa.int32() if type_.bit_width == 32 else pa.int64())
    return [numbers(column).astype(np.int64).view(np.uint64)]


@kernel
def _mixed(hash_, word):
    """The finisher of MurmurHash3 over both."""
    h = hash_ ^ word
    h = (h ^ (h >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    h = (h ^ (h >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
    return h ^ (h >> np.uint64(33))


@kernel
def _mix_words(mixed, present, words):
    for i in range(len(mixed)):
        mixed[i] = _mixed(mixed[i], words[i] if present[i] else np.uint64(0x5851F42D4C957F2D))


@kernel
def _mix_bytes(mixed, present, offsets, data):
    """A byte at a time: there are few keys, and each is hashed once a batch."""
    for i in range(len(mixed)):
        h = _mixed(mixed[i], np.uint64(offsets[i + 1] - offsets[i]) if present[i] else np.uint64(0x5851F42D4C957F2D))
        if present[i]:
            for at in range(offsets[i], offsets[i + 1]):
                h = (h ^ np.uint64(data[at])) * np.uint64(0x100000001B3)
        mixed[i] = _mixed(h, np.uint64(0))
