"""Workloads: queries over the columns of `frames`, and the plans that they may get."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import strategies as st

import weft
from tests.differential.frames import TYPES
from weft.algebra.partials import partials
from weft.planners import PLANNERS
from weft.queries import expressions as ex
from weft.slicing import SLICERS
from weft.techniques import BY_NAME, TECHNIQUES, why_not

HALF = 500_000
FILTERS = (
    None, None, None, "i > 1", "i > 1", "i > 1 AND flag", "d > 0", "name = 'a'", "l IS NULL", "name LIKE '%a%'",
    "d > 0 OR i < 3", "i IN (1, 2, 3)", "s BETWEEN 0 AND 5", "flag", "NOT flag", "bucket <> 1", "price >= 1.25",
    "i <> 0 AND 12 / i > 3", "CAST(real AS STRING) = 'NaN'", "name <=> NULL",
)  # fmt: skip
KEYS = ("name", "lower(name)", "bucket", "flag", "day", "real", "bucket + 1", "bucket > 0", "whole", "moment")
MEASURES = (
    "count(*)", "count(l)", "count(text)", "count(CASE WHEN i > 1 THEN 1 END)",
    "sum(b)", "sum(s)", "sum(i)", "sum(l)", "sum(f)", "sum(d)", "sum(calm)", "sum(price)", "sum(whole)", "sum(wide)",
    "sum(i * 2)", "sum(price * 2)", "sum(price * i)", "sum(calm * i)", "sum(CASE WHEN flag THEN i ELSE 0 END)",
    "avg(b)", "avg(i)", "avg(l)", "avg(f)", "avg(d)", "avg(calm)", "avg(price)", "avg(whole)", "avg(wide)",
    "avg(i + 1)",
    "min(b)", "min(s)", "min(i)", "min(l)", "min(f)", "min(d)", "min(price)", "min(whole)", "min(wide)", "min(text)",
    "min(flag)", "min(day)", "min(moment)", "min(local)", "min(lower(text))",
    "max(b)", "max(s)", "max(i)", "max(l)", "max(f)", "max(d)", "max(price)", "max(whole)", "max(wide)", "max(text)",
    "max(flag)", "max(day)", "max(moment)", "max(local)", "max(length(text))", "max(abs(i))",
    "var_pop(calm)", "var_samp(calm)", "stddev_pop(calm)", "stddev_samp(calm)", "var_pop(d)", "stddev_samp(i)",
    "var_samp(price)", "stddev(f)", "var_pop(l)",
    "max(d) - min(d)", "max(i) - min(i)", "max(price) - min(price)", "sum(i) + count(*)", "sum(calm) / count(*)",
    "coalesce(sum(i), 0)", "max(text) = min(text)", "sum(price) / count(price)", "- sum(i)", "avg(price) * 2",
)  # fmt: skip
HAVING = (
    None, None, None, None, "count(*) > {}", "count(*) > {}", "max(i) >= {} AND min(i) < 5", "sum(i) BETWEEN 0 AND {}",
    "max(price) > {}.5", "min(text) <> 'a'", "max(d) - min(d) > {}.25", "count(i) IN ({}, 7)", "NOT max(flag)",
)  # fmt: skip


@st.composite
def time_windows(draw: st.DrawFn) -> weft.Window:
    """Windows of some half seconds: the slide need not divide the range, nor be shorter; the offset may be anything."""
    tick = draw(st.sampled_from((HALF, HALF, HALF, 250_000)))
    size, slide = draw(st.integers(1, 20)), draw(st.integers(1, 12))
    offset, delay = draw(st.sampled_from((0, 0, 1, 3, -2, 17, -40))), draw(st.sampled_from((0, 0, 0, 1, 5, 23)))
    return weft.Window.of(size * tick, slide * tick, offset * tick, delay * tick)


@st.composite
def row_windows(draw: st.DrawFn) -> weft.Window:
    """Windows of some rows."""
    return weft.Window.rows(draw(st.integers(1, 9)), draw(st.integers(1, 7)), draw(st.sampled_from((0, 1, -3))))


@st.composite
def queries(draw: st.DrawFn, id: str, time: str) -> weft.Query:
    """One query."""
    rows = draw(st.integers(0, 9)) == 0
    measures = draw(st.lists(st.sampled_from(MEASURES), min_size=1, max_size=4, unique=True))
    having = draw(st.sampled_from(HAVING))
    return weft.Query(
        id,
        {f"m{number}": text for number, text in enumerate(measures)},
        draw(row_windows() if rows else time_windows()),
        where=draw(st.sampled_from(FILTERS)),
        group_by=draw(
            st.sampled_from(((), ("name",), ("name",), ("bucket",), ("name", "bucket")))
            | st.lists(st.sampled_from(KEYS), max_size=3, unique=True)
        ),
        having=None if having is None else having.format(draw(st.integers(0, 4))),
        time="tick" if rows else time,
    )


@st.composite
def workloads(draw: st.DrawFn, most: int = 6) -> weft.Workload:
    """A few queries over one stream, of one kind of time."""
    time = draw(st.sampled_from(("ts", "ts", "ts", "ntz")))
    return weft.Workload([draw(queries(f"q{number}", time)) for number in range(draw(st.integers(1, most)))])


def columns_read(workload: weft.Workload) -> set[str]:
    """The names of the columns that a workload needs."""
    expressions: list[ex.Expression] = []
    for query in workload:
        expressions += [column.expression for column in query.output] + list(query.group_by)
        expressions += [part for part in (query.where, query.having, query.time) if part is not None]
    return {column.path[0] for expression in expressions for column in ex.columns(expression)}


@dataclass(frozen=True)
class Choice:
    """How to plan: whatever can be chosen."""

    planner: str
    technique: str
    slicing: str
    feed: str
    rate: int
    keys: tuple[int, ...]
    """How many there are said to be: of every GROUP BY, or one number for each of `KEYS`."""

    def plan(self, workload: weft.Workload) -> weft.Plan:
        """The plan; where the technique cannot serve the workload, whichever can."""
        keys = self.keys[0] if len(self.keys) == 1 else dict(zip(KEYS, self.keys, strict=True))
        stats = weft.Stats(rate=self.rate, keys=keys, types=TYPES)
        needed = {p for query in workload for aggregate in query.aggregates for p in partials(aggregate)}
        able = self.technique == "auto" or why_not(BY_NAME[self.technique], needed, TYPES) is None
        try:
            plan = weft.optimize(workload, stats, self.planner, self.technique if able else "auto", self.slicing)
        except weft.BadRequest as refused:  # where the planner puts windows together that the technique cannot serve
            if "windows of one range" not in str(refused):
                raise
            plan = weft.optimize(workload, stats, self.planner, "auto", self.slicing)
        return replace(plan, feed=self.feed)


choices = st.builds(
    Choice,
    st.sampled_from(sorted(PLANNERS)),
    st.sampled_from(("auto", *(technique.name for technique in TECHNIQUES))),
    st.sampled_from(sorted(SLICERS)),
    st.sampled_from(("events", "slices")),
    st.sampled_from((1, 5, 1_000)),
    st.just((5,)) | st.tuples(*(st.sampled_from((1, 2, 7)) for _ in KEYS)),
)
