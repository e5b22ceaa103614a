"""Ordering codes sort as Spark sorts: minus infinity first, NaN above everything, the two zeros beside each other."""

from __future__ import annotations

import math
from functools import cmp_to_key

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from weft.algebra import ordering

numbers = st.floats() | st.sampled_from((0.0, -0.0, math.nan, -math.nan, math.inf, -math.inf, 5e-324, -5e-324))


def before(a: float, b: float) -> int:
    """Spark's order, from its documentation on NaN semantics: NaN equals NaN and is larger than any other value."""
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) - math.isnan(b)
    return (a > b) - (a < b)


@given(values=st.lists(numbers, min_size=1, max_size=30))
def test_codes_sort_like_spark(values: list[float]) -> None:
    codes = ordering.from_floats(np.array(values)).tolist()
    mine = [value for _, value in sorted(zip(codes, values, strict=True), key=lambda pair: pair[0])]
    for a, b in zip(mine, sorted(values, key=cmp_to_key(before)), strict=True):
        assert before(a, b) == 0
    for value, code in zip(values, codes, strict=True):
        for other, another in zip(values, codes, strict=True):
            if before(value, other) < 0:
                assert code < another


@given(values=st.lists(numbers, min_size=1, max_size=30))
def test_codes_come_back_as_the_values(values: list[float]) -> None:
    back = ordering.to_floats(ordering.from_floats(np.array(values)))
    for value, again in zip(values, back.tolist(), strict=True):
        assert (math.isnan(value) and math.isnan(again)) or value.hex() == again.hex()


def test_every_nan_is_the_same_nan() -> None:
    strange = np.array([0xFFF8_0000_0000_0001, 0x7FF0_0000_0000_0001, 0x7FF8_0000_0000_0000], np.uint64)
    assert len(set(ordering.from_floats(strange.view(np.float64)).tolist())) == 1


def test_columns_of_a_matrix_come_back() -> None:
    """What a kernel returns is a column of a matrix, not an array of its own."""
    codes = np.column_stack((ordering.from_floats(np.array([1.5, -2.0])), [7, 7]))
    assert ordering.to_floats(codes[:, 0]).tolist() == [1.5, -2.0]
