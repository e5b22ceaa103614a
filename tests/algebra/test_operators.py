"""Operators obey the laws that they claim, in Python as in kernels, and the counted ones count."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.techniques.operators import CASES, Case
from weft.algebra.counted import counted
from weft.algebra.operators import cells, combine, is_newer, laws, load, removed, store
from weft.algebra.partials import Law
from weft.jit import kernel


@kernel
def _thrice(operator, partials, out):  # type: ignore[no-untyped-def]
    """(0 with 1) with 2, 0 with (1 with 2), and 0 with the identity on both sides."""
    a, b, c = load(operator, partials, 0), load(operator, partials, 1), load(operator, partials, 2)
    store(operator, out, 0, combine(operator, combine(operator, a, b), c))
    store(operator, out, 1, combine(operator, a, combine(operator, b, c)))
    store(operator, out, 2, combine(operator, operator.identity, combine(operator, a, operator.identity)))


@kernel
def _taken_apart(operator, partials, out):  # type: ignore[no-untyped-def]
    a, b = load(operator, partials, 0), load(operator, partials, 1)
    store(operator, out, 0, removed(operator, combine(operator, a, b), a))


@kernel
def _newer(operator, partials):  # type: ignore[no-untyped-def]
    return is_newer(operator, load(operator, partials, 0), load(operator, partials, 1))


@st.composite
def three(draw: st.DrawFn, case: Case) -> Any:
    return case.slices(draw(st.lists(case.slice, min_size=3, max_size=3)))


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@given(data=st.data())
def test_operators_are_associative_and_have_an_identity(case: Case, data: st.DataObject) -> None:
    partials = data.draw(three(case))
    out = cells(case.operator, 3)
    _thrice(case.operator, partials, out)
    expected = case.recomputed(partials)
    assert out[0].tolist() == pytest.approx(expected, rel=1e-12, abs=1e-9)
    assert out[1].tolist() == pytest.approx(expected, rel=1e-12, abs=1e-9)
    assert out[2].tolist() == partials[0].tolist()


@pytest.mark.parametrize("case", [c for c in CASES.values() if Law.INVERTIBLE in laws(c.operator)])
@given(data=st.data())
def test_invertible_operators_can_be_taken_apart(case: Case, data: st.DataObject) -> None:
    partials, out = data.draw(three(case)), cells(case.operator, 1)
    _taken_apart(case.operator, partials, out)
    assert out[0].tolist() == partials[1].tolist()


@pytest.mark.parametrize("case", [c for c in CASES.values() if Law.SELECTIVE in laws(c.operator)])
@given(data=st.data())
def test_selective_operators_give_one_of_the_two(case: Case, data: st.DataObject) -> None:
    partials = data.draw(three(case))[:2]
    assert case.recomputed(partials) == partials[int(_newer(case.operator, partials))].tolist()


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_python_says_the_same_as_kernels(case: Case) -> None:
    partials = cells(case.operator, 3) + 1
    out = cells(case.operator, 3)
    _thrice(case.operator, partials, out)
    a, b, c = (load(case.operator, partials, row) for row in range(3))
    plain = cells(case.operator, 1)
    store(case.operator, plain, 0, combine(case.operator, combine(case.operator, a, b), c))
    assert plain[0].tolist() == out[0].tolist()


def test_what_is_used_is_counted_and_the_identity_is_free() -> None:
    operator = counted(CASES["sum of integers"].operator)
    out = cells(operator, 3)
    _thrice(operator, np.array([[1], [2], [3]]), out)
    assert operator.counts.tolist() == [4, 0]
    _taken_apart(operator, np.array([[1], [2], [3]]), out)
    assert operator.counts.tolist() == [5, 1]


def test_laws_that_are_not_claimed() -> None:
    claimed = {name: laws(case.operator) for name, case in CASES.items()}
    assert claimed["sum of floats"] == claimed["moments"] == claimed["text"] == frozenset()
    assert claimed["argmax"] == claimed["min"] == claimed["max"] == {Law.SELECTIVE}
    assert claimed["matrices"] == claimed["sum of digits"] == {Law.INVERTIBLE}
