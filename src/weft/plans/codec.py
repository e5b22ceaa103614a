"""Codec: a plan and its workload as JSON, and back to an equal plan.

Expressions are written as SQL text and read again through the same white list as a query's own text, so a plan file
from elsewhere can do no more than a query can. Fractions are written as "a/b". A file that is damaged, of another
version, or whose trees are no partition of its workload is refused.
"""

from __future__ import annotations

import json
import re
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from weft.errors import BadRequest
from weft.plans.kin import kin
from weft.plans.plan import GroupSet, Plan, Tree
from weft.plans.stats import Stats
from weft.queries import expressions as ex
from weft.queries import parse
from weft.queries.query import Measure, Query, moved
from weft.queries.window import Window, check_sizes
from weft.queries.workload import Workload
from weft.slicing.slicers import SLICERS
from weft.techniques import BY_NAME

FORMAT = 2
_LONGEST = 1_000_000
"""Characters of an expression: written out in full, it is longer than a person may have written it."""


def encode(plan: Plan) -> str:
    """The plan as JSON."""
    stats = {
        "rate": str(plan.stats.rate),
        "keys": plan.stats.known_keys,
        "types": dict(plan.stats.types),
        "filters": {where: str(share) for where, share in plan.stats.filters.items()},
    }
    document = {
        "format": FORMAT,
        "planner": plan.planner,
        "slicing": plan.slicing,
        "price": plan.price,
        "feed": plan.feed,
        "technique": plan.technique,
        "bound": None if plan.bound is None else str(plan.bound),
        "bound_among": plan.bound_among,
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
            Stats(
                _fraction(stats["rate"]),
                stats["keys"],
                stats["types"],
                {where: _fraction(share) for where, share in stats["filters"].items()},
            ),
            tuple(_read_tree(tree) for tree in document["trees"]),
            document["planner"],
            document["slicing"],
            document["price"],
            document["feed"],
            tuple((name, _fraction(cost)) for name, cost in document["alternatives"]),
            document["technique"],
            None if document["bound"] is None else _fraction(document["bound"]),
            str(document.get("bound_among", "")),
        )
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, ArithmeticError, RecursionError) as error:
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
    wrong, family = None, _family(plan)
    if not np.array_equal(positions, np.arange(len(plan.workload))) or not all(len(t.queries) for t in plan.trees):
        wrong = "its trees are no partition of its queries"
    elif any(len(set(family[tree.queries].tolist())) > 1 for tree in plan.trees):
        wrong = "a tree has queries that cannot share: other keys, or another clock"
    elif not all(_rolls_up(plan, tree) for tree in plan.trees):
        wrong = "what a tree rolls up is not what its queries group by"
    elif plan.slicing not in SLICERS or plan.feed not in ("events", "slices"):
        wrong = f"slicing '{plan.slicing}' with feed '{plan.feed}' is not known"
    for tree in plan.trees:
        if tree.technique not in BY_NAME:
            wrong = f"technique '{tree.technique}' is not known"
    if wrong:
        raise BadRequest(wrong, field="plan", remedy="Plan again with weft.optimize")


def _family(plan: Plan) -> npt.NDArray[np.int64]:
    """Which kin each query belongs to."""
    family = np.empty(len(plan.workload), np.int64)
    for number, queries in enumerate(kin(plan.workload, plan.stats.unites and plan.feed == "events")):
        family[queries] = number
    return family


def _rolls_up(plan: Plan, tree: Tree) -> bool:
    """Whether the tree makes all that its queries group by: the rows by all keys, each other set from one above."""
    numbers = set(plan.workload.prototype[tree.queries].tolist())
    asked = {frozenset(map(ex.to_sql, plan.workload.prototypes[number].group_by)) for number in numbers}
    if not tree.sets:
        return len(asked) == 1
    (finest, *made), (first, *others) = [frozenset(each.keys) for each in tree.sets], tree.sets
    return (
        (first.source, finest) == (None, frozenset().union(*asked))
        and asked <= {finest, *made}
        and len({finest, *made}) == len(tree.sets)
        and all(
            type(each.source) is int and 0 <= each.source < place and keys < [finest, *made][each.source]
            for place, (keys, each) in enumerate(zip(made, others, strict=True), 1)
        )
    )


def _fraction(text: str) -> Fraction:
    """What `str(Fraction)` gives; an exponent would let a short text stand for a number of a million digits."""
    if not re.fullmatch(r"-?\d{1,2000}(/\d{1,2000})?", text):
        raise ValueError(f"'{text[:40]}' is no fraction")
    return Fraction(text)


def _tree(tree: Tree) -> dict[str, Any]:
    return {
        "queries": tree.queries.tolist(),
        "slices": [list(edge_class) for edge_class in tree.slices],
        "technique": tree.technique,
        "input_rate": str(tree.input_rate),
        "edge_rate": str(tree.edge_rate),
        "groups": str(tree.groups),
        "operations": str(tree.operations),
        "lost": [list(pair) for pair in tree.lost],
        "filters": [[where, str(shards), str(operations)] for where, shards, operations in tree.filters],
        "sets": [_set(each) for each in tree.sets],
    }


def _set(each: GroupSet) -> dict[str, Any]:
    return {
        "keys": list(each.keys),
        "source": each.source,
        "groups": str(each.groups),
        "read": str(each.read),
        "operations": str(each.operations),
    }


def _read_set(document: dict[str, Any]) -> GroupSet:
    numbers = (_fraction(document[name]) for name in ("groups", "read", "operations"))
    return GroupSet(tuple(str(key) for key in document["keys"]), document["source"], *numbers)


def _read_tree(document: dict[str, Any]) -> Tree:
    return Tree(
        np.array(document["queries"], np.int64),
        tuple((int(modulus), int(residue)) for modulus, residue in document["slices"]),
        document["technique"],
        _fraction(document["input_rate"]),
        _fraction(document["edge_rate"]),
        _fraction(document["groups"]),
        _fraction(document["operations"]),
        tuple((name, reason) for name, reason in document["lost"]),
        tuple((where, _fraction(shards), _fraction(each)) for where, shards, each in document.get("filters", ())),
        tuple(_read_set(each) for each in document.get("sets", ())),
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
        "owners": workload.owners,
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
    ids = document["ids"]
    if ids is not None and (len(ids) != len(number) or not all(isinstance(id_, str) and id_ for id_ in ids)):
        raise ValueError("names that do not go with the queries")
    owners = document.get("owners")
    if owners is not None and (len(owners) != len(number) or not all(o is None or isinstance(o, str) for o in owners)):
        raise ValueError("owners that do not go with the queries")
    if {len(number), len(rows), *(len(array) for array in sizes.values())} != {len(number)}:
        raise ValueError("windows that do not go with the queries")
    return Workload.of(prototypes, number, sizes, rows, ids, owners)


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
        "assumed": list(query.assumed),
    }


def _read_prototype(document: dict[str, Any]) -> Query:
    def named(measures: list[list[str]]) -> list[Measure]:
        return [Measure(name, parse.expression(text, _LONGEST)) for name, text in measures]

    query = Query(
        "plan",
        named(document["measures"]),
        Window.of(1, 1),
        None if document["where"] is None else parse.expression(document["where"], _LONGEST),
        [parse.expression(key, _LONGEST) for key in document["group_by"]],
        None if document["having"] is None else parse.expression(document["having"], _LONGEST),
        None if document["time"] is None else ex.Column(tuple(document["time"])),
        document["source"],
        named(document["columns"]),
        [str(name) for name in document["assumed"]],
    )
    return moved(query, "", Window.of(1, 1))
