"""App: the program `weft`, its verbs and what their help teaches.

The verbs' own modules are loaded when they are called, so that `weft --help` needs neither Spark nor Numba.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import weft
from weft.cli import options as opt
from weft.cli.failures import told

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)


def main() -> None:
    """Run the program."""
    app(prog_name="weft")


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"weft {weft.__version__}")
        raise typer.Exit


@app.callback()
def weft_(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say which Weft this is, and exit.")
    ] = False,
) -> None:
    """Weft runs many sliding-window queries over one stream as one shared Spark plan.

    \b
    Example:
        weft demo

    Exit codes: 0 done, 1 the data or the run failed, 2 the request was wrong. WEFT_DEBUG=1 shows Python's traces.
    """


@app.command("explain")
@told
def _explain(
    queries: opt.Queries,
    rate: Annotated[float, typer.Option(help="Rows per second of the stream.")] = 5000,
    keys: opt.Keys = None,
    types: Annotated[
        str | None,
        typer.Option(help="Spark types of columns, as price=double,volume=bigint. Exact ones allow more techniques."),
    ] = None,
    filters: Annotated[
        list[str] | None,
        typer.Option(
            help="The share of rows that passes a filter, as 'price > 100 = 0.2'. May be repeated.", show_default=False
        ),
    ] = None,
    planner: opt.Planner = None,
    technique: opt.Technique = None,
    slicing: opt.Slicing = None,
    price: opt.Price = None,
    option: opt.Option = None,
    compare: Annotated[
        bool,
        typer.Option("--compare", help="Show what every planner makes of it, or some: --planner weave_share,optimal."),
    ] = False,
    savings: Annotated[
        bool,
        typer.Option(
            "--savings",
            help="Show what every query and owner saves against running alone: the 20 that save most, with --json all.",
        ),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the plan as JSON, for weft run --plan; or, with --savings, these.")
    ] = False,
    html: Annotated[
        Path | None, typer.Option(help="Write it as a page with pictures to this file.", show_default=False)
    ] = None,
) -> None:
    """Show which queries would share what, what it costs, and why. Needs no Spark and no data.

    \b
    Example:
        weft explain examples/queries.sql --rate 5000 --keys 1000 --types price=double,volume=bigint
        weft explain examples/queries.sql --compare
        weft explain examples/queries.sql --savings --json
    """
    from weft.cli import planning
    from weft.cli.explain import Request, explain
    from weft.cli.planning import pairs, shares

    stats = weft.Stats(rate, planning.keys(keys or ["1000"]), pairs(types, "--types"), shares(filters or []))
    choices = _choices(planner, technique, slicing, price, option)
    explain(Request(queries, stats, choices, compare, savings, as_json, html))


@app.command("run")
@told
def _run(
    queries: opt.Queries,
    source: Annotated[
        str,
        typer.Option(
            "--from", help="A file or folder of events; with --stream also kafka or rate.", show_default=False
        ),
    ],
    to: Annotated[
        str, typer.Option(help="The folder for the answers; with --stream also kafka or console.", show_default=False)
    ],
    time: Annotated[
        str | None, typer.Option(help="The event-time column, for queries that do not name one.", show_default=False)
    ] = None,
    format_: Annotated[
        str | None,
        typer.Option("--format", help="Of the events: parquet, csv, json or orc.", show_default="by the files' names"),
    ] = None,
    types: Annotated[
        str | None, typer.Option(help="Columns to cast first, as ts=timestamp,price=double.", show_default=False)
    ] = None,
    planner: opt.Planner = None,
    technique: opt.Technique = None,
    slicing: opt.Slicing = None,
    price: opt.Price = None,
    option: opt.Option = None,
    plan: Annotated[
        Path | None, typer.Option(help="A plan that weft explain --json made of these queries.", show_default=False)
    ] = None,
    rate: Annotated[float | None, typer.Option(help="Rows per second of event time.", show_default="measured")] = None,
    keys: opt.Keys = None,
    output: Annotated[
        str,
        typer.Option(
            help="long: all answers in one table. views: a folder per query, in its own columns. wide (with --stream): "
            "a row for each group and instant, with a column for each measure."
        ),
    ] = "long",
    check: Annotated[int, typer.Option(min=0, help="Compare so many queries with Spark's own window().")] = 0,
    mode: Annotated[str, typer.Option(help="Where there are answers already: error or overwrite.")] = "error",
    stream: opt.Stream = False,
    checkpoint: opt.Checkpoint = None,
    trigger: opt.Trigger = None,
    watermark: opt.Watermark = None,
    future: opt.Future = None,
    late: opt.Late = None,
    idle: opt.Idle = None,
    emit: opt.Emit = None,
    empty: opt.Empty = False,
    schema: opt.Schema = None,
    to_format: opt.ToFormat = None,
    from_option: opt.FromOption = None,
    to_option: opt.ToOption = None,
    master: opt.Master = None,
    conf: opt.Conf = None,
) -> None:
    """Run a file of queries over a folder of events and write all answers; with --stream, for as long as events come,
    and then the queries may be a registry (weft register), which the stream follows.

    \b
    Example:
        weft run examples/queries.sql --from events/ --to answers/ --check 5
        weft run examples/queries.sql --stream --from events/ --to answers/ --checkpoint state/ --trigger "10 seconds"
        weft run registry/ --stream --from events/ --to answers/ --checkpoint state/
        weft run examples/queries.sql --stream --from kafka --from-option kafka.bootstrap.servers=localhost:9092 \\
            --from-option subscribe=trades --schema "ts timestamp, symbol string, price double, volume bigint" \\
            --to kafka --to-option kafka.bootstrap.servers=localhost:9092 --to-option topic=answers --checkpoint state/
    """
    from weft.cli import planning, run
    from weft.cli import stream as streams
    from weft.cli.planning import pairs, settings

    batch = run.Request(
        queries,
        source,
        to,
        time,
        format_,
        pairs(types, "--types"),
        plan,
        _choices(planner, technique, slicing, price, option),
        rate,
        planning.keys(keys) if keys else None,
        output,
        check,
        mode,
        master,
        settings(conf or []),
    )
    own = streams.Options(
        checkpoint,
        trigger,
        watermark,
        future,
        late,
        idle,
        emit,
        empty,
        schema,
        to_format,
        settings(from_option or [], "--from-option", "subscribe=trades"),
        settings(to_option or [], "--to-option", "topic=answers"),
    )
    if stream:
        streams.run(batch, own)
    else:
        own.refuse()
        run.run(batch)


@app.command("view")
@told
def _view(
    results: Annotated[Path, typer.Argument(help="The folder that weft run wrote.", show_default=False)],
    query: Annotated[str, typer.Option(help="The name of a query.", show_default=False)],
    plan: Annotated[Path | None, typer.Option(help="Its plan.", show_default="RESULTS/_weft_plan.json")] = None,
    limit: Annotated[int, typer.Option(min=1, help="Rows to show.")] = 20,
) -> None:
    """Show the rows of one query out of what weft run wrote.

    \b
    Example:
        weft view answers/ --query high --limit 5
    """
    from weft.cli.view import view

    view(results, plan, query, limit)


@app.command("register")
@told
def _register(
    path: opt.Registry,
    queries: opt.Queries,
    owner: Annotated[
        str | None, typer.Option(help="Whose they are.", show_default="what the queries say themselves")
    ] = None,
    reason: opt.Reason = "",
    rate: Annotated[
        float | None, typer.Option(help="Rows per second of the stream.", show_default="as before, at first 1")
    ] = None,
    keys: opt.Keys = None,
    types: Annotated[
        str | None, typer.Option(help="Spark types of columns, as price=double.", show_default="as before")
    ] = None,
) -> None:
    """Put queries into a registry, which a running stream follows: new ones are woven in, others altered.

    What the stream cannot take in before it is started again is said, with the reason.

    \b
    Example:
        weft register registry/ my_queries.sql --owner desk --reason "the new desk"
    """
    from weft.cli import planning
    from weft.cli.registry import Request, register

    counts = planning.keys(keys) if keys else None
    register(Request(path, queries, owner, reason, rate, counts, planning.pairs(types, "--types")))


@app.command("remove")
@told
def _remove(
    path: opt.Registry,
    ids: Annotated[list[str], typer.Argument(help="The names of queries.", show_default=False)],
    reason: opt.Reason = "",
) -> None:
    """Take queries out of a registry.

    \b
    Example:
        weft remove registry/ high --reason "nobody looks at it"
    """
    from weft.cli.registry import remove

    remove(path, ids, reason)


@app.command("list")
@told
def _list(
    path: opt.Registry,
    history: Annotated[bool, typer.Option("--history", help="Show what has been changed, when, and why.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Show the queries of a registry, or its history.

    \b
    Example:
        weft list registry/ --history
    """
    from weft.cli.registry import list_

    list_(path, history, as_json)


@app.command("state")
@told
def _state(
    checkpoint: opt.OfStream,
    as_json: Annotated[bool, typer.Option("--json", help="Print all of it as JSON.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="Shards and queries to show.")] = 20,
    conf: opt.Conf = None,
) -> None:
    """Show what a stream's checkpoint holds: shards, blocks, partials, bytes, what was late, and each query's counts.

    \b
    Example:
        weft state checkpoint/
    """
    from weft.cli.planning import settings
    from weft.cli.state import show

    show(checkpoint, as_json, limit, settings(conf or []))


@app.command("top")
@told
def _top(
    checkpoint: opt.OfStream,
    every: Annotated[float, typer.Option(min=0.1, help="Seconds between two looks.")] = 5.0,
    times: Annotated[int | None, typer.Option(min=1, help="Looks.", show_default="until Ctrl-C")] = None,
    limit: Annotated[int, typer.Option(min=1, help="Shards and queries to show.")] = 20,
    conf: opt.Conf = None,
) -> None:
    """Watch a stream through its checkpoint, from outside: what weft state shows, with rates.

    \b
    Example:
        weft top checkpoint/ --every 2
    """
    from weft.cli.planning import settings
    from weft.cli.state import top

    top(checkpoint, every, times, limit, settings(conf or []))


@app.command("demo")
@told
def _demo(
    rows: Annotated[int, typer.Option(min=1, help="Trades to generate.")] = 2_000_000,
    queries: Annotated[int, typer.Option(min=1, help="Queries to make up.")] = 300,
    keys: Annotated[int, typer.Option(min=1, help="Symbols that are traded.")] = 200,
    check: Annotated[int, typer.Option(min=0, help="Queries to run one by one too, and compare.")] = 20,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same demo.")] = 7,
) -> None:
    """See it work: made-up trades, a few hundred queries, one plan, the check and the speed-up, in a few minutes.

    \b
    Example:
        weft demo --rows 500000 --queries 100
    """
    from weft.cli.demo import demo

    demo(rows, queries, keys, check, seed)


@app.command("bench")
@told
def _bench(
    name: Annotated[str, typer.Argument(help="Which one, as batch.", show_default=False)],
    rows: Annotated[int | None, typer.Option(min=1_000, help="Events.", show_default="the benchmark's own")] = None,
    runs: Annotated[int | None, typer.Option(min=1, help="Samples of each.", show_default="3")] = None,
) -> None:
    """Measure it here: ratios of times taken side by side, with the answers checked. Needs a source checkout.

    \b
    Example:
        weft bench batch
    """
    from weft.cli.bench import bench

    bench(name, rows, runs)


def _choices(
    planner: str | None, technique: str | None, slicing: str | None, price: str | None, option: list[str] | None
) -> dict[str, object]:
    from weft.cli.planning import options

    given = {"planner": planner, "technique": technique, "slicing": slicing, "price": price}
    return {name: value for name, value in given.items() if value is not None} | options(option or [])
