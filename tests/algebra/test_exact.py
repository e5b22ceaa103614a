"""Exact sums: columns of small integers against Python's integers and decimals, which never lose a digit."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.algebra import exact

BITS64, BITS128 = 2**63, 2**127
bigints = st.one_of(st.integers(-BITS64, BITS64 - 1), st.sampled_from((0, -1, BITS64 - 1, -BITS64, 2**32, -(2**32))))
wide = st.one_of(
    st.integers(-(10**38) + 1, 10**38 - 1),
    st.sampled_from((0, -1, 1, 2**32, 2**64, 2**96, -(2**32), -(2**64), -(2**96), 10**38 - 1, 1 - 10**38)),
)
counts = st.integers(1, 2**31 - 1) | st.integers(1, 20)


def two_digits(value: int) -> list[int]:
    return [value & 0xFFFF_FFFF, value >> 32]


def words(values: list[int]) -> npt.NDArray[np.int64]:
    """128-bit integers as rows of a low and a high word, as Arrow keeps decimals."""
    raw = b"".join(value.to_bytes(16, "little", signed=True) for value in values)
    return np.frombuffer(raw, np.int64).reshape(-1, 2)


def value_of(digits: npt.NDArray[np.int64]) -> int:
    return sum(int(digit) << (32 * place) for place, digit in enumerate(digits))


@given(values=st.lists(wide, min_size=1, max_size=5))
def test_digits_are_the_decimals(values: list[int]) -> None:
    digits = exact.digits_of_decimals(words(values))
    assert [value_of(row) for row in digits] == values
    assert np.all((digits[:, :3] >= 0) & (digits[:, :3] < 2**32))


@given(values=st.lists(wide, min_size=1, max_size=40), taken=st.lists(wide, max_size=40))
def test_carry_settles_sums_and_differences(values: list[int], taken: list[int]) -> None:
    digits = exact.digits_of_decimals(words(values)).sum(axis=0)
    if taken:
        digits = digits - exact.digits_of_decimals(words(taken)).sum(axis=0)
    before = digits.copy()
    settled = exact.carry(digits.reshape(1, 4))[0]
    assert value_of(settled) == sum(values) - sum(taken)
    assert np.all((settled[:3] >= 0) & (settled[:3] < 2**32))
    np.testing.assert_array_equal(digits, before)


@given(values=st.lists(bigints, min_size=1, max_size=8))
def test_sums_of_bigints(values: list[int]) -> None:
    total = sum(values)
    sums, overflow = exact.to_bigints(np.array([two_digits(value) for value in values]).sum(axis=0).reshape(1, 2))
    assert bool(overflow[0]) is not (-BITS64 <= total < BITS64)
    assert int(sums[0]) == (total + BITS64) % (2 * BITS64) - BITS64  # as integers wrap where they may


@given(values=st.lists(wide, min_size=1, max_size=8), precision=st.integers(1, 38))
def test_sums_of_decimals(values: list[int], precision: int) -> None:
    total = sum(values)
    sums, overflow = exact.to_decimals(exact.digits_of_decimals(words(values)).sum(axis=0).reshape(1, 4), precision)
    assert bool(overflow[0]) is (abs(total) >= 10**precision)
    if not overflow[0]:
        assert int.from_bytes(sums[0].tobytes(), "little", signed=True) == total


@pytest.mark.parametrize("precision", [1, 9, 18, 19, 38])
@pytest.mark.parametrize("sign", [1, -1])
def test_the_longest_decimal_and_the_next(precision: int, sign: int) -> None:
    most = 10**precision - 1
    digits = exact.digits_of_decimals(words([sign * most, sign * (most + 1)]))
    assert exact.to_decimals(digits, precision)[1].tolist() == [False, True]


def test_sums_beyond_128_bits_are_reported() -> None:
    digits = exact.digits_of_decimals(words([10**38 - 1])) * np.array([[5], [-5]])
    assert exact.to_decimals(digits, 38)[1].tolist() == [True, True]


@given(values=st.lists(wide, min_size=1, max_size=4))
def test_floats_are_near(values: list[int]) -> None:
    total = sum(values)
    found = exact.to_floats(exact.carry(exact.digits_of_decimals(words(values)).sum(axis=0).reshape(1, 4)))
    assert float(found[0]) == pytest.approx(float(total), rel=2**-51, abs=0)


@given(value=st.integers(-(2**53), 2**53), parts=st.integers(1, 9))
def test_whole_numbers_that_a_float_holds_are_exact(value: int, parts: int) -> None:
    split = [value // parts] * (parts - 1)
    split.append(value - sum(split))
    digits = np.array([two_digits(part) for part in split]).sum(axis=0).reshape(1, 2)
    assert float(exact.to_floats(digits)[0]) == value


@given(sums=st.lists(st.integers(-(10**33), 10**33), min_size=1, max_size=5), count=counts, shift=st.integers(0, 4))
def test_averages_are_rounded_half_away_from_zero(sums: list[int], count: int, shift: int) -> None:
    digits = exact.digits_of_decimals(words(sums))
    found, too_long = exact.averages(digits, np.full(len(sums), count), shift)
    assert not too_long.any()
    context = Context(prec=120)
    for row, total in zip(found, sums, strict=True):
        average = context.divide(Decimal(total).scaleb(shift, context), Decimal(count))
        assert value_of(row) == int(average.quantize(Decimal(1), ROUND_HALF_UP, context))


def test_averages_of_halves() -> None:
    digits = exact.digits_of_decimals(words([1, -1, 3, -3, 2**64 - 1, 0]))
    assert [value_of(row) for row in exact.averages(digits, np.full(6, 2), 0)[0]] == [1, -1, 2, -2, 2**63, 0]


def test_averages_round_up_through_every_digit() -> None:
    """A half that is rounded up carries from digit to digit."""
    digits = exact.digits_of_decimals(words([2**97 - 1, -(2**97) + 1]))
    assert [value_of(row) for row in exact.averages(digits, np.full(2, 2), 0)[0]] == [2**96, -(2**96)]


def test_averages_beyond_128_bits_are_reported() -> None:
    digits = exact.digits_of_decimals(words([10**37, -(10**37), 10**33]))
    assert exact.averages(digits, np.array([1, 1, 1]), 4)[1].tolist() == [True, True, False]
    assert exact.averages(digits, np.array([10**6, 10**6, 1]), 4)[1].tolist() == [False, False, False]
