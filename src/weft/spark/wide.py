"""Wide: one row for each group and instant, with a column for every measure of every query.

    symbol   window_end   last_hour   last_day   spread
    AAPL     9:00         5           17         0.25

Each query's windows have to end at the same instants, so that a row is complete: one slide, and ends in one rhythm.
The workers send the queries' aggregates side by side; the measures are made of them in the JVM, as in `view`.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from weft.errors import BadRequest
from weft.queries import expressions as ex
from weft.queries.window import Window
from weft.queries.workload import Workload
from weft.spark import columns
from weft.spark.binding import Binding
from weft.spark.having import over_results
from weft.spark.results import stored_type

END, EMPTY = "window_end", "empty"


def refuse(workload: Workload, empty: bool) -> None:
    """What cannot stand in one row."""
    first = workload[0]
    taken = {END, *([EMPTY] if empty else ()), *(ex.label(key).lower() for key in first.group_by)}
    for query in workload:
        for field, mine, others in (
            ("group_by", [ex.to_sql(k) for k in query.group_by], [ex.to_sql(k) for k in first.group_by]),
            ("window", _ends(query.window), _ends(first.window)),
        ):
            if mine != others:
                raise BadRequest(
                    f"a wide row holds all queries of a group and an instant: {mine} here, {others} in '{first.id}'",
                    query=query.id,
                    field=field,
                    remedy='Give all the same slide, offset of ends and keys, or ask for output="long"',
                )
        for name in names(workload, query.id):
            if name.lower() in taken:
                raise BadRequest(
                    f"two columns of the wide form would be called '{name}'",
                    query=query.id,
                    field="measures",
                    remedy="Give the query or the measure another name",
                )
            taken.add(name.lower())


def _ends(window: Window) -> str:
    unit, slide, delay = window.unit, window.slide, window.delay
    end = (window.offset + window.range) % slide
    return f"windows of {unit} that end every {slide} from {end} on, {delay} behind"


def names(workload: Workload, id: str) -> list[str]:
    """The wide columns of a query: its name, with the measure's where there are several."""
    measures = workload[id].measures
    return [id] if len(measures) == 1 else [f"{id}_{measure.name}" for measure in measures]


def places(workload: Workload, binding: Binding, slots: Sequence[tuple[str, int]]) -> tuple[tuple[int, int], ...]:
    """The workers' columns: the number of a query, and the value column of one of its aggregates."""
    return tuple(
        (number, list(slots).index(binding.slot(query, aggregate)))
        for number, query in enumerate(workload)
        for aggregate in query.aggregates
    )


def schema(workload: Workload, binding: Binding, long_form: T.StructType, empty: bool) -> T.StructType:
    """What the workers send."""
    kept = [long_form[name] for name in binding.keys.values()]
    flags = [T.StructField(EMPTY, T.BooleanType(), False)] if empty else []
    values = [
        T.StructField(_column(number, at), T.DataType.fromDDL(stored_type(binding.types[aggregate])))
        for number, query in enumerate(workload)
        for at, aggregate in enumerate(query.aggregates)
    ]
    return T.StructType([*kept, long_form[END], *flags, *values])


def measured(rows: DataFrame, workload: Workload, binding: Binding, empty: bool) -> DataFrame:
    """The measures, out of what the workers sent."""
    kept = [*binding.keys.values(), END, *([EMPTY] if empty else ())]
    made: list[Column] = [F.col(ex.quoted(name)) for name in kept]
    for number, query in enumerate(workload):
        for name, measure in zip(names(workload, query.id), query.measures, strict=True):

            def at(
                aggregate: ex.Aggregate, number: int = number, aggregates: Sequence[object] = query.aggregates
            ) -> str:
                return _column(number, aggregates.index(aggregate))

            over = over_results(measure.expression, query, binding.types, binding.keys, at)
            made.append(columns.column(over).alias(name))
    return rows.select(*made)


def _column(query: int, aggregate: int) -> str:
    return f"__weft_{query}_{aggregate}"
