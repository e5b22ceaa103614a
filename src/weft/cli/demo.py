"""weft demo: a stream, a few hundred queries, one plan, its answers, their check, and the time it all took.

What is measured is said to be measured, and what is extrapolated to be extrapolated. The one-by-one time is that of
the sampled queries through Spark's own `window()`, by the same session, after the shared plan has warmed it up.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import typer

import weft
from weft.cli import console, planning
from weft.cli.progress import step
from weft.cli.session import session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_SHOWN, _ROWS = 6, 4


def demo(rows: int, queries: int, keys: int, check: int, seed: int) -> None:
    """Everything, once."""
    from weft.cli import trades

    with tempfile.TemporaryDirectory(prefix="weft-demo-") as folder, session() as running:
        events, answers = Path(folder, "events"), Path(folder, "answers")
        workload = trades.workload(queries, seed)
        with step(f"generating {rows:,} trades"):
            trades.write(events, rows, keys, seed)
        df = running.spark.read.parquet(str(events))
        _show_workload(workload, rows, keys)
        with step("planning"):
            types = {field.name: field.dataType.simpleString() for field in df.schema.fields}
            plan = weft.optimize(workload, weft.Stats(rate=max(rows / trades.SECONDS, 0.001), keys=keys, types=types))
        console.say("\nThe plan", "bold")
        console.say(planning.brief(plan))
        console.say()
        results = weft.apply(df, plan)
        with step("running the plan, to Parquet", tasks=running.tasks, folder=answers):
            started = time.monotonic()
            results.write.parquet(str(answers))
            first = time.monotonic() - started
        with step("running the plan again, measured", tasks=running.tasks):
            started = time.monotonic()
            results.write.format("noop").mode("overwrite").save()
            shared = time.monotonic() - started
        saved = running.spark.read.parquet(str(answers))
        alone, wrong = _checked(df, saved, plan, check, seed)
        _show_answers(saved, plan)
        _show_sums(plan, saved.count(), (first, shared), alone, wrong)
    if wrong:
        raise typer.Exit(1)


def _show_workload(workload: weft.Workload, rows: int, keys: int) -> None:
    from weft.cli.view import shown

    console.say(f"\n{len(workload)} queries over {rows:,} trades of {keys} symbols in an hour, as these", "bold")
    some = range(0, len(workload), max(len(workload) // _SHOWN, 1))[:_SHOWN]
    for position in some:
        console.say(f"  {shown(workload[position])}")
    console.say()


def _checked(
    df: DataFrame, saved: DataFrame, plan: weft.Plan, count: int, seed: int
) -> tuple[list[float], dict[str, str]]:
    """How long each sampled query takes alone, and which of them differ from the plan's answers, and how."""
    from weft.cli import check as checking

    ids = checking.sample(plan.workload.ids, count, seed)
    seconds: list[float] = []
    wrong: dict[str, str] = {}
    with step("sampled queries one by one", total=len(ids)) as one_more:
        for id_ in ids:
            started = time.monotonic()
            alone = weft.native(df, plan.workload[id_])
            expected = alone.toArrow()
            seconds.append(time.monotonic() - started)
            told = checking.difference(alone.schema, expected, weft.view(saved, plan, id_))
            if told is not None:
                wrong[id_] = told
            one_more()
    return seconds, wrong


def _show_answers(saved: DataFrame, plan: weft.Plan) -> None:
    from weft.cli.view import shown, table

    for position in (0, len(plan.workload) // 2)[: len(plan.workload)]:
        id_ = plan.workload.id(position)
        console.say(f"\nAnswers of {id_}", "bold")
        console.say(f"  {shown(plan.workload[id_])}")
        table(weft.view(saved, plan, id_), _ROWS)


def _show_sums(
    plan: weft.Plan, rows: int, shared: tuple[float, float], alone: list[float], wrong: dict[str, str]
) -> None:
    count, sampled = len(plan.workload), len(alone)
    first, again = shared

    def fact(what: str, seconds: float, how: str) -> None:
        console.say(f"  {what:<62}{seconds:>8.1f} s   {how}")

    console.say("\nWhat came out", "bold")
    fact(f"the shared plan, all {count} queries, {rows:,} answers to Parquet", first, "measured, first run")
    fact("the shared plan once more, answers to nowhere", again, "measured, warm")
    if sampled:
        together = sum(alone)
        pace = together / sampled * count
        fact(f"{sampled} sampled queries one by one by Spark's own window()", together, "measured, warm")
        fact(f"all {count} queries one by one, at that pace", pace, "extrapolated")
        console.say(
            f"\n  {sampled} sampled queries one by one took {together:.1f} s; all {count} at that pace would take "
            f"{pace:.0f} s; the shared plan took {again:.1f} s: {pace / again:.1f} times faster."
        )
        console.say(f"  {sampled - len(wrong)} of {sampled} sampled queries equal Spark's own window().", "bold")
    for id_, told in wrong.items():
        console.err().print(f"weft: query '{id_}': {told}", markup=False, highlight=False)
    console.say(
        "\nNext, with queries of your own:\n"
        "  weft explain queries.sql --rate 5000 --keys 1000\n"
        "  weft run queries.sql --from events/ --to answers/ --check 5"
    )
