"""Aside: what came too late, or from too far in the future, in a folder for whoever wants to make good for it.

    FOLDER/late/*.parquet    group keys   slice     events   queries         a row for each key and slice that
                             AAPL         8:00:10   3        [high, mean]    came too late for some query
    FOLDER/ahead/*.json      {"ts": "2100-01-01T00:00:00Z", "symbol": "AAPL", ...}     the events as they were

An event is found to be too far ahead before anything is made of it, so it is kept as it was. Whether one is late is
decided in its shard, by the watermark of the micro-batch before, and a shard sees partials and never an event: so what
is kept says of which key, from which slice on and for which queries windows lack how many events. Those windows can
then be computed again, from the source, which has the events.

A file is named after its shard and how often that has been called. A micro-batch that is replayed finds its shard as it
was, and writes the same files again: so nothing is there twice. The folder has to be one that the workers reach.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq

from weft.errors import RunFailed
from weft.spark.answers import Job
from weft.spark.results import arrow_type
from weft.spark.stream.blocks import Block
from weft.spark.stream.closing import Closing, Late

EVENT = "__weft_event"
"""The column of an event that is too far ahead, as JSON."""
ASIDE = -3
"""In the place of a root's number: events that are too far ahead, a line each."""


@dataclass(frozen=True)
class Aside:
    """The side folder, as a shard writes to it."""

    folder: str
    keys: tuple[pa.Field, ...]
    """The group keys of all queries, as the answers have them."""

    def late(self, name: str, what: Closing, block: Block, late: Late) -> None:
        """Keep whose windows lack what."""
        rows = block.rows.take(pa.array(late.rows))
        of_row = block.keys.take(rows["key"])
        mine = dict(zip(_keys(what.job), of_row.columns, strict=False))  # one that says nothing, where there is none
        columns = {
            key.name: mine[key.name].cast(key.type) if key.name in mine else pa.nulls(rows.num_rows, key.type)
            for key in self.keys
        }
        columns["slice"] = rows["slice"].view(arrow_type(what.job.shape.time))
        columns["events"] = pa.array(late.events)
        columns["queries"] = _lists(late, what.job.shape.ids)
        sink = pa.BufferOutputStream()
        pq.write_table(pa.table(columns), sink)
        self._write("late", f"{name}.parquet", sink.getvalue().to_pybytes())

    def ahead(self, name: str, lines: Sequence[bytes]) -> None:
        """Keep events as they were."""
        if lines:
            self._write("ahead", f"{name}.json", b"\n".join(lines) + b"\n")

    def _write(self, kind: str, name: str, data: bytes) -> None:
        """Write a file whole or not at all, over one of its name; another attempt of the task may be doing the same."""
        try:
            system, root = _place(self.folder)
            system.create_dir(f"{root}/{kind}", recursive=True)
            local = isinstance(system, pafs.LocalFileSystem)
            scratch = f"{root}/{kind}/.{name}.{uuid.uuid4().hex}" if local else f"{root}/{kind}/{name}"
            with system.open_output_stream(scratch) as file:
                file.write(data)
            if local:
                system.move(scratch, f"{root}/{kind}/{name}")
        except (OSError, pa.ArrowException) as error:
            raise RunFailed(
                f"'{self.folder}' cannot be written to ({error})",
                field="late",
                remedy="Give the workers room and rights there, and start again: nothing is lost",
            ) from None


def aside(folder: str, jobs: Sequence[Job], answered: pa.Schema) -> Aside:
    """The side folder of a stream with these jobs, whose answers have this schema."""
    names = dict.fromkeys(name for job in jobs for name in _keys(job))
    return Aside(folder, tuple(answered.field(name) for name in names))


def _keys(job: Job) -> tuple[str, ...]:
    """The answers' columns of a job's group keys."""
    names = job.shape.names
    ends = (*([] if job.shape.begins is None else ["complete"]), "window_start", "window_end")
    end = min(names.index(name) for name in ends if name in names)
    return names[end - job.keys : end]


def _place(folder: str) -> tuple[pafs.FileSystem, str]:
    if "://" in folder or folder.startswith("file:"):
        system, root = pafs.FileSystem.from_uri(folder)
        return system, root.rstrip("/")
    return pafs.LocalFileSystem(), folder.rstrip("/")


def _lists(late: Late, ids: Sequence[str]) -> pa.Array:
    """For each row, the names of the queries that it is too late for."""
    at = [np.flatnonzero(missed) for missed in late.by_query.values()]
    rows = np.concatenate(at)
    names = np.repeat(list(late.by_query), [len(each) for each in at])
    order = np.argsort(rows, kind="stable")
    ends = np.cumsum(np.bincount(rows, minlength=len(late.rows)))
    offsets = np.concatenate(([0], ends)).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(ids, pa.string()).take(pa.array(names[order])))
