"""Every technique in a worker: several windows over several keys with gaps, in one lane, against adding up rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.algebra.partials import Law
from weft.spark.answers import Job, answering
from weft.spark.bundles import Shape
from weft.spark.lanes import Answer, Lane, Source, WindowOf
from weft.techniques import TECHNIQUES
from weft.techniques.technique import Technique

Key = list[tuple[int, int]]
"""Slices of a key: where each begins, and its sum."""

keys = st.lists(
    st.lists(st.tuples(st.integers(0, 60), st.integers(-9, 9)), min_size=1, max_size=14, unique_by=lambda s: s[0]).map(
        sorted
    ),
    min_size=1,
    max_size=4,
)
LAWS = {"count": Law.INVERTIBLE, "sum": Law.INVERTIBLE, "max": Law.SELECTIVE}
windows = st.tuples(st.integers(1, 25), st.integers(1, 12), st.integers(-5, 5))


def expected(slices: list[Key], size: int, slide: int, offset: int, of: str) -> Iterator[tuple[int, int, int]]:
    """Key, begin and answer of every window that holds a slice."""
    for number, rows in enumerate(slices):
        begin = (rows[0][0] - size - offset) // slide * slide + slide + offset
        while begin <= rows[-1][0]:
            inside = [value for at, value in rows if begin <= at < begin + size]
            if inside:
                yield number, begin, {"sum": sum, "max": max, "count": len}[of](inside)
            begin += slide


@pytest.mark.parametrize(
    "technique", [t for t in TECHNIQUES if t.name != "b_int_qnt"], ids=lambda technique: technique.name
)
@given(slices=keys, asked=st.lists(windows, min_size=1, max_size=4))
def test_windows_of_all_ranges(technique: Technique, slices: list[Key], asked: list[tuple[int, int, int]]) -> None:
    functions = [f for f in LAWS if technique.needs <= {LAWS[f]}]
    sources = {"count": Source("rows", None, 0), "sum": Source("sum", "int", 1), "max": Source("max", "bigint", 1)}
    answers = tuple(Answer(f, (number,), "bigint", number) for number, f in enumerate(functions))
    lane = Lane(None, technique.name, tuple(WindowOf(*window, 0, ((q, answers),)) for q, window in enumerate(asked)))
    names = ("query", "key", "row_start", "row_end", *(f"value_{f}" for f in functions))
    shape = Shape(names, ("bigint",) * len(functions), tuple(map(str, range(len(asked)))), "bigint", False)
    job = Job((lane,), tuple(sources[f] for f in functions), 1, shape, True)
    rows = [(number, at, value, rank) for number, key in enumerate(slices) for rank, (at, value) in enumerate(key, 1)]
    key, at, value, rank = (np.array(column, np.int64) for column in zip(*rows, strict=True))
    batch = pa.RecordBatch.from_arrays(
        [
            pa.array(key),
            pa.array(at),
            pa.array(rank.astype(np.int32)),
            pa.array(np.ones(len(rows), np.int64)),
            pa.array(value),
        ],
        ["key_0", "slice", "rank", "partial_0", "partial_1"],
    )
    found: dict[tuple[str, str], list[tuple[int, int, int]]] = {}
    for bundle in answering(job)([batch]):
        for run in bundle.to_pylist():
            for f in functions:
                told = zip(run["row_start"], run[f"value_{f}"], strict=True)
                found.setdefault((run["query"], f), []).extend((run["key"], begin, answer) for begin, answer in told)
    for number, window in enumerate(asked):
        for f in functions:
            assert found.get((str(number), f), []) == list(expected(slices, *window, f)), (window, f)
