"""Answers: from results to a folder, and back.

    long     TO/part-*.parquet              all answers, for `weft.view`
    views    TO/<query id>/part-*.parquet   the rows and columns that each query would have given
    both     TO/_weft_plan.json             Spark does not see names that begin with an underscore
    views    TO/_weft_views.json            which folder is whose, as a name need not be fit for one

The folder appears when it is complete: it is written beside its place and moved there. Nothing is replaced that Weft
has not written.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import weft
from weft.cli.events import is_local, local
from weft.cli.progress import step
from weft.cli.tasklog import TaskLog
from weft.errors import BadRequest

PLAN, VIEWS = "_weft_plan.json", "_weft_views.json"
_NUMBER = "__weft_number"
_LONGEST_NAME = 100


def place(path: str, source: str, mode: str) -> Path:
    """Where answers go, if they may: not into the events, nor around them."""
    if not is_local(path):
        raise BadRequest(
            f"'{path}' is not on this machine", field="--to", remedy="Give a folder, or use weft.apply in Python"
        )
    to = local(path).absolute()
    if is_local(source):
        apart(path, source)
    if to.is_dir() and not any(to.iterdir()):
        return to
    if to.exists() and mode == "error":
        raise BadRequest(f"'{path}' exists", field="--to", remedy="Add --mode overwrite, or give another folder")
    if to.exists() and not (to / PLAN).is_file():
        raise BadRequest(
            f"'{path}' holds something that weft run has not written", field="--to", remedy="Give another folder"
        )
    return to


def apart(path: str, source: str, field: str = "--to") -> None:
    """Refuse folders of which one holds the other: events would be taken for answers, or the other way round."""
    to, events = local(path).absolute(), local(source).absolute()
    if to == events or to in events.parents or events in to.parents:
        raise BadRequest(f"'{path}' and '{source}' hold each other", field=field, remedy="Give another folder")


@contextmanager
def beside(to: Path) -> Iterator[Path]:
    """A folder to write to, which takes its place when all went well and is gone otherwise."""
    to.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=f".{to.name}.", dir=to.parent))
    try:
        made = scratch / "made"
        yield made
        before = scratch / "before"
        if to.exists():
            to.rename(before)
        try:
            made.rename(to)
        except OSError:
            if before.exists():
                before.rename(to)
            raise
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def write_long(results: DataFrame, plan: weft.Plan, folder: Path, tasks: TaskLog | None) -> None:
    """All answers, in the long form."""
    with step("running the plan", tasks=tasks, folder=folder):
        results.write.parquet(str(folder))
    (folder / PLAN).write_text(plan.to_json(), encoding="utf-8")


def write_views(results: DataFrame, plan: weft.Plan, folder: Path, tasks: TaskLog | None) -> None:
    """A folder per query. The plan runs once, into pieces by query, and each piece becomes a view."""
    spark, workload = results.sparkSession, plan.workload
    pieces = folder.parent / "pieces"
    numbers = spark.createDataFrame(
        list(zip(workload.ids, range(len(workload)), strict=True)), f"query string, {_NUMBER} int"
    )
    with step("running the plan", tasks=tasks, folder=pieces):
        results.join(F.broadcast(numbers), "query").write.partitionBy(_NUMBER).parquet(str(pieces))
    names = folders(workload.ids)

    def write(number: int) -> None:
        piece, id_ = pieces / f"{_NUMBER}={number}", workload.id(number)
        rows = (
            spark.read.schema(results.schema).parquet(str(piece))
            if piece.exists()
            else spark.createDataFrame([], results.schema)
        )
        weft.view(rows, plan, id_).write.parquet(str(folder / names[id_]))

    pool = ThreadPoolExecutor(os.cpu_count())
    try:
        with step("writing a folder per query", total=len(workload)) as one_more:
            for written in as_completed([pool.submit(write, number) for number in range(len(workload))]):
                written.result()
                one_more()
    finally:
        pool.shutdown(cancel_futures=True)
    (folder / VIEWS).write_text(json.dumps(names, indent=1), encoding="utf-8")
    (folder / PLAN).write_text(plan.to_json(), encoding="utf-8")


def folders(ids: tuple[str, ...]) -> dict[str, str]:
    """A folder's name for every query: its own where that is fit for one, and else one like it.

    >>> folders(("high", "High", "a/b c", "_x"))
    {'high': 'high', 'High': 'High-2', 'a/b c': 'a-b-c', '_x': 'x'}
    """
    names: dict[str, str] = {}
    taken: set[str] = set()
    for id_ in ids:
        plain = re.sub(r"[^\w.-]+", "-", id_, flags=re.ASCII).strip("-._")[:_LONGEST_NAME] or "query"
        name, number = plain, 1
        while name.lower() in taken:
            number += 1
            name = f"{plain}-{number}"
        taken.add(name.lower())
        names[id_] = name
    return names


def read(spark: SparkSession, folder: Path, plan: weft.Plan, id_: str) -> DataFrame:
    """The rows of one query, from what either form of output has left."""
    plan.workload.position(id_)
    index = folder / VIEWS
    if index.is_file():
        name = json.loads(index.read_text(encoding="utf-8"))[id_]
        return spark.read.parquet(str(folder / name))
    return weft.view(spark.read.parquet(str(folder)), plan, id_)
