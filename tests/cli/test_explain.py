"""weft explain, and the program around it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import weft as library
from tests.cli.conftest import Weft

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_plan_is_what_the_library_explains(weft: Weft, queries: Path) -> None:
    told = weft("explain", queries, "--rate", 100, "--keys", 4, "--types", "price=double,volume=bigint")
    workload = library.Workload.from_file(queries)
    plan = library.optimize(workload, library.Stats(100.0, 4, {"price": "double", "volume": "bigint"}))
    assert (told.exit_code, told.stdout) == (0, plan.explain() + "\n")


def test_json_reads_back_to_the_plan(weft: Weft, queries: Path) -> None:
    told = weft("explain", queries, "--planner", "no_share", "--slicing", "panes", "--json")
    plan = library.Plan.from_json(told.stdout)
    assert (plan.planner, plan.slicing, len(plan.trees)) == ("no_share", "panes", 3)
    assert json.loads(told.stdout)


def test_html_is_a_page(weft: Weft, queries: Path, tmp_path: Path) -> None:
    told = weft("explain", queries, "--html", tmp_path / "plan.html")
    page = (tmp_path / "plan.html").read_text()
    assert told.exit_code == 0
    assert page.startswith("<!doctype html>")
    assert page.rstrip().endswith("</html>")


def test_nothing_is_wrapped_when_piped(weft: Weft, tmp_path: Path) -> None:
    path = tmp_path / "long.sql"
    where = " OR ".join(f"symbol = 'S{number:04d}'" for number in range(60))
    path.write_text(f"SELECT max(price) FROM trades [RANGE 1 H SLIDE 7 MIN] WHERE {where}")
    longest = max(weft("explain", path).stdout.splitlines(), key=len)
    assert longest.count("S00") == 60


@pytest.mark.parametrize("name", ["queries.sql", "queries.yaml"])
def test_the_examples_are_planned(weft: Weft, name: str) -> None:
    told = weft("explain", EXAMPLES / name)
    assert told.exit_code == 0
    assert told.stdout.startswith("plan ")


@pytest.mark.parametrize("verb", ["explain", "run", "view", "register", "remove", "list", "demo", "bench"])
def test_help_has_an_example(weft: Weft, verb: str) -> None:
    told = weft(verb, "--help")
    assert told.exit_code == 0
    assert f"Example:\n      weft {verb} " in told.stdout


def test_the_program_by_itself_is_quick_and_loads_no_spark() -> None:
    code = "import sys, weft.cli; assert not {'pyspark', 'numba', 'sqlglot', 'pyarrow'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_version_and_no_verb(weft: Weft) -> None:
    assert weft("--version").stdout == f"weft {library.__version__}\n"
    assert "Commands:" in weft().output


BAD = {
    "missing file": ("gone.sql", None, "there is no file"),
    "wrong suffix": ("queries.txt", "SELECT 1", "neither .sql nor .yaml"),
    "empty": ("empty.sql", "", "there is no query"),
    "only a comment": ("comment.sql", "-- name: high\n", "there is no query"),
    "not SQL": ("not.sql", "Dear Sir or Madam,", "only SELECT"),
    "no window": ("no.sql", "SELECT max(price) FROM trades", "there is no window"),
    "slide 0": ("zero.sql", "SELECT max(price) FROM trades [RANGE 10 MIN SLIDE 0 MIN]", "slide must be positive"),
    "months": ("months.sql", "SELECT max(price) FROM trades [RANGE 1 MONTH]", "month has no fixed length"),
    "duplicate names": (
        "twice.sql",
        "-- name: a\nSELECT max(price) FROM t [RANGE 1 H];\n-- name: a\nSELECT min(price) FROM t [RANGE 1 H];",
        "two queries have this name",
    ),
    "not YAML": ("not.yaml", "queries: [", "no YAML"),
    "two streams": (
        "two.sql",
        "SELECT max(a) FROM t [RANGE 1 H]; SELECT max(a) FROM u [RANGE 1 H];",
        "a workload reads one",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_file_is_told_in_one_line(weft: Weft, tmp_path: Path, case: str) -> None:
    name, text, message = BAD[case]
    path = tmp_path / name
    if text is not None:
        path.write_text(text)
    told = weft("explain", path)
    assert told.exit_code == 2
    assert told.stderr.startswith("weft: ")
    assert message in told.stderr
    assert len(told.stderr.splitlines()) == 1
    assert told.stdout == ""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--rate", 0), "must be positive"),
        (("--rate", "nan"), "finite"),
        (("--keys", -1), "must be positive"),
        (("--planner", "weave"), "Did you mean 'weave_share'"),
        (("--technique", "magic"), "there is no technique 'magic'"),
        (("--slicing", "salami"), "there is no slicing 'salami'"),
        (("--types", "price"), "no name=value"),
        (("--html", "/nowhere/plan.html"), "'/nowhere/plan.html' cannot be written (No such file or directory). Check"),
        (("--rate", -5), "must be positive, got -5"),
        (("--keys", 0), "must be positive"),
        (("--keys", "symbol"), "'symbol' does not end in a number of keys"),
        (("--keys", "symbol=4", "--keys", 5), "'5' is a number for every GROUP BY, and there are others"),
        (("--keys", "symbol=4", "--keys", "symbol=5"), "'symbol' is there twice. Give one number of them"),
        (("--keys", "venue=4"), "it is not said how many values there are of symbol. Add 'symbol' to keys"),
        (("--price", "refind"), "Did you mean 'refined'"),
        (("--technique", "r_int"), "query 'high': technique: r_int cannot be used: max(price) is not invertible"),
        (("--option", "steps"), "'steps' is no name=value. Write --option steps=500"),
        (("--option", "stops=3"), "no planner has an option 'stops'. There are guard, patience, seed, start, "),
        (("--option", "steps=3"), "weave_share has no option 'steps'. Drop it: it takes guard"),
        (("--option", "guard=perhaps"), "guard is 'perhaps'. Give true or false"),
        (("--planner", "random", "--option", "seed=x"), "seed is 'x'. Give a whole number"),
        (("--planner", "local_search", "--option", "times=0"), "times is 0. Give a whole number from 1 on"),
        (("--planner", "local_search", "--option", "start=best"), "there is no start 'best'"),
        (("--filters", "price > 100"), "'price > 100' does not end in a share of the rows"),
        (("--filters", "price >= 0.2"), "does not end in a share of the rows"),
        (("--filters", "price > 100 = 2"), "2.0 is no share of the rows"),
        (("--filters", "price > 100 = nan"), "nan is no share of the rows"),
        (("--filters", "price > 100 = 0.2"), "no query has the filter (price > 100). Leave it out"),
        (("--filters", "reflect('a') = 0.2"), "stats.filters"),
        (("--compare", "--json"), "--json: it prints one plan"),
        (("--compare", "--savings"), "--savings: it is about one plan"),
        (("--compare", "--planner", "optimal,weave"), "there is no planner 'weave'. Did you mean 'weave_share'"),
        (("--compare", "--planner", "shared", "--option", "seed=1"), "none of the planners has an option 'seed'"),
        (("--compare", "--technique", "r_int"), "query 'high': technique: r_int cannot be used"),
    ],
)
def test_a_bad_option_is_told_in_one_line(weft: Weft, queries: Path, options: tuple[object, ...], message: str) -> None:
    told = weft("explain", queries, *options)
    assert told.exit_code == 2
    assert message in told.stderr
    assert len(told.stderr.splitlines()) == 1


def test_a_planner_asked_for_too_much_says_what_to_use(weft: Weft, tmp_path: Path) -> None:
    path = tmp_path / "many.sql"
    path.write_text(library.Workload.windows(range(5, 18), range(3, 16), measures="max(a)").to_sql())
    told = weft("explain", path, "--planner", "exhaustive")
    assert told.exit_code == 2
    assert told.stderr == (
        "weft: planner: exhaustive takes at most 12 queries, and here are 13 that could share. "
        "Use optimal, which says how far from the best its plan may be.\n"
    )


def test_all_planners_are_compared(weft: Weft, queries: Path) -> None:
    told = weft("explain", queries, "--compare", "--rate", 100, "--keys", 4, "--option", "seed=3")
    comparison = library.compare(library.Workload.from_file(queries), library.Stats(100.0, 4), seed=3)
    assert (told.exit_code, told.stdout) == (0, f"{comparison}\n")
    assert told.stderr.startswith("Planning took ")
    some = weft("explain", queries, "--compare", "--planner", "optimal, weave_share")
    assert [line.split()[0] for line in some.stdout.splitlines()[3:]] == ["optimal", "weave_share"]


def test_a_comparison_is_a_page_of_plans(weft: Weft, queries: Path, tmp_path: Path) -> None:
    told = weft("explain", queries, "--compare", "--planner", "shared,no_share", "--html", tmp_path / "all.html")
    assert (told.exit_code, told.stdout) == (0, "")
    assert (tmp_path / "all.html").read_text().count("<svg") == 2


def test_savings_are_told(weft: Weft, queries: Path, tmp_path: Path) -> None:
    plan = library.optimize(library.Workload.from_file(queries), library.Stats(5000.0, 1000))
    assert weft("explain", queries, "--savings").stdout == f"{plan.savings()}\n"
    assert weft("explain", queries, "--savings", "--json").stdout == f"{plan.savings().to_json()}\n"
    assert weft("explain", queries, "--savings", "--html", tmp_path / "s.html").exit_code == 0
    assert "saved" in (tmp_path / "s.html").read_text()


def test_planners_prices_and_their_options_reach_the_plan(weft: Weft, tmp_path: Path) -> None:
    path = tmp_path / "filtered.sql"
    path.write_text("SELECT max(a) FROM t [RANGE 9 MIN SLIDE 2 MIN] WHERE a > 1 AND b = 'x'")
    shared = (
        "--filters",
        "a > 1 AND b = 'x' = 0.25",
        "--price",
        "refined",
        "--planner",
        "random",
        "--option",
        "seed=2",
    )
    told = weft("explain", path, *shared, "--json")
    plan = library.Plan.from_json(told.stdout)
    stats = library.Stats(5000.0, 1000, filters={"a > 1 AND b = 'x'": 0.25})
    assert plan == library.optimize(plan.workload, stats, "random", price="refined", seed=2)
    assert plan.trees[0].input_rate == 1250


def test_the_help_names_every_planner_price_and_option(weft: Weft) -> None:
    from weft.planners import PLANNERS
    from weft.planners.prices import PRICES

    for verb in ("explain", "run"):
        words = set(re.findall(r"\w+", weft(verb, "--help").stdout))
        assert words >= {*PLANNERS, *PRICES, *(option for planner in PLANNERS.values() for option in planner.options)}


def test_usage_errors_exit_with_2(weft: Weft) -> None:
    assert weft("explain").exit_code == 2
    assert weft("weave").exit_code == 2
    assert weft("bench", "nothing").exit_code == 2
    assert weft("explain", "a.sql", "--rate", "fast").exit_code == 2


def test_python_shows_its_trace_only_when_asked(weft: Weft, queries: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("by nothing")

    monkeypatch.setattr("weft.cli.explain.weft.optimize", broken)
    told = weft("explain", queries)
    assert told.exit_code == 1
    assert told.stderr.startswith("weft: ZeroDivisionError: by nothing\n")
    assert "Traceback" not in told.output
    trace = Path(told.stderr.split("trace is in ")[1].split(" (")[0])
    assert "Traceback" in trace.read_text()
    trace.unlink()
    monkeypatch.setenv("WEFT_DEBUG", "1")
    assert isinstance(weft("explain", queries).exception, ZeroDivisionError)


def test_an_interrupt_is_quiet(weft: Weft, queries: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("weft.cli.explain.weft.optimize", interrupted)
    told = weft("explain", queries)
    assert (told.exit_code, told.output) == (130, "")


def test_a_closed_pipe_is_quiet(queries: Path) -> None:
    program = f"{sys.executable} -c 'from weft.cli import main; main()' explain {queries} --json | head -c 10"
    told = subprocess.run(["bash", "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert told.stderr == ""
