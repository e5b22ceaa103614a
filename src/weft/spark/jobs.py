"""Jobs: a root's queries, spelled out for the workers: lanes, windows, and where every answer goes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from pyspark.sql import DataFrame
from pyspark.sql import types as T

from weft.algebra.partials import Partial, partials
from weft.plans.plan import Plan
from weft.queries import expressions as ex
from weft.queries.query import Query
from weft.spark import columns, wide
from weft.spark.answers import Job
from weft.spark.binding import Binding
from weft.spark.bundles import Shape
from weft.spark.emitting import Emission
from weft.spark.lanes import Answer, Lane, Source, WindowOf
from weft.spark.results import slot_name
from weft.spark.roots import Root
from weft.spark.series import columns_of
from weft.spark.signatures import Place
from weft.techniques.windows import ALWAYS

COMPLETE = "complete"
"""The column that says of each row whether it is of all events of its window."""


def job(
    root: Root,
    plan: Plan,
    binding: Binding,
    schema: T.StructType,
    ansi: bool,
    since: Mapping[int, int] = MappingProxyType({}),
) -> Job:
    """What the workers need to know of a root, whose results have this schema.

    `since` says from which instant on there is all that a query reads, by position, where that is not always so.
    """
    sources, at = [], 0
    for partial in root.partials:
        type_ = None if partial.argument is None else binding.types[partial.argument]
        sources.append(Source(partial.kind, type_, at))
        at += columns_of(partial.kind, type_)
    slots = _slots(root, binding)
    number_of = {partial: number for number, partial in enumerate(root.partials)}
    lanes = []
    for tree in root.trees:
        alike: dict[tuple[Place | None, int | None, int | None], dict[int, Query]] = {}
        for position in tree.queries.tolist():
            query = root.queries[position]
            which = root.place(query), root.keys_of(query), since.get(position)
            alike.setdefault(which, {})[position] = query
        for (place, keys, begin), queries in alike.items():
            lanes.append(Lane(place, tree.technique, _windows(queries, binding, slots, number_of), keys, begin))
    return Job(
        tuple(lanes),
        tuple(sources),
        len(root.keys),
        Shape(
            tuple(schema.names),
            tuple(kind for kind, _ in slots),
            plan.workload.ids,
            root.time_type,
            "query_number" in schema.names,
            bool(root.keys),
            _begins(plan, since) if binding.live else None,
        ),
        ansi,
    )


def _begins(plan: Plan, since: Mapping[int, int]) -> tuple[int, ...]:
    """From which window on, by its label's start, each query's answers are complete."""
    begins = [ALWAYS] * len(plan.workload)
    for position, begin in since.items():
        begins[position] = begin + int(plan.workload.delays[position])
    return tuple(begins)


def emitting(job: Job, plan: Plan, binding: Binding, root: Root, schema: T.StructType, emission: Emission) -> Job:
    """The same job where answers go out in another shape, or not all of them."""
    if emission.plain:
        return job
    if emission.wide:
        emission = replace(emission, wide=wide.places(plan.workload, binding, _slots(root, binding)))
    return replace(job, emission=emission, shape=replace(job.shape, names=tuple(schema.names)))


def emptied(schema: T.StructType) -> T.StructType:
    """The long form with a column that says of each row whether it stands for an empty window."""
    last = 1 + max(schema.names.index(name) for name in schema.names if not name.startswith("value_"))
    fields = list(schema.fields)
    return T.StructType([*fields[:last], T.StructField(wide.EMPTY, T.BooleanType(), False), *fields[last:]])


def schema(df: DataFrame, root: Root, binding: Binding, numbered: bool, metadata: Mapping[str, str]) -> T.StructType:
    """The columns of a root's results: the long form, less what only other roots fill."""
    keys = df.select(*(columns.column(key).alias(binding.keys[key]) for key in root.keys)).schema.fields
    for place, field in enumerate(keys):
        field.nullable |= any(place not in each.keys for each in root.sets)
    ends: list[tuple[str, T.DataType]] = [("row_start", T.LongType()), ("row_end", T.LongType())]
    if not root.counts_rows:
        clock = T.TimestampType() if root.time_type == "timestamp" else T.TimestampNTZType()
        ends = [("window_start", clock), ("window_end", clock)]
    return T.StructType(
        [
            T.StructField("query", T.StringType(), False, dict(metadata)),
            *([T.StructField("query_number", T.IntegerType(), False)] if numbered else []),
            *keys,
            *([T.StructField(COMPLETE, T.BooleanType(), False)] if binding.live else []),
            *(T.StructField(name, type_, False) for name, type_ in ends),
            *(
                T.StructField(slot_name(kind, number), T.DataType.fromDDL(kind))
                for kind, number in _slots(root, binding)
            ),
        ]
    )


def joined(schemas: Sequence[T.StructType], binding: Binding) -> T.StructType:
    """The columns of several roots' results together: keys and values may be null where one root has them not."""
    every = {field.name: field for schema in schemas for field in schema}
    shared = {name for name in every if all(name in schema.names for schema in schemas)}
    values = [*([wide.EMPTY] if wide.EMPTY in shared and wide.EMPTY not in binding.keys.values() else [])]
    values += [slot_name(kind, number) for kind, number in binding.slots]
    keys = [name for name in binding.keys.values() if name in every]
    others = [name for name in every if name not in (*values, *keys, *([COMPLETE] if binding.live else ()))]
    head, ends = others[:-2], others[-2:]
    keys += [COMPLETE] if binding.live else []
    return T.StructType(
        [
            T.StructField(name, every[name].dataType, every[name].nullable or name not in shared, every[name].metadata)
            for name in (*head, *keys, *ends, *values)
        ]
    )


def _slots(root: Root, binding: Binding) -> list[tuple[str, int]]:
    """The value columns that this root's queries use, or may use."""
    if binding.live:
        return list(binding.slots)
    used = {binding.slot(query, aggregate) for query in _different(root) for aggregate in query.aggregates}
    return [slot for slot in binding.slots if slot in used]


def _different(root: Root) -> list[Query]:
    """One query of each set of aggregates."""
    return list({query.aggregates: query for query in root.queries.values()}.values())


def _windows(
    queries: dict[int, Query], binding: Binding, slots: list[tuple[str, int]], number_of: dict[Partial, int]
) -> tuple[WindowOf, ...]:
    """The covered windows of some queries, each once, with all the answers that are wanted over it."""
    answers: dict[tuple[ex.Aggregate, ...], tuple[Answer, ...]] = {}
    windows: dict[tuple[int, int, int, int], list[tuple[int, tuple[Answer, ...]]]] = {}
    for position, query in queries.items():
        if query.aggregates not in answers:
            answers[query.aggregates] = tuple(
                _answer(query, aggregate, binding, slots, number_of) for aggregate in query.aggregates
            )
        window = query.window
        # a covered interval begins `delay` before the window that it is the answer for
        covered = (window.range, window.slide, (window.offset - window.delay) % window.slide, window.delay)
        windows.setdefault(covered, []).append((position, answers[query.aggregates]))
    return tuple(WindowOf(*covered, tuple(wanted)) for covered, wanted in windows.items())


def _answer(
    query: Query, aggregate: ex.Aggregate, binding: Binding, slots: list[tuple[str, int]], number_of: dict[Partial, int]
) -> Answer:
    type_ = binding.types[aggregate]
    shift = 0
    if aggregate.function == "avg" and type_.startswith("decimal") and aggregate.argument is not None:
        shift = _scale(type_) - _scale(binding.types[aggregate.argument])
    return Answer(
        aggregate.function,
        tuple(number_of[partial] for partial in partials(aggregate)),
        type_,
        slots.index(binding.slot(query, aggregate)),
        shift,
    )


def _scale(decimal: str) -> int:
    return int(decimal[:-1].split(",")[1])
