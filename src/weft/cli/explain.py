"""weft explain: what would be shared, and why, without a Spark."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import typer

import weft
from weft.cli import console, planning
from weft.errors import BadRequest


def explain(
    queries: Path,
    rate: float,
    keys: int,
    types: str | None,
    choices: Mapping[str, str],
    as_json: bool,
    html: Path | None,
) -> None:
    """Plan a file of queries and print the plan."""
    workload = weft.Workload.from_file(queries)
    stats = weft.Stats(rate=rate, keys=keys, types=planning.pairs(types, "--types"))
    plan = weft.optimize(workload, stats, **choices)
    if html is not None:
        try:
            html.write_text(page(plan, queries.name), encoding="utf-8")
        except OSError as error:
            raise BadRequest(f"'{html}' cannot be written ({error})", field="--html", remedy="Check the path") from None
        console.note(f"Wrote {html}.")
    if as_json:
        typer.echo(plan.to_json())
    elif html is None:
        console.say(plan.explain())


def page(plan: weft.Plan, title: str) -> str:
    """The plan as it looks in a notebook, as a page of its own."""
    from html import escape

    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{escape(title)} - weft</title>\n'
        f"</head>\n<body>\n{plan._repr_html_()}\n</body>\n</html>\n"
    )
