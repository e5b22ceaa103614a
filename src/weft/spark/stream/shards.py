"""Shards: the groups of keys that state is kept by, as many as the stream has shuffle partitions.

State is kept by shard and never by key: a call to the state store costs tens of microseconds, and a shard needs a
handful of them however many keys it has. A shard's label is chosen so that Spark's hash sends each one to a partition
of its own; with labels 0 and 1, two partitions may well get both shards and none.

    key --hash--> shard --label--> Spark's hash --> partition
"""

from __future__ import annotations

import numpy as np

_SEED = 42


def labels(partitions: int) -> list[int]:
    """One label for each partition: the smallest number that Spark's hash partitioning sends there."""
    found: dict[int, int] = {}
    begin = 0
    while len(found) < partitions:
        numbers = np.arange(begin, begin + 4 * partitions, dtype=np.int32)
        for number, partition in zip(numbers.tolist(), (spark_hash(numbers) % partitions).tolist(), strict=True):
            found.setdefault(partition, number)
        begin += 4 * partitions
    return [found[partition] for partition in range(partitions)]


def spark_hash(numbers: np.ndarray) -> np.ndarray:
    """Spark's `hash` of an int column: MurmurHash3 (x86, 32 bits) of four bytes."""
    with np.errstate(over="ignore"):
        k = numbers.astype(np.int32).view(np.uint32) * np.uint32(0xCC9E2D51)
        k = ((k << np.uint32(15)) | (k >> np.uint32(17))) * np.uint32(0x1B873593)
        h = np.uint32(_SEED) ^ k
        h = ((h << np.uint32(13)) | (h >> np.uint32(19))) * np.uint32(5) + np.uint32(0xE6546B64)
        h ^= np.uint32(4)
        h = (h ^ (h >> np.uint32(16))) * np.uint32(0x85EBCA6B)
        h = (h ^ (h >> np.uint32(13))) * np.uint32(0xC2B2AE35)
        return (h ^ (h >> np.uint32(16))).view(np.int32)
