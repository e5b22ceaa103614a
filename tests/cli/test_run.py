"""weft run and weft view, end to end over a small folder, and all that can be wrong with a request."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest

import weft as library
from tests.cli.conftest import Weft
from weft.cli.events import measured

pytestmark = pytest.mark.spark


def test_long_answers_are_checked_read_back_and_replaced(
    weft: Weft, spark: Any, queries: Path, events: Path, tmp_path: Path
) -> None:
    to = tmp_path / "answers"
    told = weft("run", queries, "--from", events, "--to", to, "--check", 1)
    assert (told.exit_code, told.exception) == (0, None)
    assert "1 of 1 sampled queries equal Spark's own window()." in told.stdout
    assert told.stdout.startswith("plan  ")
    assert "weft.view(results, plan, 'high').show()" in told.stdout
    plan = library.Plan.from_json((to / "_weft_plan.json").read_text())
    assert plan.workload == library.Workload.from_file(queries)
    assert plan.stats.keys == {"symbol": 4}, "there is a query that groups by nothing too"
    assert plan.stats.types["volume"] == "bigint"
    assert 0.8 < plan.stats.rate < 0.9
    assert library.view(spark.read.parquet(str(to)), plan, "high").columns == ["symbol", "high", "end"]

    shown = weft("view", to, "--query", "high", "--limit", 2)
    assert shown.exit_code == 0
    assert [line.split()[0] for line in shown.stdout.splitlines()] == ["symbol", "S0000", "S0000"]
    assert weft("view", to, "--query", "hi").exit_code == 2

    again = weft("run", queries, "--from", events, "--to", to)
    assert again.exit_code == 2
    assert "exists" in again.stderr
    replaced = weft("run", queries, "--from", events, "--to", to, "--mode", "overwrite", "--rate", 1, "--keys", 9)
    assert replaced.exit_code == 0
    assert "1 row/s, 9 keys" in replaced.stdout
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
    assert spark.range(1).count() == 1, "the session was not ours to stop"


def test_views_have_the_columns_that_each_query_would_have_given(
    weft: Weft, spark: Any, queries: Path, events: Path, tmp_path: Path
) -> None:
    to = tmp_path / "views"
    told = weft("run", queries, "--from", events, "--to", to, "--output", "views", "--check", 3)
    assert told.exit_code == 0
    assert "3 of 3" in told.stdout
    assert sorted(path.name for path in to.iterdir()) == [
        "_weft_plan.json",
        "_weft_views.json",
        "high",
        "none",
        "vwap-all-day",
    ]
    df = spark.read.parquet(str(events))
    for query in library.Workload.from_file(queries):
        folder = {"vwap/all day": "vwap-all-day"}.get(query.id, query.id)
        written = spark.read.parquet(str(to / folder))
        alone = library.native(df, query)
        assert [(f.name, f.dataType) for f in written.schema] == [(f.name, f.dataType) for f in alone.schema]
    shown = weft("view", to, "--query", "vwap/all day", "--limit", 1)
    assert shown.stdout.split()[:3] == ["window", "symbol", "vwap"]


def test_a_plan_is_used_for_its_own_queries_only(
    weft: Weft, spark: Any, queries: Path, events: Path, tmp_path: Path
) -> None:
    plan, other = tmp_path / "plan.json", tmp_path / "other.sql"
    plan.write_text(weft("explain", queries, "--planner", "no_share", "--json").stdout)
    told = weft("run", queries, "--from", events, "--to", tmp_path / "a", "--plan", plan)
    assert told.exit_code == 0
    assert told.stdout.startswith("plan        no_share")
    other.write_text("SELECT count(*) FROM trades [RANGE 1 MIN ON ts]")
    told = weft("run", other, "--from", events, "--to", tmp_path / "b", "--plan", plan)
    assert told.exit_code == 2
    for named in (str(plan), str(other), library.Workload.from_file(other).fingerprint()):
        assert named in told.stderr
    told = weft("run", queries, "--from", events, "--to", tmp_path / "b", "--plan", plan, "--planner", "shared")
    assert told.exit_code == 2
    other.write_text("{}")
    assert weft("run", queries, "--from", events, "--to", tmp_path / "b", "--plan", other).exit_code == 2


def test_csv_is_recognised_and_columns_are_cast(weft: Weft, spark: Any, tmp_path: Path) -> None:
    folder = tmp_path / "csv"
    folder.mkdir()
    at = [f"2025-01-02 08:00:{second:02d}" for second in range(60)]
    csv.write_csv(pa.table({"moment": at, "price": [str(n) for n in range(60)]}), folder / "trades.csv")
    query = tmp_path / "q.yaml"
    query.write_text("queries: [{id: top, measures: {top: max(price)}, window: {range: 30 s, slide: 10 s}}]")
    arguments = ("run", query, "--from", folder, "--types", "price=decimal(10,2)", "--to")
    told = weft(*arguments, tmp_path / "out", "--time", "moment", "--check", 1)
    assert told.exit_code == 0
    assert "1 of 1" in told.stdout
    shown = weft("view", tmp_path / "out", "--query", "top", "--limit", 99).stdout
    assert shown.split()[-1] == "59.00"
    told = weft(*arguments, tmp_path / "other")
    assert told.exit_code == 2
    assert "--time" in told.stderr
    assert weft(*arguments, tmp_path / "other", "--time", "price").exit_code == 2
    assert weft(*arguments, tmp_path / "other", "--time", "when").exit_code == 2


def test_a_key_may_raise_for_rows_that_its_query_does_not_want(
    weft: Weft, spark: Any, events: Path, tmp_path: Path
) -> None:
    """Measuring how many keys there are reads every row."""
    query = tmp_path / "q.sql"
    query.write_text(
        "SELECT count(*) FROM trades WHERE volume <> 7 GROUP BY 100 / (volume - 7) > 1, window(ts, '5 minutes')"
    )
    told = weft("run", query, "--from", events, "--to", tmp_path / "out", "--check", 1)
    assert told.exit_code == 0, told.stderr
    assert "1 of 1" in told.stdout


def test_the_keys_of_several_group_bys_are_measured_by_name(spark: Any, events: Path) -> None:
    """However they are spelled; one number says nothing of what several have in common, no keys at all among them."""
    df = spark.read.parquet(str(events))

    def keys(*group_bys: str) -> Any:
        window = library.Window("10 min", "1 min")
        queries = [
            library.Query(
                f"q{number}", "count(*)", window, group_by=[key for key in text.split(", ") if key], time="ts"
            )
            for number, text in enumerate(group_bys)
        ]
        _, found = measured(df, library.Workload(queries), None)
        assert library.Stats(1, found).known_keys == found
        return found

    assert keys("symbol") == keys("symbol", "SYMBOL") == 4
    assert keys("symbol", "") == {"symbol": 4}
    assert keys("") == 1
    several = keys("symbol", "Symbol", "venue")
    assert list(several) == ["Symbol", "venue", "Symbol, venue"]
    assert several["Symbol"] == 4
    assert several["venue"] <= several["Symbol, venue"]


def test_no_rows_give_no_answers(weft: Weft, spark: Any, queries: Path, events: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    pq.write_table(pq.read_table(events / "part-0.parquet").slice(0, 0), empty / "part.parquet")
    told = weft("run", queries, "--from", empty, "--to", tmp_path / "out", "--output", "views", "--check", 1)
    assert told.exit_code == 0
    assert "1 of 1" in told.stdout


SQL = "SELECT {} FROM trades [RANGE 10 MIN SLIDE 3 MIN ON ts]"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (SQL.format("max(prise)"), "Did you mean 'price'"),
        (SQL.format("sum(symbol)"), "sum needs a number"),
        (SQL.format("max(price)").replace("ON ts", "ON symbol"), "no timestamp"),
        (SQL.format("max(price)") + " WHERE volume", "not a condition"),
    ],
)
def test_what_the_data_does_not_allow_is_told_before_a_job_runs(
    weft: Weft, spark: Any, events: Path, tmp_path: Path, text: str, message: str
) -> None:
    path = tmp_path / "q.sql"
    path.write_text(f"-- name: mine\n{text}")
    told = weft("run", path, "--from", events, "--to", tmp_path / "out")
    assert told.exit_code == 2
    assert "query 'mine'" in told.stderr
    assert message in told.stderr
    assert not (tmp_path / "out").exists()


def test_bad_folders_and_options(weft: Weft, spark: Any, queries: Path, events: Path, tmp_path: Path) -> None:
    def told(source: object, to: object, *more: object) -> str:
        result = weft("run", queries, "--from", source, "--to", to, *more)
        assert result.exit_code == 2
        assert len([line for line in result.stderr.splitlines() if line.startswith("weft:")]) == 1
        return result.stderr

    out, bare, mixed = tmp_path / "out", tmp_path / "bare", tmp_path / "mixed"
    for folder in (bare, mixed):
        folder.mkdir()
    (bare / "notes.txt").write_text("hello")
    for name in ("a.csv", "a.json"):
        (mixed / name).write_text("{}")
    assert "there is nothing at" in told(tmp_path / "gone", out)
    assert "there is nothing at" in told(tmp_path / "gone", out, "--format", "parquet")
    assert "no file whose name tells its format" in told(bare, out)
    assert "2 formats" in told(mixed, out)
    assert "'avro' is no format" in told(events, out, "--format", "avro")
    assert "Add --format" in told("s3a://bucket/trades", out)
    assert "not on this machine" in told(events, "s3a://bucket/answers")
    assert "has not written" in told(events, bare, "--mode", "overwrite")
    assert (bare / "notes.txt").exists()
    assert "hold each other" in told(events, events / "answers")
    assert "hold each other" in told(events, events.parent, "--mode", "overwrite")
    assert "there is no 'wide'" in told(events, out, "--output", "wide")
    assert "there is no 'append'" in told(events, out, "--mode", "append")
    assert "there is no column 'prise'" in told(events, out, "--types", "prise=double")
    assert "--types price=doubel" in told(events, out, "--types", "price=doubel")
    assert "no key=value" in told(events, out, "--conf", "spark.x")
    assert not out.exists()


def test_a_failing_run_is_told_in_a_line_and_leaves_nothing(weft: Weft, spark: Any, tmp_path: Path) -> None:
    folder = tmp_path / "big"
    folder.mkdir()
    ts = pa.array([datetime(2025, 1, 2, 8, 0, second, tzinfo=UTC) for second in range(4)], pa.timestamp("us", "UTC"))
    pq.write_table(pa.table({"ts": ts, "volume": [2**62] * 4}), folder / "part.parquet")
    query = tmp_path / "q.sql"
    query.write_text("-- name: total\nSELECT sum(volume) FROM trades [RANGE 10 S SLIDE 5 S ON ts]")
    told = weft("run", query, "--from", folder, "--to", tmp_path / "out")
    assert told.exit_code == 1
    assert "weft: query 'total': sum does not fit bigint" in told.stderr
    for noise in ("Traceback", "at org.apache", "SQLSTATE"):
        assert noise not in told.output
    failure = next(line for line in told.stderr.splitlines() if line.startswith("weft:"))
    assert len(failure) < 400
    trace = Path(told.stderr.split("trace is in ")[1].split(" (")[0])
    assert "Traceback" in trace.read_text()
    trace.unlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["big", "q.sql"]


def test_a_file_that_is_no_parquet_fails_the_run(weft: Weft, spark: Any, queries: Path, tmp_path: Path) -> None:
    folder = tmp_path / "broken"
    folder.mkdir()
    (folder / "part.parquet").write_bytes(b"PAR1 not really")
    told = weft("run", queries, "--from", folder, "--to", tmp_path / "out")
    assert told.exit_code == 1
    assert "Traceback" not in told.output
    Path(told.stderr.split("trace is in ")[1].split(" (")[0]).unlink()


def test_a_wrong_answer_is_shown(weft: Weft, spark: Any, queries: Path, events: Path, tmp_path: Path) -> None:
    fewer = tmp_path / "fewer"
    shutil.copytree(events, fewer)
    df = spark.read.parquet(str(events))
    query = library.Workload.from_file(queries)["high"]
    from weft.cli import check

    alone = library.native(df, query)
    table = alone.toArrow()
    assert check.difference(alone.schema, table, alone) is None
    said = check.difference(alone.schema, table, library.native(df.where("price < 200"), query))
    assert said is not None
    assert "Spark's window() gives" in said
