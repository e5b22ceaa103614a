"""Arriving: the versions of a query set on their way to the shards.

    registry/versions --files--> the newest sound one of a micro-batch --to every shard--> the stateful operator

The versions are a second source of the stream, read with the events and united with their blocks. So all shards take a
version in in the same micro-batch, before its events; the checkpoint tracks which files a micro-batch had, and one that
is replayed sees what it saw the first time. Only the events have a watermark.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from weft.errors import RunFailed
from weft.registry.versions import Version, number_of
from weft.spark.stream.folding import FORM, message

VERSION, BROKEN = -1, -2
"""In the place of a root's number: a version of the query set, or word of one that cannot be read."""
_MOST = 64
"""How many versions are held, in case that the newest are damaged."""
_FILES = "path string, modificationTime timestamp, length bigint, content binary"
_log = logging.getLogger("weft")


def arriving(spark: SparkSession, folder: str, labels: tuple[int, ...]) -> DataFrame:
    """The versions as they come, as rows for the shards."""
    files = spark.readStream.format("binaryFile").schema(_FILES).option("pathGlobFilter", "*.json").load(folder)
    return files.select("path", "content").mapInArrow(_newest(labels), FORM)


def _newest(labels: tuple[int, ...]) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The function that finds the newest sound version among files, and tells of newer ones that are not."""

    def newest(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        files: dict[int, tuple[str, bytes]] = {}
        for batch in batches:
            for path, content in zip(batch["path"].to_pylist(), batch["content"].to_pylist(), strict=True):
                name = PurePosixPath(unquote(urlsplit(path).path)).name
                if (number := number_of(name)) is not None:
                    files[number] = name, content
            files = dict(sorted(files.items())[-_MOST:])  # a stream's first micro-batch has all that there ever were
        for number, (name, content) in sorted(files.items(), reverse=True):
            try:
                Version.from_bytes(content, number)
            except RunFailed as error:
                _log.warning("version %s of the query set: %s. The last sound one counts.", name, error.rule)
                yield _to_all(labels, BROKEN, f"{name}: {error.rule}".encode())
            else:
                yield _to_all(labels, VERSION, content)
                return

    return newest


def _to_all(labels: tuple[int, ...], what: int, data: bytes) -> pa.RecordBatch:
    return message(labels, what, [0] * len(labels), [data] * len(labels))
