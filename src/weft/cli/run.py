"""weft run: a folder of events and a file of queries in, a folder of answers out."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

import weft
from weft.cli import console, planning
from weft.cli.progress import step
from weft.cli.session import Session, session
from weft.cli.tasklog import TaskLog
from weft.errors import BadRequest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_OUTPUTS, _MODES = ("long", "views"), ("error", "overwrite")


@dataclass(frozen=True)
class Request:
    """The options of the verb."""

    queries: Path
    source: str
    to: str
    time: str | None
    format: str | None
    types: Mapping[str, str]
    plan: Path | None
    choices: Mapping[str, Any]
    """planner, technique, slicing, price and a planner's own options, where they are given."""
    rate: float | None
    keys: int | dict[str, int] | None
    output: str
    check: int
    mode: str
    master: str | None
    conf: Mapping[str, str]


def run(asked: Request) -> None:
    """Plan, run, write, and check as many queries as asked for."""
    for option, value, known in (("--output", asked.output, _OUTPUTS), ("--mode", asked.mode, _MODES)):
        if value not in known:
            raise BadRequest(f"there is no '{value}'", field=option, remedy=f"Use {' or '.join(known)}")
    if asked.plan is not None and (asked.choices or asked.rate is not None or asked.keys is not None):
        raise BadRequest(
            "a saved plan has its planner, technique, slicing, price, rate and keys already",
            field="--plan",
            remedy="Leave those options out, or --plan",
        )
    workload = weft.Workload.from_file(asked.queries)
    plan = planning.saved(asked.plan, workload, asked.queries) if asked.plan else None
    from weft.cli import answers, events

    to = answers.place(asked.to, asked.source, asked.mode)
    if asked.format is None:
        events.guessed(asked.source)  # before Spark takes its time to start
    with session(asked.master, asked.conf) as running:
        df = events.read(running.spark, asked.source, asked.format, asked.types)
        plan = plan or _planned(asked, workload, df, running)
        results = weft.apply(df, plan, time=asked.time)
        console.say(planning.brief(plan))
        with answers.beside(to) as folder:
            write = answers.write_long if asked.output == "long" else answers.write_views
            write(results, plan, folder, running.tasks)
        console.say(f"Wrote {'all answers' if asked.output == 'long' else 'a folder per query'} to {asked.to}.")
        if asked.check > 0:
            _check(asked, df, plan, running, to)
        console.say(_how_to_read(asked, plan, to))


def _planned(asked: Request, workload: weft.Workload, df: DataFrame, running: Session) -> weft.Plan:
    from weft.cli import events

    rate, keys = rate_and_keys(asked, workload, df, running.tasks)
    stats = weft.Stats(rate=1 if rate is None else rate, keys=1 if keys is None else keys, types=events.types(df))
    with step("planning"):
        return weft.optimize(workload, stats, **asked.choices)


def rate_and_keys(
    asked: Request, workload: weft.Workload, df: DataFrame, tasks: TaskLog | None = None
) -> tuple[float | Fraction | None, int | dict[str, int] | None]:
    """The rate and the keys that are given; those of the events where they are not."""
    from weft.cli import events

    if asked.rate is not None and asked.keys is not None:
        return asked.rate, asked.keys
    with step("measuring rate and keys", tasks=tasks):
        rate, keys = events.measured(df, workload, asked.time)
    return rate if asked.rate is None else asked.rate, keys if asked.keys is None else asked.keys


def _check(asked: Request, df: DataFrame, plan: weft.Plan, running: Session, to: Path) -> None:
    from weft.cli import answers, check

    ids = check.sample(plan.workload.ids, asked.check)
    wrong: dict[str, str] = {}
    with step("checking against window()", total=len(ids)) as one_more:
        for id_ in ids:
            expected = weft.native(df, plan.workload[id_], time=_time(asked, plan, id_))
            told = check.difference(expected.schema, expected.toArrow(), answers.read(running.spark, to, plan, id_))
            if told is not None:
                wrong[id_] = told
            one_more()
    console.say(f"{len(ids) - len(wrong)} of {len(ids)} sampled queries equal Spark's own window().")
    if wrong:
        id_, told = next(iter(wrong.items()))
        console.err().print(f"weft: query '{id_}': {told}", markup=False, highlight=False)
        raise typer.Exit(1)


def _time(asked: Request, plan: weft.Plan, id_: str) -> str | None:
    """The time column that apply used."""
    named = plan.workload[id_].time or plan.workload.time
    return asked.time or (".".join(named.path) if named else None)


def _how_to_read(asked: Request, plan: weft.Plan, to: Path) -> str:
    from weft.cli import answers

    id_ = plan.workload.id(0)
    lines = ["", f"The rows of one query, here '{id_}', in Python:"]
    if asked.output == "views":
        lines += [f"    spark.read.parquet({str(to / answers.folders(plan.workload.ids)[id_])!r}).show()"]
    else:
        lines += [
            f"    plan = weft.Plan.from_json(open({str(to / answers.PLAN)!r}).read())",
            f"    results = spark.read.parquet({str(to)!r})",
            f"    weft.view(results, plan, {id_!r}).show()",
        ]
    return "\n".join([*lines, f"or here: weft view {shlex.quote(asked.to)} --query {shlex.quote(id_)}"])
