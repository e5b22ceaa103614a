"""What a Python worker answers from slices, without a Spark in sight: every type that may come over Arrow.

Columns have nulls and offsets (a batch is often a slice of another), and a filter picks rows by a bit.
"""

from __future__ import annotations

import math
from datetime import date, datetime, timezone
from decimal import Context, Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.spark.answers import Job, answering
from weft.spark.bundles import Shape
from weft.spark.lanes import Answer, Lane, Source, WindowOf

UTC = timezone.utc  # noqa: UP017 - the same name for all of Arrow's versions
VALUES: dict[str, tuple[pa.DataType, list[Any]]] = {
    "tinyint": (pa.int8(), [0, 1, -128, 127]),
    "smallint": (pa.int16(), [0, 1, -32_768, 32_767]),
    "int": (pa.int32(), [0, 1, -(2**31), 2**31 - 1]),
    "bigint": (pa.int64(), [0, 1, -(2**63), 2**63 - 1]),
    "float": (pa.float32(), [0.5, -2.25, math.inf, -math.inf, math.nan]),
    "double": (pa.float64(), [0.1, -1e300, math.inf, -math.inf, math.nan]),
    "boolean": (pa.bool_(), [True, False]),
    "date": (pa.date32(), [date(1, 1, 1), date(1969, 12, 31), date(9999, 12, 31)]),
    "timestamp": (pa.timestamp("us", "UTC"), [datetime(1, 1, 2, tzinfo=UTC), datetime(2024, 2, 29, 1, 2, 3, 4, UTC)]),
    "timestamp_ntz": (pa.timestamp("us"), [datetime(1, 1, 1), datetime(1969, 12, 31, 23, 59, 59, 999_999)]),
    "string": (pa.string(), ["", "a", "Z", "ä", "日本", "😀", "a" * 100]),
    "binary": (pa.binary(), [b"", b"\x00", b"\xff", b"\x7f"]),
    "decimal(10,2)": (pa.decimal128(10, 2), [Decimal("0.00"), Decimal("-99999999.99"), Decimal("99999999.99")]),
    "decimal(18,0)": (pa.decimal128(18, 0), [Decimal(10**18 - 1), Decimal(1 - 10**18), Decimal(5)]),
    "decimal(38,6)": (pa.decimal128(38, 6), [Decimal("1e31"), Decimal("-1e31"), Decimal("0.000001"), Decimal(-1)]),
}
STORED = {"tinyint": "bigint", "smallint": "bigint", "int": "bigint", "float": "double"}


def largest(values: list[Any]) -> Any:
    """As Spark orders: NaN above all, text by its bytes."""
    if any(isinstance(value, float) and math.isnan(value) for value in values):
        return math.nan
    return max(values, key=lambda value: value.encode() if isinstance(value, str) else value)


def smallest(values: list[Any]) -> Any:
    plain = [value for value in values if not (isinstance(value, float) and math.isnan(value))]
    return min(plain, key=lambda value: value.encode() if isinstance(value, str) else value) if plain else math.nan


def same(left: Any, right: Any) -> bool:
    if isinstance(left, float) and isinstance(right, float) and math.isnan(left):
        return math.isnan(right)
    return bool(left == right)


def answer_of(
    function: str, kinds: list[tuple[str, str | None]], type_: str, columns: list[pa.Array], size: int, **more: Any
) -> list[tuple[int, Any]]:
    """Start and value of every window of this many slices, over one slice a tick and one key."""
    count = len(columns[0])
    sources, at = [], 0
    for kind, argument in kinds:
        sources.append(Source(kind, argument, at))
        at += 1 if len(kinds) > 1 else len(columns)
    stored = STORED.get(type_, type_)
    answer = Answer(function, tuple(range(len(kinds))), type_, 0, more.get("shift", 0))
    chosen = more.get("chosen")
    lane = Lane(
        None if chosen is None else (0, 3),
        more.get("technique", "disjoint_table"),
        (WindowOf(size, 1, 0, 0, ((0, (answer,)),)),),
    )
    names = ("query", "row_start", "row_end", "value")
    job = Job((lane,), tuple(sources), 0, Shape(names, (stored,), ("q",), "bigint", False), more.get("ansi", True))
    signature = np.array([8 if chosen is None or bit else 7 for bit in chosen or [1] * count], np.int64)
    rows = pa.RecordBatch.from_arrays(
        [
            pa.array(np.arange(count)),
            pa.array(np.full(count, 2, np.int32)),
            pa.array(signature),
            *columns,
        ],
        ["slice", "rank", "signature_0", *(f"partial_{number}" for number in range(len(columns)))],
    )
    found = list(answering(job)([rows]))
    if found:
        expected = {"bigint": pa.int64(), "double": pa.float64()}
        assert found[0].schema.field("value").type.value_type == expected.get(stored, VALUES.get(stored, (None,))[0])
    rows_of = (run for batch in found for run in batch.to_pylist())
    return [pair for run in rows_of for pair in zip(run["row_start"], run["value"], strict=True)]


def shifted(values: list[Any], type_: pa.DataType) -> pa.Array:
    """An array that begins in the middle of another one."""
    return pa.array([None, *values[:1], *values], type_).slice(1 + len(values[:1]))


def windows_of(values: list[Any], size: int) -> list[tuple[int, list[Any]]]:
    """The start of every window of a size, and its values less the nulls."""
    return [
        (start, [value for value in values[max(start, 0) : start + size] if value is not None])
        for start in range(1 - size, len(values))
    ]


@pytest.mark.parametrize("type_", VALUES)
@pytest.mark.parametrize("function", ["min", "max"])
@given(data=st.data(), size=st.integers(1, 6))
def test_extremes_of_every_type(type_: str, function: str, data: st.DataObject, size: int) -> None:
    arrow, pool = VALUES[type_]
    values = data.draw(st.lists(st.sampled_from([*pool, None]), min_size=1, max_size=15))
    found = answer_of(function, [(function, type_)], type_, [shifted(values, arrow)], size)
    pick = smallest if function == "min" else largest
    expected = [(start, pick(window) if window else None) for start, window in windows_of(values, size)]
    assert [start for start, _ in found] == [start for start, _ in expected]
    for (_, mine), (start, wanted) in zip(found, expected, strict=True):
        assert same(mine, wanted), start


@pytest.mark.parametrize("type_", VALUES)
def test_nothing_but_nulls(type_: str) -> None:
    found = answer_of("min", [("min", type_)], type_, [pa.nulls(3, VALUES[type_][0])], 2)
    assert found == [(-1, None), (0, None), (1, None), (2, None)]


def millionths(value: int) -> Decimal:
    return Decimal(value).scaleb(-6, Context(prec=50))


wide = st.integers(-(10**36), 10**36) | st.sampled_from((0, 1, -1, 2**64, -(2**64)))


@given(values=st.lists(wide | st.none(), min_size=1, max_size=12), size=st.integers(1, 5), exact=st.booleans())
def test_sums_of_long_decimals(values: list[int | None], size: int, exact: bool) -> None:
    numbers = [None if value is None else millionths(value) for value in values]
    column = shifted(numbers, pa.decimal128(38, 6))
    many = pa.array([0 if value is None else 1 for value in values], pa.int64())
    technique = "r_int" if exact else "disjoint_table"
    found = answer_of("sum", [("sum", "decimal(38,6)")], "decimal(38,6)", [column, many], size, technique=technique)
    added = [(start, sum(window) if window else None) for start, window in windows_of(values, size)]
    assert found == [(start, None if total is None else millionths(total)) for start, total in added]


def test_a_slice_that_overflowed_spoils_its_windows() -> None:
    """Without ANSI mode, Spark's sum of decimals is null where it does not fit; so is every window over it."""
    column = pa.array([Decimal(1), None, None, Decimal(2)], pa.decimal128(38, 6))
    many = pa.array([1, 5, 0, 1], pa.int64())
    found = answer_of("sum", [("sum", "decimal(38,6)")], "decimal(38,6)", [column, many], 2, ansi=False)
    assert found == [(-1, Decimal(1)), (0, None), (1, None), (2, Decimal(2)), (3, Decimal(2))]


bigint = st.integers(-(2**63), 2**63 - 1)


def halves(values: list[int | None]) -> list[pa.Array]:
    low = [None if value is None else value & 0xFFFF_FFFF for value in values]
    high = [None if value is None else value >> 32 for value in values]
    return [shifted(low, pa.int64()), shifted(high, pa.int64())]


@given(values=st.lists(bigint | st.none(), min_size=1, max_size=12), size=st.integers(1, 5))
def test_sums_of_bigints_wrap_without_ansi_mode(values: list[int | None], size: int) -> None:
    found = answer_of("sum", [("sum", "bigint")], "bigint", halves(values), size, ansi=False)
    expected = [
        (start, (sum(window) + 2**63) % 2**64 - 2**63 if window else None) for start, window in windows_of(values, size)
    ]
    assert found == expected


def test_sums_of_bigints_do_not_wrap_in_ansi_mode() -> None:
    with pytest.raises(OverflowError, match=r"query 'q': sum does not fit bigint \[ARITHMETIC_OVERFLOW\]"):
        answer_of("sum", [("sum", "bigint")], "bigint", halves([2**62, 2**62]), 2)
    assert answer_of("sum", [("sum", "bigint")], "bigint", halves([2**62, 2**62, -(2**62)]), 1)[0] == (0, 2**62)


@given(values=st.lists(st.integers(-1000, 1000) | st.none(), min_size=1, max_size=12), size=st.integers(1, 5))
def test_averages_of_decimals_round_half_away_from_zero(values: list[int | None], size: int) -> None:
    numbers = [None if value is None else Decimal(value).scaleb(-2) for value in values]
    columns = [shifted(numbers, pa.decimal128(20, 2)), pa.array([int(v is not None) for v in values], pa.int64())]
    kinds = [("sum", "decimal(10,2)"), ("count", "decimal(10,2)")]
    VALUES.setdefault("decimal(14,6)", (pa.decimal128(14, 6), []))
    found = answer_of("avg", kinds, "decimal(14,6)", columns, size, shift=4)
    for (start, mine), (_, window) in zip(found, windows_of(numbers, size), strict=True):
        if not window:
            assert mine is None
            continue
        assert abs(mine - sum(window) / len(window)) <= Decimal("0.0000005"), start


@given(
    values=st.lists(st.integers(-50, 50) | st.none(), min_size=1, max_size=15),
    size=st.integers(1, 6),
    data=st.data(),
)
def test_a_filter_takes_the_rows_with_its_bit(values: list[int | None], size: int, data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.booleans(), min_size=len(values), max_size=len(values)))
    found = answer_of("sum", [("sum", "int")], "bigint", [shifted(values, pa.int64())], size, chosen=chosen)
    expected = []
    for start in range(1 - size, len(values)):
        inside = [i for i in range(max(start, 0), min(start + size, len(values))) if chosen[i]]
        if inside:
            numbers = [values[i] for i in inside if values[i] is not None]
            expected.append((start, sum(numbers) if numbers else None))  # type: ignore[arg-type]
    assert found == expected


@pytest.mark.parametrize("function", ["var_pop", "var_samp", "stddev_pop", "stddev_samp"])
@given(groups=st.lists(st.lists(st.integers(-100, 100), max_size=4), min_size=1, max_size=10), size=st.integers(1, 5))
def test_spreads(function: str, groups: list[list[int]], size: int) -> None:
    """Slices of a few values each, some of none: the variance of all values behind a window."""
    columns = [
        pa.array([len(group) for group in groups], pa.int64()),
        pa.array([np.mean(group) if group else None for group in groups], pa.float64()),
        pa.array([np.var(group) if group else None for group in groups], pa.float64()),
    ]
    found = answer_of(function, [("moments", "double")], "double", columns, size)
    fewest = 2 if function.endswith("samp") else 1
    for (start, mine), (_, window) in zip(found, windows_of(groups, size), strict=True):
        values = [value for group in window for value in group]
        if len(values) < fewest:
            assert mine is None, start
            continue
        variance = np.var(values, ddof=fewest - 1)
        assert mine == pytest.approx(math.sqrt(variance) if "stddev" in function else variance, abs=1e-6), start
