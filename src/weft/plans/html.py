"""HTML: a plan in a notebook. A row per tree, its queries folded away, the full explanation below."""

from __future__ import annotations

from html import escape

from weft.plans import explain
from weft.plans.plan import Plan, Tree
from weft.queries import expressions as ex

_STYLE = "text-align:left;vertical-align:top"


def render(plan: Plan) -> str:
    """The plan as an HTML fragment. Whatever comes from a query is escaped."""
    others = "".join(
        f"<tr><td style='{_STYLE}'>{escape(name)}</td><td>{explain.number(cost)}</td></tr>"
        for name, cost in plan.alternatives
    )
    trees = "".join(_row(plan, tree, number) for number, tree in enumerate(plan.trees, 1))
    return (
        f"<div><p><b>{escape(plan.planner)}</b>: {len(plan.workload):,} queries in {len(plan.trees):,} trees, "
        f"<b>{explain.number(plan.cost)}</b> operations/s</p>"
        "<table><thead><tr><th>tree</th><th>queries</th><th>group by</th><th>slices</th><th>technique</th>"
        f"<th>operations/s</th></tr></thead><tbody>{trees}</tbody></table>"
        + (f"<table><thead><tr><th>instead of</th><th>operations/s</th></tr></thead>{others}</table>" if others else "")
        + f"<details><summary>explain</summary><pre>{escape(plan.explain())}</pre></details></div>"
    )


def _row(plan: Plan, tree: Tree, number: int) -> str:
    ids = [plan.workload.id(position) for position in tree.queries[:100].tolist()]
    more = ["..."] if len(tree.queries) > len(ids) else []
    keys = ", ".join(ex.to_sql(key) for key in plan.group_by(tree)) or "-"
    cells = (
        f"t{number}",
        f"<details><summary>{len(tree.queries):,}</summary>{escape(', '.join(ids + more))}</details>",
        escape(keys),
        f"{explain.number(tree.edge_rate)} edges/s",
        escape(tree.technique),
        explain.number(tree.final_cost),
    )
    return "<tr>" + "".join(f"<td style='{_STYLE}'>{cell}</td>" for cell in cells) + "</tr>"
