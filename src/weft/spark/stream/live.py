"""Live: a version of the query set on a stream that runs.

A version is lanes, windows and places for answers; Spark's plan, the slices and the partials are those that the stream
began with, its `Fabric`. So a version can be exchanged for another between two micro-batches. A query that asks for
what the fabric does not hold waits (`weft.registry.grain` says why) until the stream is started again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import types as T

from weft.algebra.partials import known_as
from weft.plans.plan import Plan
from weft.plans.stats import Stats
from weft.queries import expressions as ex
from weft.queries.query import Query
from weft.queries.workload import Workload
from weft.registry import Registry
from weft.registry.grain import Grain, Strand
from weft.registry.versions import Version
from weft.spark import jobs
from weft.spark.binding import Binding
from weft.spark.emitting import Emission
from weft.spark.results import stored_type
from weft.spark.roots import Root
from weft.spark.stream.blocks import Layout
from weft.spark.stream.closing import Closing, closing

_KEPT = 8
_NOTHING = Plan(Workload([]), Stats(), (), "weave_share", "pairs", "operations")


@dataclass(frozen=True)
class Following:
    """What a stream needs to follow a registry."""

    registry: Registry
    version: int
    """The one that the stream is planned for."""
    binding: Binding
    schemas: tuple[T.StructType, ...]
    compared: Mapping[ex.Column, str]
    """The Spark types of the columns that filters read."""


@dataclass(frozen=True, eq=False)
class Fabric:
    """What does not change while the stream runs."""

    told: str
    grain: Grain
    roots: tuple[Root, ...]
    """Without queries."""
    layouts: tuple[Layout, ...]
    events: tuple[int, ...]
    schemas: tuple[T.StructType, ...]
    binding: Binding
    ansi: bool
    emission: Emission
    patience: int
    """How late an event may be, in microseconds."""
    arguments: tuple[tuple[pa.DataType | None, ...], ...]
    """The Arrow type of what each partial of each root is over."""


@dataclass(frozen=True, eq=False)
class Woven:
    """A version on a fabric: the queries that are answered, and those that wait."""

    queries: Mapping[str, Query]
    numbers: Mapping[str, int]
    root_of: Mapping[str, int]
    waiting: Mapping[str, str]
    """With the reason."""
    closings: tuple[Closing, ...]


def grain_of(roots: Iterable[Root], binding: Binding, compared: Mapping[ex.Column, str]) -> Grain:
    """What a stream with these roots makes of its events."""
    strands = []
    for root in roots:
        partials = tuple((p, None if p.argument is None else binding.types[p.argument]) for p in root.partials)
        strands.append(
            Strand(
                tuple((key, binding.types[key]) for key in root.keys),
                root.time,
                root.classes,
                root.common_filter,
                root.filters.places,
                root.filters.width,
                root.common_filter is None and root.takes_every_row,
                partials,
                compared,
            )
        )
    counts: dict[str, int] = {}
    for kind, _ in binding.slots:
        counts[kind] = counts.get(kind, 0) + 1
    aggregates = {e: (type_, stored_type(type_)) for e, type_ in binding.types.items() if isinstance(e, ex.Aggregate)}
    types = {known_as(e): type_ for e, type_ in binding.types.items() if isinstance(e, ex.Column)}
    return Grain(tuple(strands), aggregates, counts, types)


_woven: OrderedDict[tuple[Any, ...], Woven] = OrderedDict()
"""What a worker has woven: of few streams, each in few versions."""


def woven(
    fabric: Fabric, digest: str, version: Callable[[], bytes], since: Mapping[str, int], late: Mapping[str, int]
) -> Woven:
    """A version on a fabric, with the bits of filters that came late; its bytes are only asked for when needed."""
    key = (fabric.told, digest, tuple(sorted(since.items())), tuple(sorted(late.items())))
    if key not in _woven:
        _woven[key] = _weave(fabric, _read(version()).plan if digest else None, since, late)
        while len(_woven) > _KEPT:
            _woven.popitem(last=False)
    _woven.move_to_end(key)
    return _woven[key]


@lru_cache(maxsize=_KEPT)
def _read(data: bytes) -> Version:
    return Version.from_bytes(data)


def _weave(fabric: Fabric, plan: Plan | None, since: Mapping[str, int], late: Mapping[str, int]) -> Woven:
    trees: list[list[Any]] = [[] for _ in fabric.roots]
    queries: list[dict[int, Query]] = [{} for _ in fabric.roots]
    waiting: dict[str, str] = {}
    plan = plan or _NOTHING
    for tree in plan.trees:
        by_root: dict[int, list[int]] = {}
        for position in tree.queries.tolist():
            query = plan.workload[position]
            root, why = fabric.grain.strand(query), fabric.grain.why_not(query, tree.technique, late)
            if why is not None or root is None:
                waiting[query.id] = why or ""
                continue
            by_root.setdefault(root, []).append(position)
            queries[root][position] = query
        for root, positions in by_root.items():
            trees[root].append(replace(tree, queries=np.array(positions, np.int64), sets=()))
    closings = []
    begins = {plan.workload.position(id_): begin for id_, begin in since.items()}
    for number, base in enumerate(fabric.roots):
        filters = base.filters
        wheres = {query.where for query in queries[number].values() if query.where is not None}
        if new := wheres - filters.places.keys():
            bits = {where: (filters.width - 1, late[ex.to_sql(where)]) for where in new}
            filters = replace(filters, places={**filters.places, **bits})
        full = replace(base, trees=tuple(trees[number]), queries=queries[number], filters=filters)
        schema = fabric.schemas[number]
        job = jobs.job(full, plan, fabric.binding, schema, fabric.ansi, begins)
        job = jobs.emitting(job, plan, fabric.binding, full, schema, fabric.emission)
        closings.append(closing(job, fabric.layouts[number], fabric.events[number]))
    answered = {query.id: (number, query, at) for number, some in enumerate(queries) for at, query in some.items()}
    return Woven(
        {id_: query for id_, (_, query, _) in answered.items()},
        {id_: at for id_, (_, _, at) in answered.items()},
        {id_: number for id_, (number, _, _) in answered.items()},
        waiting,
        tuple(closings),
    )
