"""Codec: a plan and its workload as JSON, and back to an equal plan.

Expressions are written as SQL text and read again through the same white list as a query's own text, so a plan file
from elsewhere can do no more than a query can. Fractions are written as "a/b". A file that is damaged, of another
version, or whose trees are no partition of its workload is refused.
"""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np

from weft.errors import BadRequest
from weft.plans.plan import Plan, Tree
from weft.plans.stats import Stats
from weft.queries import expressions as ex
from weft.queries import parse
from weft.queries.query import Measure, Query, moved
from weft.queries.window import Window, check_sizes
from weft.queries.workload import Workload
from weft.slicing.slicers import SLICERS
from weft.techniques import BY_NAME

FORMAT = 1


def encode(plan: Plan) -> str:
    """The plan as JSON."""
    stats = {"rate": str(plan.stats.rate), "keys": plan.stats.keys, "types": dict(plan.stats.types)}
    document = {
        "format": FORMAT,
        "planner": plan.planner,
        "slicing": plan.slicing,
        "price": plan.price,
        "feed": plan.feed,
        "stats": stats,
        "alternatives": [[name, str(cost)] for name, cost in plan.alternatives],
        "workload": _workload(plan.workload),
        "trees": [_tree(tree) for tree in plan.trees],
    }
    return json.dumps(document, indent=1)


def decode(text: str) -> Plan:
    """Read a plan that `encode` wrote."""
    try:
        document = json.loads(text)
        if document["format"] != FORMAT:
            raise BadRequest(
                f"format {document['format']!r} is not {FORMAT}", field="plan", remedy="Plan again with this version"
            )
        stats = document["stats"]
        plan = Plan(
            _read_workload(document["workload"]),
            Stats(Fraction(stats["rate"]), stats["keys"], stats["types"]),
            tuple(_read_tree(tree) for tree in document["trees"]),
            document["planner"],
            document["slicing"],
            document["price"],
            document["feed"],
            tuple((name, Fraction(cost)) for name, cost in document["alternatives"]),
        )
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, ZeroDivisionError, OverflowError) as error:
        raise BadRequest(
            f"this is no plan that Weft wrote ({type(error).__name__}: {error})",
            field="plan",
            remedy="Save it again with plan.to_json()",
        ) from None
    _check(plan)
    return plan


def _check(plan: Plan) -> None:
    """A plan file may have been edited by hand: every query stands in exactly one tree, all names are known."""
    positions = np.sort(np.concatenate([tree.queries for tree in plan.trees] or [np.empty(0, np.int64)]))
    wrong = None
    if not np.array_equal(positions, np.arange(len(plan.workload))):
        wrong = "its trees are no partition of its queries"
    elif plan.slicing not in SLICERS or plan.feed not in ("events", "slices"):
        wrong = f"slicing '{plan.slicing}' with feed '{plan.feed}' is not known"
    for tree in plan.trees:
        if tree.technique not in BY_NAME:
            wrong = f"technique '{tree.technique}' is not known"
    if wrong:
        raise BadRequest(wrong, field="plan", remedy="Plan again with weft.optimize")


def _tree(tree: Tree) -> dict[str, Any]:
    return {
        "queries": tree.queries.tolist(),
        "slices": [list(edge_class) for edge_class in tree.slices],
        "technique": tree.technique,
        "edge_rate": str(tree.edge_rate),
        "groups": str(tree.groups),
        "operations": str(tree.operations),
        "lost": [list(pair) for pair in tree.lost],
    }


def _read_tree(document: dict[str, Any]) -> Tree:
    return Tree(
        np.array(document["queries"], np.int64),
        tuple((int(modulus), int(residue)) for modulus, residue in document["slices"]),
        document["technique"],
        Fraction(document["edge_rate"]),
        Fraction(document["groups"]),
        Fraction(document["operations"]),
        tuple((name, reason) for name, reason in document["lost"]),
    )


def _workload(workload: Workload) -> dict[str, Any]:
    return {
        "prototypes": [_prototype(prototype) for prototype in workload.prototypes],
        "prototype": workload.prototype.tolist(),
        "range": workload.ranges.tolist(),
        "slide": workload.slides.tolist(),
        "offset": workload.offsets.tolist(),
        "delay": workload.delays.tolist(),
        "counts_rows": workload.counts_rows.tolist(),
        "ids": None if workload.unnamed else list(workload.ids),
    }


def _read_workload(document: dict[str, Any]) -> Workload:
    sizes = {field: np.array(document[field], np.int64) for field in ("range", "slide", "offset", "delay")}
    rows = np.array(document["counts_rows"], bool)
    for *size, counts in set(zip(*(array.tolist() for array in sizes.values()), rows.tolist(), strict=True)):
        check_sizes(**dict(zip(sizes, size, strict=True)), unit="rows" if counts else "time")
    prototypes = tuple(_read_prototype(prototype) for prototype in document["prototypes"])
    number = np.array(document["prototype"], np.int64)
    if len(number) and not 0 <= number.min() <= number.max() < len(prototypes):
        raise ValueError("a query without a prototype")
    return Workload.of(prototypes, number, sizes, rows, document["ids"])


def _prototype(query: Query) -> dict[str, Any]:
    def named(measures: tuple[Measure, ...]) -> list[list[str]]:
        return [[measure.name, ex.to_sql(measure.expression)] for measure in measures]

    return {
        "measures": named(query.measures),
        "where": None if query.where is None else ex.to_sql(query.where),
        "group_by": [ex.to_sql(key) for key in query.group_by],
        "having": None if query.having is None else ex.to_sql(query.having),
        "time": None if query.time is None else list(query.time.path),
        "source": query.source,
        "columns": named(query.columns),
    }


def _read_prototype(document: dict[str, Any]) -> Query:
    def named(measures: list[list[str]]) -> list[Measure]:
        return [Measure(name, parse.expression(text)) for name, text in measures]

    query = Query(
        "plan",
        named(document["measures"]),
        Window.of(1, 1),
        document["where"],
        document["group_by"],
        document["having"],
        None if document["time"] is None else ex.Column(tuple(document["time"])),
        document["source"],
        named(document["columns"]),
    )
    return moved(query, "", Window.of(1, 1))
