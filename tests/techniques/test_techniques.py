"""Every technique with every operator that it may serve: answers are those of adding the slices up one by one.

The matrix is over stretches of slices of one or several keys, lengths that are no powers of two, a single slice, and
windows narrower than the stretch, as narrow as a slice, and as wide as all of it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.algebra.operators import ADD, MAX, MIN, MOMENTS, identity
from weft.algebra.partials import Law, Partial
from weft.queries import expressions as ex
from weft.techniques import BY_NAME, TECHNIQUES, why_not
from weft.techniques.technique import Technique

INT, FLOAT = np.dtype(np.int64), np.dtype(np.float64)
SHAPES = {
    "sum of integers": (ADD, INT, 1),
    "sum of digits": (ADD, INT, 4),
    "sum of floats": (ADD, FLOAT, 1),
    "min": (MIN, INT, 1),
    "max": (MAX, INT, 1),
    "moments": (MOMENTS, FLOAT, 3),
}
LAWS = {
    "sum of integers": {Law.INVERTIBLE},
    "sum of digits": {Law.INVERTIBLE},
    "sum of floats": set(),
    "min": {Law.SELECTIVE},
    "max": {Law.SELECTIVE},
    "moments": set(),
}
PAIRS = [
    pytest.param(technique, shape, id=f"{technique.name}, {shape}")
    for technique in TECHNIQUES
    for shape in SHAPES
    if technique.needs <= LAWS[shape]
]


def recomputed(shape: str, run: npt.NDArray[Any]) -> list[float]:
    """A run of slices put together, one column at a time; moments from what they are moments of."""
    operator = SHAPES[shape][0]
    if operator == MIN:
        return [min(run[:, 0].tolist())]
    if operator == MAX:
        return [max(run[:, 0].tolist())]
    if operator == ADD and run.dtype == INT:
        return [sum(column) for column in run.T.tolist()]
    if operator == ADD:
        return [math.fsum(column) for column in run.T.tolist()]
    filled = [(n, mean, spread) for n, mean, spread in run.tolist() if n]
    count = math.fsum(n for n, _, _ in filled)
    if not count:
        return [0.0, 0.0, 0.0]
    mean = math.fsum(n * m for n, m, _ in filled) / count
    return [count, mean, math.fsum(s + n * (m - mean) ** 2 for n, m, s in filled)]


def slices(draw: st.DrawFn, shape: str, count: int) -> npt.NDArray[Any]:
    """Partials of some slices, empty ones among them."""
    operator, dtype, width = SHAPES[shape]
    if operator == MOMENTS:
        moments = st.tuples(st.integers(0, 5), st.integers(-50, 50), st.integers(0, 9))
        drawn = [(n, m, s) if n else (0, 0, 0) for n, m, s in draw(st.lists(moments, min_size=count, max_size=count))]
        return np.array(drawn, dtype)
    number = st.integers(-(2**40), 2**40) if dtype == INT else st.integers(-1000, 1000).map(lambda n: n / 4)
    either = st.one_of(number, st.just(identity(operator)))
    rows = st.lists(st.lists(either, min_size=width, max_size=width), min_size=count, max_size=count)
    return np.array(draw(rows), dtype)


@st.composite
def stretches(draw: st.DrawFn, shape: str) -> tuple[npt.NDArray[Any], int, list[tuple[int, int]]]:
    """Slices of some keys after each other, the widest run, and runs, none of which crosses from key to key."""
    lengths = draw(st.lists(st.integers(1, 23), min_size=1, max_size=3))
    begins = [sum(lengths[:number]) for number in range(len(lengths))]
    widest = draw(st.integers(1, max(lengths)))
    runs = []
    for begin, length in zip(begins, lengths, strict=True):
        for _ in range(draw(st.integers(1, 6))):
            size = draw(st.integers(1, min(widest, length)))
            lo = draw(st.integers(0, length - size))
            runs.append((begin + lo, begin + lo + size))
    return slices(draw, shape, sum(lengths)), widest, runs


def folded(
    technique: Technique, shape: str, partials: npt.NDArray[Any], widest: int, runs: list[tuple[int, int]]
) -> npt.NDArray[Any]:
    operator = SHAPES[shape][0]
    lo, hi = (np.array(ends, np.int64) for ends in zip(*runs, strict=True))
    out = np.full((len(runs), partials.shape[1]), 77, partials.dtype)
    technique.fold(operator, technique.build(operator, partials, widest), lo, hi, out)
    return out


@pytest.mark.parametrize(("technique", "shape"), PAIRS)
@given(data=st.data())
def test_answers_are_recomputed_ones(technique: Technique, shape: str, data: st.DataObject) -> None:
    partials, widest, runs = data.draw(stretches(shape))
    before = partials.copy()
    answers = folded(technique, shape, partials, widest, runs)
    for answer, (lo, hi) in zip(answers.tolist(), runs, strict=True):
        expected = recomputed(shape, partials[lo:hi])
        if shape == "moments":
            assert answer == pytest.approx(expected, rel=1e-12, abs=1e-9), (lo, hi)
        else:  # integers, and quarters that floats hold exactly
            assert answer == expected, (lo, hi)
    np.testing.assert_array_equal(partials, before)


@pytest.mark.parametrize(("technique", "shape"), PAIRS)
def test_a_single_slice(technique: Technique, shape: str) -> None:
    _, dtype, width = SHAPES[shape]
    partials = np.arange(5, 5 + width).astype(dtype).reshape(1, width)
    assert folded(technique, shape, partials, 1, [(0, 1), (0, 1)]).tolist() == [partials[0].tolist()] * 2


@pytest.mark.parametrize(("technique", "shape"), PAIRS)
@pytest.mark.parametrize("count", [2, 3, 5, 8, 63, 64, 65, 100, 257])
def test_every_run_of_every_width(technique: Technique, shape: str, count: int) -> None:
    operator, dtype, width = SHAPES[shape]
    partials = ((np.arange(count * width) * 7919) % 101 - 50).astype(dtype).reshape(count, width)
    if operator == MOMENTS:
        partials[:, 0], partials[:, 2] = 1, 0
    for widest in sorted({1, 2, min(3, count), count // 2, count - 1, count} - {0}):
        runs = [(lo, lo + widest) for lo in range(count - widest + 1)]
        expected = [recomputed(shape, partials[lo:hi]) for lo, hi in runs]
        np.testing.assert_allclose(folded(technique, shape, partials, widest, runs), expected, rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize(("technique", "shape"), PAIRS)
def test_the_identity_changes_nothing(technique: Technique, shape: str) -> None:
    operator, dtype, width = SHAPES[shape]
    partials = np.full((9, width), identity(operator), dtype)
    value = np.arange(3, 3 + width).astype(dtype)
    for place in range(9):
        partials[place] = value
        runs = [(lo, hi) for lo in range(place + 1) for hi in range(place + 1, 10)]
        answers = folded(technique, shape, partials, 9, runs)
        assert all(answer == value.tolist() for answer in answers.tolist())
        partials[place] = identity(operator)


FLOAT_TECHNIQUES = [technique for technique in TECHNIQUES if not technique.needs]
COMES_AND_GOES = {
    "outlier": [1.0, 1.0, 1e16, 1.0, 1.0, 1.0, 1.0, -1e16, 1.0, 1.0, 1.0],
    "NaN": [1.0, math.nan, 1.0, 1.0, 1.0, 2.0, math.nan, 3.0, 1.0],
    "infinities": [1.0, math.inf, 1.0, 1.0, -math.inf, 2.0, 3.0, math.inf, 1.0, 1.0],
}


@pytest.mark.parametrize("technique", FLOAT_TECHNIQUES, ids=lambda technique: technique.name)
@pytest.mark.parametrize("stream", COMES_AND_GOES.values(), ids=COMES_AND_GOES)
@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_what_has_left_is_gone(technique: Technique, stream: list[float], size: int) -> None:
    runs = [(lo, lo + size) for lo in range(len(stream) - size + 1)]
    partials = np.array(stream).reshape(-1, 1)
    answers = folded(technique, "sum of floats", partials, size, runs)[:, 0].tolist()
    for answer, (lo, hi) in zip(answers, runs, strict=True):
        window = stream[lo:hi]
        plain = all(x in (1.0, 2.0, 3.0) for x in window)
        if plain or not math.isfinite(sum(window)):
            assert answer == sum(window) or (math.isnan(answer) and math.isnan(sum(window))), window
        else:  # an outlier is in: as good as its own window's roundings allow
            assert answer == pytest.approx(math.fsum(window), abs=4 * math.ulp(1e16)), window


def test_subtracting_floats_would_be_wrong() -> None:
    """Window of 2 over 1e16, 1, 1, 1: what r_int refuses to do, and why."""
    stream = np.array([1e16, 1.0, 1.0, 1.0]).reshape(-1, 1)
    wrong = folded(BY_NAME["r_int"], "sum of floats", stream, 2, [(1, 3), (2, 4)])
    assert wrong[:, 0].tolist() != [2.0, 2.0]


def test_sums_that_wrap_around_come_back() -> None:
    stream = np.array([2**62, 2**62, 2**62, 5, 6, -(2**62)], np.int64).reshape(-1, 1)
    runs = [(3, 5), (4, 6), (2, 4), (3, 6)]
    answers = folded(BY_NAME["r_int"], "sum of integers", stream, 3, runs)[:, 0].tolist()
    assert answers == [11, 6 - 2**62, 2**62 + 5, 11 - 2**62]


COLUMN = ex.Column(("x",))
REFUSED = [
    ("r_int", Partial("min", COLUMN), {"x": "int"}, "min(x) is not invertible"),
    ("r_int", Partial("max", COLUMN), {"x": "int"}, "max(x) is not invertible"),
    ("r_int", Partial("moments", COLUMN), {"x": "int"}, "moments(x) is not invertible"),
    ("r_int", Partial("sum", COLUMN), {"x": "double"}, "sum(x) is over double"),
    ("r_int", Partial("sum", COLUMN), {"x": "float"}, "sum(x) is over float"),
    ("r_int", Partial("sum", COLUMN), {}, "sum(x) may be over floating-point numbers"),
    ("r_int", Partial("sum", ex.Operation("abs", (COLUMN,))), {"x": "int"}, "sum(abs(x)) may be over"),
]
ADMITTED = [
    ("r_int", Partial("rows", None), {}),
    ("r_int", Partial("count", COLUMN), {}),
    *(
        ("r_int", Partial("sum", COLUMN), {"x": type_})
        for type_ in ("tinyint", "smallint", "int", "bigint", "decimal(38,6)")
    ),
    *(
        (name, Partial(kind, COLUMN), {})
        for name in ("panes", "disjoint_table")
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


def test_the_registry_is_by_name() -> None:
    assert [name for name, technique in BY_NAME.items() if technique.is_built] == [t.name for t in TECHNIQUES]
    assert all(technique.title and technique.first_appeared and technique.omega.formula for technique in TECHNIQUES)
