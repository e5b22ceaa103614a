"""Partials made over Arrow are those that the JVM makes of the same rows: same columns, same types, same values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import functions as F

from tests.differential.frames import COLUMNS, TYPES, Frame
from weft.algebra.partials import Partial
from weft.queries import expressions as ex
from weft.spark.lanes import Source
from weft.spark.series import columns_of
from weft.spark.slices import partial_columns
from weft.spark.stream.blocks import Layout, sorted_block, together
from weft.spark.stream.folding import Fold, folded

KINDS = {
    "count": ("l", "text", "d"), "min": tuple(set(COLUMNS) - {"ntz", "ts"}), "max": tuple(set(COLUMNS) - {"ntz", "ts"}),
    "sum": ("b", "s", "i", "l", "f", "d", "price", "whole", "wide"), "moments": ("i", "l", "f", "d", "calm", "price"),
}  # fmt: skip
PARTIALS = [(kind, name) for kind, names in KINDS.items() for name in sorted(names)]


def layout(partials: Sequence[tuple[str, str]]) -> Layout:
    sources, at = [], 0
    for kind, name in partials:
        sources.append(Source(kind, TYPES[name], at))
        at += columns_of(kind, TYPES[name])
    return Layout(1, 0, tuple(sources))


def fold(partials: Sequence[tuple[str, str]]) -> Fold:
    return Fold(layout(partials), ("name",), "slice", (), tuple(name for _, name in partials), None)


@st.composite
def events(draw: st.DrawFn) -> Frame:
    rows = draw(st.integers(1, 40))
    return Frame({name: draw(st.lists(COLUMNS[name][1], min_size=rows, max_size=rows)) for name in COLUMNS})


@pytest.mark.spark
@settings(max_examples=3, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(frame=events())
def test_partials_are_those_of_the_jvm(spark: Any, frame: Frame) -> None:
    df = frame.on(spark)
    columns = [
        column.alias(f"partial_{number}")
        for number, column in enumerate(
            column
            for kind, name in PARTIALS
            for column in partial_columns(
                Partial(kind, ex.Column((name,))), {ex.Column((name,)): F.col(name)}, {ex.Column((name,)): TYPES[name]}
            )
        )
    ]
    expected = df.groupBy("name").agg(*columns).toArrow().sort_by("name").to_pylist()
    table = frame.table().append_column("slice", pa.array(np.zeros(len(frame.columns["name"]), np.int64)))
    block = folded(fold(PARTIALS), table, ansi=False)
    found = block.rows.append_column("name", block.keys["key_0"].take(block.rows["key"]))
    rows = pa.Table.from_batches([found]).sort_by("name").to_pylist()
    assert len(rows) == len(expected)
    at = 0
    for kind, name in PARTIALS:
        for part in range(columns_of(kind, TYPES[name])):
            for mine, theirs in zip(rows, expected, strict=True):
                spread = theirs[f"partial_{at + 1}"] if (kind, part) == ("moments", 1) else 0.0
                if spread is not None and math.isnan(spread):
                    continue  # nobody asks for the mean where there is no variance
                same(mine[f"partial_{at}"], theirs[f"partial_{at}"], f"column {part} of {kind}({name})", kind)
            at += 1


def same(mine: Any, theirs: Any, what: str, kind: str) -> None:
    if isinstance(theirs, float) and kind in ("sum", "moments") and math.isfinite(theirs):
        assert mine == pytest.approx(theirs, rel=1e-9, abs=64 * 2.0**-52 * 1e16**2), what
    elif isinstance(theirs, float) and math.isnan(theirs):
        assert math.isnan(mine), what
    else:
        assert mine == theirs, what


@settings(max_examples=30)
@given(frame=events(), cuts=st.lists(st.integers(0, 40), max_size=3), seed=st.integers(0, 99))
def test_blocks_merge_to_the_block_of_all_events(frame: Frame, cuts: list[int], seed: int) -> None:
    """Whatever the parts, and however often they are merged. Floats are left out: their sums depend on the order."""
    exact = [(kind, name) for kind, name in PARTIALS if TYPES[name] not in ("float", "double")]
    exact = [(kind, name) for kind, name in exact if kind != "moments"]
    how = fold(exact)
    table = frame.table()
    slices = np.random.default_rng(seed).integers(0, 3, table.num_rows)
    table = table.append_column("slice", pa.array(slices * 60))
    bounds = sorted({0, table.num_rows, *(min(cut, table.num_rows) for cut in cuts)})
    parts = [folded(how, table.slice(a, b - a), ansi=False) for a, b in pairwise(bounds)]
    whole = folded(how, table, ansi=False)
    assert shown(together(parts, how.layout, ansi=False)) == shown(whole)
    assert shown(together([together(parts[:2], how.layout, ansi=False), *parts[2:]], how.layout, False)) == shown(whole)


def shown(block: Any) -> list[tuple[Any, ...]]:
    keys = block.keys["key_0"].to_pylist()
    rows = [(keys[row.pop("key")], *row.values()) for row in block.rows.to_pylist()]
    return sorted(rows, key=str)


def test_a_sum_of_long_decimals_that_overflows_raises_or_stays_unknown() -> None:
    how = fold([("sum", "wide")])
    huge = Decimal("9" * 32 + ".0")
    table = pa.table(
        {
            "wide": pa.array([huge, huge], pa.decimal128(38, 6)),
            "name": pa.array(["a", "a"]),
            "slice": pa.array([0, 0]),
        }
    )
    with pytest.raises(OverflowError, match="ARITHMETIC_OVERFLOW"):
        folded(how, table, ansi=True)
    spoiled = folded(how, table, ansi=False)
    assert spoiled.rows.to_pylist() == [{"key": 0, "slice": 0, "partial_0": None, "partial_1": 2}]
    more = folded(how, table.slice(0, 1), ansi=False)
    merged = together([spoiled, more], how.layout, ansi=False)
    assert merged.rows.to_pylist() == [{"key": 0, "slice": 0, "partial_0": None, "partial_1": 3}]


def test_rows_of_a_block_stand_by_key_slice_and_signature() -> None:
    """However large the spans of slices and signatures are."""
    how = Layout(1, 1, (Source("rows", None, 0),))
    rng = np.random.default_rng(5)
    count = 500
    columns = [rng.integers(0, 5, count), rng.integers(0, 2**50, count), rng.integers(0, 2**61, count)]
    for number in range(1, 3):
        columns[number][::3] = 7
    names = ["key", "slice", "signature_0", "partial_0"]
    rows = pa.table([*map(pa.array, columns), pa.array(np.ones(count, np.int64))], names)
    block = sorted_block(pa.RecordBatch.from_pydict({"key_0": list("abcde")}), columns[0], rows, how, ansi=True)
    found = list(zip(*(block.rows[name].to_pylist() for name in names[:3]), strict=True))
    assert found == sorted(set(zip(*(column.tolist() for column in columns), strict=True)))
    assert sum(block.rows["partial_0"].to_pylist()) == count
