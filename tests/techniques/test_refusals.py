"""What a technique does not do, it says, with the reason."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.techniques.operators import CASES
from weft.algebra.operators import MAX, Operator, laws, sum_of
from weft.algebra.partials import Partial
from weft.errors import BadRequest
from weft.queries import expressions as ex
from weft.techniques import AUTO, BY_NAME, TECHNIQUES, why_not
from weft.techniques.b_int_qnt import quantile
from weft.techniques.snapshots import packed, unpacked
from weft.techniques.technique import Shape, Technique

COLUMN = ex.Column(("x",))
REFUSED = [
    ("r_int", Partial("min", COLUMN), {"x": "int"}, "min(x) is not invertible"),
    ("subtract_on_evict", Partial("max", COLUMN), {"x": "int"}, "max(x) is not invertible"),
    ("slickdeque_inv", Partial("moments", COLUMN), {"x": "int"}, "moments(x) is not invertible"),
    ("r_int", Partial("sum", COLUMN), {"x": "double"}, "sum(x) is over double"),
    ("r_int", Partial("sum", COLUMN), {"x": "float"}, "sum(x) is over float"),
    ("r_int", Partial("sum", COLUMN), {}, "sum(x) may be over floating-point numbers"),
    ("r_int", Partial("sum", ex.Operation("abs", (COLUMN,))), {"x": "int"}, "sum(abs(x)) may be over"),
    ("slickdeque_noninv", Partial("sum", COLUMN), {"x": "int"}, "count(*) is not selective"),
    ("b_int_qnt", Partial("max", COLUMN), {"x": "int"}, "count(*) is not a quantile of values"),
]
ADMITTED = [
    ("r_int", Partial("rows", None), {}),
    ("subtract_on_evict", Partial("count", COLUMN), {}),
    *(
        ("r_int", Partial("sum", COLUMN), {"x": type_})
        for type_ in ("tinyint", "smallint", "int", "bigint", "decimal(38,6)")
    ),
    *(
        (technique.name, Partial(kind, COLUMN), {})
        for technique in TECHNIQUES
        if not technique.needs
        for kind in ("count", "sum", "min", "max", "moments")
    ),
]


@pytest.mark.parametrize(("technique", "partial", "types", "words"), REFUSED)
def test_refusals_say_why(technique: str, partial: Partial, types: dict[str, str], words: str) -> None:
    reason = why_not(BY_NAME[technique], [Partial("rows", None), partial], types)
    assert reason is not None
    assert reason.startswith(words)


@pytest.mark.parametrize(("technique", "partial", "types"), ADMITTED)
def test_admissions(technique: str, partial: Partial, types: dict[str, str]) -> None:
    assert why_not(BY_NAME[technique], [Partial("rows", None), partial], types) is None


OPERATORS: dict[str, Operator] = {name: case.operator for name, case in CASES.items()}
OPERATORS["quantile"] = quantile(["1/2"])  # type: ignore[assignment]


@pytest.mark.parametrize("technique", TECHNIQUES, ids=lambda technique: technique.name)
@pytest.mark.parametrize("operator", OPERATORS.values(), ids=OPERATORS)
def test_a_structure_starts_only_where_the_operator_obeys_its_laws(technique: Technique, operator: Operator) -> None:
    ranked = operator is OPERATORS["quantile"]
    if technique.needs <= laws(operator) and ranked == (technique.name == "b_int_qnt"):
        assert technique.start(operator, Shape(3))[0][0] == 0
    else:
        with pytest.raises(BadRequest, match=r"is not |cannot be put together"):
            technique.start(operator, Shape(3))


def some(technique: Technique) -> Operator:
    return next(op for op in (sum_of(int, 1), MAX, OPERATORS["quantile"]) if technique.needs <= laws(op))


WINDOWS: list[tuple[str, list[tuple[int, int]], str]] = [
    ("no slice", [(3, 3)], "window [3, 3) covers no slice"),
    ("backwards", [(4, 3)], "window [4, 3) covers no slice"),
    ("too wide", [(0, 6)], "window [0, 6) covers 6 slices, and the structure was made for 5"),
    ("not there yet", [(9, 11)], "window [9, 11) ends after the newest slice, which is 9"),
    ("before the first slice", [(-2, 1)], "window [-2, 1)"),
]


@pytest.mark.parametrize("technique", TECHNIQUES, ids=lambda technique: technique.name)
@pytest.mark.parametrize(("windows", "words"), [case[1:] for case in WINDOWS], ids=[case[0] for case in WINDOWS])
def test_windows_that_cannot_be_answered(technique: Technique, windows: list[tuple[int, int]], words: str) -> None:
    operator = some(technique)
    lo, hi = (np.array(column, np.int64) for column in zip(*windows, strict=True))
    state = technique.start(operator, Shape(5))
    with pytest.raises(BadRequest) as refused:
        technique.advance(operator, state, np.ones((10, 1), np.int64), lo, hi)
    assert words in str(refused.value)
    assert state[0][0] == 0, "nothing has come in"


@pytest.mark.parametrize("technique", TECHNIQUES, ids=lambda technique: technique.name)
def test_windows_out_of_order(technique: Technique) -> None:
    operator, slices = some(technique), np.ones((10, 1), np.int64)
    backwards = np.array([5, 2], np.int64)
    state = technique.start(operator, Shape(5))
    if technique.historical:
        technique.advance(operator, state, slices, backwards, backwards + 2)
        with pytest.raises(BadRequest, match="begins before the 5 slices that are kept"):
            technique.advance(operator, state, slices[:0], np.array([4]), np.array([6]))
    else:
        with pytest.raises(BadRequest, match="window \\[2, 4\\) is out of order: windows are answered by end"):
            technique.advance(operator, state, slices, backwards, backwards + 2)


@pytest.mark.parametrize("technique", [t for t in TECHNIQUES if t.one_range], ids=lambda technique: technique.name)
def test_a_second_range_is_refused(technique: Technique) -> None:
    operator = some(technique)
    state = technique.start(operator, Shape(5))
    lo, hi = np.array([3, 1]), np.array([4, 5])
    with pytest.raises(BadRequest, match="window \\[1, 5\\) is out of order: windows are answered by end and by begin"):
        technique.advance(operator, state, np.ones((10, 1), np.int64), lo, hi)


def test_a_width_that_landmarks_were_not_made_for() -> None:
    technique, operator = BY_NAME["l_int"], sum_of(int, 1)
    state = technique.start(operator, Shape(8, widths=(8,)))
    slices = np.arange(9).reshape(-1, 1)
    with pytest.raises(BadRequest, match="a window of a width that it was not made for"):
        technique.advance(operator, state, slices, np.array([0]), np.array([3]))
    assert technique.advance(operator, state, slices, np.array([1]), np.array([9])).tolist() == [[36]]


def test_a_structure_for_nothing() -> None:
    with pytest.raises(BadRequest, match="the widest window has 0 slices"):
        BY_NAME["panes"].start(MAX, Shape(0))


@pytest.mark.parametrize("change", ["technique", "operator", "format", "truncated", "garbage"])
def test_snapshots_of_something_else(change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    technique, operator = BY_NAME["daba_lite"], sum_of(int, 1)
    snapshot = packed(technique, operator, technique.start(operator, Shape(4)))
    reader: tuple[Any, Any] = (technique, operator)
    words = "Build the structure again from its slices"
    if change == "technique":
        reader, words = (BY_NAME["daba"], operator), "the snapshot is of technique 'daba_lite', and this is 'daba'"
    elif change == "operator":
        reader, words = (technique, MAX), "the snapshot is of operator 'sum', and this is 'max'"
    elif change == "format":
        monkeypatch.setattr("weft.techniques.snapshots.FORMAT", 2)
        words = "the snapshot is of format 1, and this is 2"
    else:
        snapshot = snapshot[:100] if change == "truncated" else b"garbage"
    with pytest.raises(BadRequest, match=words):
        unpacked(*reader, snapshot)


def test_the_registry() -> None:
    assert list(BY_NAME) == [technique.name for technique in TECHNIQUES]
    assert len(BY_NAME) == len(TECHNIQUES)
    assert set(AUTO) < set(TECHNIQUES)
    assert all(t.title and t.first_appeared and t.omega.formula and t.time and t.space for t in TECHNIQUES)


def test_a_formula_is_said_as_it_is_counted() -> None:
    for omega in (technique.omega for technique in TECHNIQUES):
        for reading in ("refined", "quick"):
            assert (omega.said(reading) != omega.formula) == (omega.read(reading) is not omega.paper)
        assert omega.said("operations") == omega.formula
