"""HTML: a plan in a notebook. Its picture, which draws so many trees and no more, so that it is not folded away; a row
per tree with its queries folded away; the full explanation below.

The picture takes the ink and the paper of the page, so that it is at home in a light notebook and in a dark one.
"""

from __future__ import annotations

from html import escape

from weft.plans import explain
from weft.plans.picture import counted, picture, summary
from weft.plans.plain import plain
from weft.plans.plan import Plan, Tree
from weft.queries import expressions as ex

_STYLE = "text-align:left;vertical-align:top;padding:2px 14px 2px 0"
_COLUMNS = ("tree", "queries", "group by", "slices", "technique", "operations/s")
_TREES, _QUERIES, _LINES = 100, 100, 1_000
"""What is listed before the rest is counted: a page of megabytes helps nobody."""


def render(plan: Plan) -> str:
    """The plan as an HTML fragment. Whatever comes from a query is escaped."""
    trees = "".join(_row(plan, tree, number) for number, tree in enumerate(plan.trees[:_TREES], 1))
    if len(plan.trees) > _TREES:
        trees += f"<tr><td colspan='{len(_COLUMNS)}' style='{_STYLE}'>and {len(plan.trees) - _TREES:,} more</td></tr>"
    names = "".join(f"<th style='{_STYLE}'>{name}</th>" for name in _COLUMNS)
    return (
        "<div><details open>"
        f"<summary><b>{_text(summary(plan))}</b>, {explain.number(plan.cost)} operations/s</summary>"
        f"{picture(plan, 'currentColor', 'none')}</details>"
        f"<table><thead><tr>{names}</tr></thead><tbody>{trees}</tbody></table>"
        f"<details><summary>explain</summary><pre>{_explained(plan)}</pre></details></div>"
    )


def _row(plan: Plan, tree: Tree, number: int) -> str:
    ids = [plan.workload.id(position) for position in tree.queries[:_QUERIES].tolist()]
    more = ["..."] if len(tree.queries) > len(ids) else []
    keys = ", ".join(ex.to_sql(key) for key in plan.group_by(tree)) or "-"
    cells = (
        f"t{number}",
        f"<details><summary>{len(tree.queries):,}</summary>{_text(', '.join(ids + more))}</details>",
        _text(keys),
        f"{explain.number(tree.edge_rate)} edges/s",
        _text(tree.technique),
        explain.number(tree.cost),
    )
    return "<tr>" + "".join(f"<td style='{_STYLE}'>{cell}</td>" for cell in cells) + "</tr>"


def _explained(plan: Plan) -> str:
    lines = plan.explain().split("\n")
    if len(lines) > _LINES:
        lines = [*lines[:_LINES], f"... and {counted(len(lines) - _LINES, 'line')} more: print(plan.explain())"]
    return "\n".join(map(_text, lines))


def _text(content: str) -> str:
    return escape(plain(content))
