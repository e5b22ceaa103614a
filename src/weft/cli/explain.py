"""weft explain: what would be shared, and why, without a Spark. With --compare, by every planner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import typer

import weft
from weft.cli import console
from weft.errors import BadRequest, nearest


@dataclass(frozen=True)
class Request:
    """The options of the verb."""

    queries: Path
    stats: weft.Stats
    choices: Mapping[str, Any]
    """planner, technique, slicing, price and a planner's own options, where they are given."""
    compare: bool
    savings: bool
    as_json: bool
    html: Path | None


def explain(asked: Request) -> None:
    """Plan a file of queries and print the plan, or what all planners make of it."""
    if asked.as_json and asked.compare:
        raise BadRequest("it prints one plan, and --compare prints none", field="--json", remedy="Give one of them")
    workload = weft.Workload.from_file(asked.queries)
    _check_filters(workload, asked.stats)
    if asked.compare:
        _compare(asked, workload)
        return
    plan = weft.optimize(workload, asked.stats, **asked.choices)
    shown = plan.savings() if asked.savings else plan
    if asked.html is not None:
        _write(asked.html, shown, asked.queries.name)
    if asked.as_json:
        typer.echo(shown.to_json())
    elif asked.html is None:
        console.say(str(shown))


def _check_filters(workload: weft.Workload, stats: weft.Stats) -> None:
    """A share of a filter that no query has would be given in vain."""
    from weft.queries.expressions import to_sql

    filters = list(dict.fromkeys(to_sql(query.where) for query in workload.prototypes if query.where is not None))
    for given in stats.filters:
        if given not in filters:
            near = nearest(given, filters)
            known = f"There are {', '.join(filters[:5])}" if filters else "Leave it out"
            raise BadRequest(
                f"no query has the filter {given}",
                field="--filters",
                remedy=f"Did you mean {near}" if near else known,
            )


def _compare(asked: Request, workload: weft.Workload) -> None:
    """All planners, or those that are named; how long they took is a remark, so that the rest does not vary."""
    if asked.savings:
        raise BadRequest("it is about one plan, and --compare about many", field="--savings", remedy="Give one of them")
    choices = dict(asked.choices)
    named = choices.pop("planner", None)
    planners = None if named is None else [name.strip() for name in named.split(",")]
    comparison = weft.compare(workload, asked.stats, planners=planners, **choices)
    if asked.html is not None:
        _write(asked.html, comparison, asked.queries.name)
    else:
        console.say(str(comparison))
    console.note(comparison.times())


def _write(path: Path, shown: Any, title: str) -> None:
    try:
        path.write_text(page(shown, title), encoding="utf-8")
    except OSError as error:
        raise BadRequest(
            f"'{path}' cannot be written ({error.strerror})", field="--html", remedy="Check the path"
        ) from None
    console.note(f"Wrote {path}.")


def page(shown: Any, title: str) -> str:
    """A plan, or a comparison of plans, as it looks in a notebook, as a page of its own."""
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{escape(title)} - weft</title>\n'
        f"{_STYLE}\n</head>\n<body>\n{shown._repr_html_()}\n</body>\n</html>\n"
    )


_STYLE = (
    "<style>:root{color-scheme:light dark}body{font-family:system-ui,sans-serif;font-size:14px;margin:2em auto;"
    "max-width:72em;padding:0 1em}div>details{margin:.6em 0}summary{cursor:pointer}pre{overflow-x:auto}</style>"
)
