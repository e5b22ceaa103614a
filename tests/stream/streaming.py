"""Streaming: a frame becomes files, a stream reads them one micro-batch each, stops in the middle, and goes on."""

from __future__ import annotations

import itertools
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import weft

ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


def session(spark: Any, partitions: int = 2) -> Any:
    """A session that can run streams, and interprets instead of compiling."""
    own = spark.newSession()
    for name, value in {
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.shuffle.partitions": str(partitions),
        "spark.sql.streaming.stateStore.providerClass": ROCKSDB,
    }.items():
        own.conf.set(name, value)
    return own


class Folder:
    """A folder of Parquet files, each one a micro-batch, in the order in which they were put there."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.path.mkdir(parents=True)
        self._numbers = itertools.count()

    def put(self, table: pa.Table) -> None:
        number = next(self._numbers)
        file = self.path / f"{number:05}.parquet"
        pq.write_table(table, file)
        os.utime(file, (1_000_000_000 + number, 1_000_000_000 + number))  # Spark takes the oldest first

    def stream(self, spark: Any, schema: Any) -> Any:
        return spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(self.path))


def run(results: Any, at: Path, **options: str) -> list[Any]:
    """Run a stream until its files are used up; its answers are added to `at`/out. The reports of its micro-batches."""
    query = (
        results.writeStream.format("parquet")
        .options(path=str(at / "out"), checkpointLocation=str(at / "checkpoint"), **options)
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    return list(query.recentProgress)


def answers(results: Any, at: Path) -> Any:
    """What has come out, as a DataFrame like `results`, which is a stream."""
    return results.sparkSession.read.schema(results.schema).parquet(str(at / "out"))


def streamed(
    spark: Any, at: Path, plan: weft.Plan, schema: Any, runs: Sequence[Sequence[pa.Table]], **options: Any
) -> Any:
    """The answers over files, some for each run of the stream; it is started anew for each."""
    folder = Folder(at / "in")
    for tables in runs:
        for table in tables:
            folder.put(table)
        results = weft.apply(folder.stream(spark, schema), plan, **options)
        run(results, at)
    return answers(results, at)
