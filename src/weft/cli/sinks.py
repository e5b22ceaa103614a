"""Sinks: where a stream's answers go: a folder, Kafka, or the console.

    a folder   each micro-batch's answers once, whatever happened: Spark's file sink keeps a log in the folder of what
               it has committed; read it with Spark, which asks that log
    kafka      a JSON object for each answer; after a failure the last micro-batch's may come twice, and are the same
    console    each micro-batch's first rows, on stdout

Into memory or through a function of one's own (`foreachBatch`): `weft.apply` in Python.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import weft
from weft.cli import answers, sources
from weft.cli.events import FORMATS, is_local, local
from weft.cli.stream import CONSOLE, KAFKA, RATE, USUAL
from weft.errors import BadRequest
from weft.queries.expressions import quoted
from weft.spark.clock import WHOLE


def check(to: str, source: str, format: str | None, options: Mapping[str, str], begun: bool) -> None:
    """Refuse what cannot work. A stream that has `begun` may find its own answers in the folder."""
    if to == KAFKA:
        sources.need(KAFKA, "--to-option", options, ("kafka.bootstrap.servers",), "localhost:9092")
        sources.need(KAFKA, "--to-option", options, ("topic",), "answers")
    if to in (KAFKA, CONSOLE):
        if format is not None:
            raise BadRequest(f"{to} has no files", field="--to-format", remedy="Leave it out")
        return
    if format is not None and format not in FORMATS:
        raise BadRequest(f"'{format}' is no format", field="--to-format", remedy=f"Use one of {', '.join(FORMATS)}")
    if not is_local(to):
        return
    folder = local(to).absolute()
    if is_local(source):
        answers.apart(to, source)
    if folder.is_dir() and any(folder.iterdir()) and not begun:
        raise BadRequest(
            f"'{to}' holds something, and the stream begins anew, so that Spark would take its first answers for ones "
            "that are there",
            field="--to",
            remedy="Give an empty folder, or the --checkpoint that wrote it",
        )


def check_aside(late: str, others: Iterable[str], begun: bool) -> None:
    """Refuse a side folder that is another one, or that another stream may have written to."""
    if not is_local(late):
        return
    for other in others:
        if is_local(other) and other not in (KAFKA, RATE, CONSOLE):
            answers.apart(late, other, "--late")
    folder = local(late)
    if folder.exists() and (not folder.is_dir() or (any(folder.iterdir()) and not begun)):
        raise BadRequest(f"'{late}' holds something already", field="--late", remedy="Give an empty folder")


def writer(results: DataFrame, to: str, format: str | None, options: Mapping[str, str]) -> Any:
    """Spark's writer of the answers."""
    if to == KAFKA:
        results = _records(results)
    if to in (KAFKA, CONSOLE):
        return results.writeStream.options(**options).format(to)
    usual = WHOLE if format == "json" else {}
    return results.writeStream.options(**{**usual, **options}).format(format or USUAL).option("path", to)


def remember(plan: weft.Plan, to: str, format: str | None, output: str) -> None:
    """Leave the plan beside the answers, for `weft view`."""
    if to in (KAFKA, CONSOLE) or format not in (None, USUAL) or output != "long" or not is_local(to):
        return
    folder = Path(local(to))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / answers.PLAN).write_text(plan.to_json(), encoding="utf-8")


def _records(results: DataFrame) -> DataFrame:
    """A record for each answer: all that is not null as JSON, under its query's name, or its group in the wide form."""
    every = [quoted(name) for name in results.columns]
    if "query" in results.columns:
        key = F.col("query")
    else:
        groups = every[: results.columns.index("window_end")]
        key = F.to_json(F.struct(*groups), WHOLE) if groups else F.lit(None).cast("string")
    return results.select(key.alias("key"), F.to_json(F.struct(*every), WHOLE).alias("value"))
