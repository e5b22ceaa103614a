"""Every technique with every operator that it may serve: answers are those of adding the slices up one by one.

Slices come by instalments, windows are of one or several queries, of widths that are no powers of two, over one key or
several, and a structure may be stored and restored between any two instalments.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.techniques.operators import CASES, Case
from weft.algebra.operators import MAX, MIN, Sum, laws, sum_of
from weft.errors import BadRequest
from weft.techniques import BY_NAME, TECHNIQUES
from weft.techniques.snapshots import packed, unpacked
from weft.techniques.technique import Shape, State, Technique

FOLDING = [technique for technique in TECHNIQUES if technique.name != "b_int_qnt"]
PAIRS = [
    pytest.param(technique, case, id=f"{technique.name}, {name}")
    for technique in FOLDING
    for name, case in CASES.items()
    if technique.needs <= laws(case.operator)
]
Window = tuple[int, int, int]
"""First slice, the one after the last, and whose it is."""


@dataclass(frozen=True)
class Stream:
    """Slices, the windows that are due, and how many slices come at a time."""

    slices: npt.NDArray[Any]
    shape: Shape
    windows: list[Window]
    instalments: list[int]


@st.composite
def streams(draw: st.DrawFn, technique: Technique, case: Case) -> Stream:
    """Windows end in order, the wider ones first; none reaches back beyond the key that it ends in."""
    lengths = draw(st.lists(st.integers(1, 25), min_size=1, max_size=3))
    count = sum(lengths)
    begins = [sum(lengths[:number]) for number in range(len(lengths))]
    widths = draw(st.lists(st.integers(1, 19), min_size=1, max_size=1 if technique.one_range else 4))
    skipped = draw(st.sets(st.integers(0, 3 * count)))
    windows: list[Window] = []
    for end in range(1, count + 1):
        key = max(begin for begin in begins if begin < end)
        due = [
            (max(end - width, key), end, query) for query, width in enumerate(widths) if 3 * end + query not in skipped
        ]
        windows += sorted(due)
    # widths that are not those of any window are not announced
    shape = Shape(max(widths), 0, len(widths), tuple(sorted({hi - lo for lo, hi, _ in windows})))
    slices = case.slices(draw(st.lists(case.slice, min_size=count, max_size=count)))
    return Stream(slices, shape, windows, draw(st.lists(st.integers(0, 30), max_size=6)))


def columns(windows: list[Window]) -> tuple[npt.NDArray[np.int64], ...]:
    return tuple(np.array(column, np.int64) for column in zip(*windows, strict=True)) or (np.empty(0, np.int64),) * 3


def answered(technique: Technique, case: Case, stream: Stream, state: State, store: bool = False) -> list[list[Any]]:
    """All answers, by instalments; with `store`, the structure goes through its bytes before each."""
    found: list[list[Any]] = []
    at, windows = 0, stream.windows
    for size in (*stream.instalments, len(stream.slices)):
        end = min(at + size, len(stream.slices))
        due = [window for window in windows if window[1] <= end]
        windows = windows[len(due) :]
        if store:
            state = unpacked(technique, case.operator, packed(technique, case.operator, state))
        found += technique.advance(case.operator, state, stream.slices[at:end], *columns(due)).tolist()
        at = end
    return found


def check(case: Case, slices: npt.NDArray[Any], windows: list[Window], found: list[list[Any]]) -> None:
    assert len(found) == len(windows)
    for answer, (lo, hi, query) in zip(found, windows, strict=True):
        expected = case.recomputed(slices[lo:hi])
        if case is CASES["moments"]:
            assert answer == pytest.approx(expected, rel=1e-12, abs=1e-9), (lo, hi, query)
        else:  # integers, and quarters that floats hold exactly
            assert answer == expected, (lo, hi, query)


@pytest.mark.parametrize(("technique", "case"), PAIRS)
@given(data=st.data())
def test_answers_are_recomputed_ones(technique: Technique, case: Case, data: st.DataObject) -> None:
    stream = data.draw(streams(technique, case))
    before = stream.slices.copy()
    state = technique.start(case.operator, stream.shape)
    check(case, stream.slices, stream.windows, answered(technique, case, stream, state, store=data.draw(st.booleans())))
    np.testing.assert_array_equal(stream.slices, before)


@pytest.mark.parametrize(
    ("technique", "case"),
    [pair for pair in PAIRS if pair.values[0].historical],  # type: ignore[union-attr]
)
@given(data=st.data())
def test_any_window_that_is_kept_in_any_order(technique: Technique, case: Case, data: st.DataObject) -> None:
    stream = data.draw(streams(technique, case))
    windows = data.draw(st.permutations(stream.windows))
    kept = Shape(stream.shape.widest, len(stream.slices), widths=stream.shape.widths)
    state = technique.start(case.operator, kept)
    nothing = columns([])
    technique.advance(case.operator, state, stream.slices, *nothing)
    found = technique.advance(case.operator, state, stream.slices[:0], *columns(windows))
    check(case, stream.slices, windows, found.tolist())


@pytest.mark.parametrize(("technique", "case"), PAIRS)
@pytest.mark.parametrize("count", [1, 2, 5, 63, 64, 65, 257])
def test_one_range_from_start_up_on(technique: Technique, case: Case, count: int) -> None:
    drawn = np.random.default_rng(count).integers(0, 9, (count, len(case.operator.identity)))
    slices = (
        case.slices([tuple(row) for row in drawn.tolist()])
        if case.commutative
        else case.slices(
            [((1, 1, 0, 1) if n % 2 else (1, 0, 1, 1)) if len(row) == 4 else (n + 1, 31) for n, row in enumerate(drawn)]
        )
    )
    if case is CASES["moments"]:
        slices[:, 0], slices[:, 2] = 1, 0
    for widest in sorted({1, 2, min(3, count), max(count // 2, 1), count}):
        windows = [(max(end - widest, 0), end, 0) for end in range(1, count + 1)]
        state = technique.start(case.operator, Shape(widest))
        check(case, slices, windows, technique.advance(case.operator, state, slices, *columns(windows)).tolist())


@pytest.mark.parametrize("technique", FOLDING, ids=lambda technique: technique.name)
def test_more_slices_than_the_structure_holds(technique: Technique) -> None:
    """Nobody asks for a while; then windows reach back as far as they may, and not further."""
    operator = sum_of(int, 1) if technique.needs <= laws(sum_of(int, 1)) else MAX
    case = CASES["sum of integers" if operator == sum_of(int, 1) else "max"]
    slices = np.arange(1000).reshape(-1, 1) * 7919 % 1009
    state = technique.start(operator, Shape(13))
    answers = technique.advance(operator, state, slices[:20], *columns([(7, 20, 0)])).tolist()
    technique.advance(operator, state, slices[20:700], *columns([]))
    answers += technique.advance(
        operator, state, slices[700:], *columns([(687, 700, 0), (700, 703, 0), (999, 1000, 0)])
    ).tolist()
    check(case, slices, [(7, 20, 0), (687, 700, 0), (700, 703, 0), (999, 1000, 0)], answers)


COMES_AND_GOES = {
    "outlier": [1.0, 1.0, 1e16, 1.0, 1.0, 1.0, 1.0, -1e16, 1.0, 1.0, 1.0],
    "NaN": [1.0, math.nan, 1.0, 1.0, 1.0, 2.0, math.nan, 3.0, 1.0],
    "infinities": [1.0, math.inf, 1.0, 1.0, -math.inf, 2.0, 3.0, math.inf, 1.0, 1.0],
}


@pytest.mark.parametrize("technique", [t for t in FOLDING if not t.needs], ids=lambda technique: technique.name)
@pytest.mark.parametrize("stream", COMES_AND_GOES.values(), ids=COMES_AND_GOES)
@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_what_has_left_is_gone(technique: Technique, stream: list[float], size: int) -> None:
    windows = [(lo, lo + size, 0) for lo in range(len(stream) - size + 1)]
    slices = np.array(stream).reshape(-1, 1)
    operator = sum_of(float, 1)
    state = technique.start(operator, Shape(size))
    answers = technique.advance(operator, state, slices, *columns(windows))[:, 0].tolist()
    for answer, (lo, hi, _) in zip(answers, windows, strict=True):
        window = stream[lo:hi]
        plain = all(x in (1.0, 2.0, 3.0) for x in window)
        if plain or not math.isfinite(sum(window)):
            assert answer == sum(window) or (math.isnan(answer) and math.isnan(sum(window))), window
        else:  # an outlier is in: as good as its own window's roundings allow
            assert answer == pytest.approx(math.fsum(window), abs=4 * math.ulp(1e16)), window


@pytest.mark.parametrize("technique", [t for t in FOLDING if not t.needs], ids=lambda technique: technique.name)
@given(values=st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=60), size=st.integers(1, 60))
def test_an_answer_errs_by_the_roundings_of_its_own_window(
    technique: Technique, values: list[float], size: int
) -> None:
    """Whatever came before: |error| <= n u sum of |x| over the window, u = 2^-53, as for adding it up in any order."""
    windows = [(max(hi - size, 0), hi, 0) for hi in range(1, len(values) + 1)]
    operator = sum_of(float, 1)
    state = technique.start(operator, Shape(size))
    answers = technique.advance(operator, state, np.array(values).reshape(-1, 1), *columns(windows))[:, 0].tolist()
    for answer, (lo, hi, _) in zip(answers, windows, strict=True):
        window = values[lo:hi]
        bound = len(window) * 2.0**-53 * math.fsum(map(abs, window))
        assert abs(answer - math.fsum(window)) <= bound


def test_subtracting_floats_would_be_wrong() -> None:
    """Window of 2 over 1e16, 1, 1, 1: what is refused for floats, and why."""
    slices = np.array([1e16, 1.0, 1.0, 1.0, 1.0]).reshape(-1, 1)
    windows = [(0, 1, 0), (0, 2, 0), (1, 3, 0), (2, 4, 0), (3, 5, 0)]
    for name in ("subtract_on_evict", "slickdeque_inv", "r_int"):
        technique, operator = BY_NAME[name], sum_of(float, 1)
        with pytest.raises(BadRequest, match="sum is not invertible without losing precision"):
            technique.start(operator, Shape(2))
        state, (lo, hi, of) = technique.init(operator, Shape(2)), columns(windows)
        wrong = np.empty((5, 1))
        technique.slide(operator, state, slices, lo, hi, of, wrong)
        assert wrong[2:, 0].tolist() != [2.0, 2.0, 2.0]


@pytest.mark.parametrize("name", ["subtract_on_evict", "slickdeque_inv", "r_int"])
def test_sums_that_wrap_around_come_back(name: str) -> None:
    slices = np.array([2**62, 2**62, 2**62, 5, 6, -(2**62)], np.int64).reshape(-1, 1)
    windows = [(0, 3, 0), (2, 4, 0), (3, 5, 0), (3, 6, 0)]
    state = BY_NAME[name].start(Sum((0,)), Shape(3))
    answers = BY_NAME[name].advance(Sum((0,)), state, slices, *columns(windows))[:, 0].tolist()
    assert answers[1:] == [2**62 + 5, 11, 11 - 2**62]


STREAM = [5, 1, 4, 2, 8, 3, 3, 9, 0, 7, 6, 2, 5, 1, 1, 4]
LARGEST = [
    (5, 5, 5), (5, 5, 1), (5, 5, 4), (5, 5, 2), (8, 8, 8), (8, 8, 3), (8, 8, 3), (9, 9, 9),
    (9, 9, 0), (9, 9, 7), (9, 9, 6), (9, 7, 2), (9, 7, 5), (7, 6, 1), (7, 5, 1), (6, 5, 4),
]  # fmt: skip
SUMS = [
    (5, 5, 5), (6, 6, 1), (10, 10, 4), (12, 12, 2), (20, 15, 8), (23, 17, 3), (21, 16, 3), (29, 23, 9),
    (25, 15, 0), (30, 19, 7), (28, 22, 6), (27, 15, 2), (29, 20, 5), (21, 14, 1), (22, 9, 1), (19, 11, 4),
]  # fmt: skip


BY_HAND = [
    pytest.param(technique, operator, expected, id=f"{technique.name}, {name}")
    for technique in FOLDING
    for name, operator, expected in (("max", MAX, LARGEST), ("sum", sum_of(int, 1), SUMS))
    if technique.needs <= laws(operator)
]


@pytest.mark.parametrize(("technique", "operator", "expected"), BY_HAND)
def test_ranges_of_six_four_and_one_worked_out_by_hand(technique: Technique, operator: Any, expected: Any) -> None:
    for chosen in [(0,), (1,), (2,)] if technique.one_range else [(0, 1, 2)]:
        widths = [(6, 4, 1)[query] for query in chosen]
        windows = [(max(hi - w, 0), hi, q) for hi in range(1, 17) for q, w in enumerate(widths)]
        state = technique.start(operator, Shape(max(widths), 0, len(widths)))
        answers = technique.advance(operator, state, np.array(STREAM).reshape(-1, 1), *columns(windows))[:, 0].tolist()
        assert answers == [row[query] for row in expected for query in chosen]


def test_historical_windows() -> None:
    """Arasu and Widom, VLDB 2004, section 2: S[8, 0], S[5, 2], S[3, 1] and S[20, 4] over eight elements."""
    slices = np.array(STREAM[:8]).reshape(-1, 1)
    windows = [(0, 8, 0), (3, 6, 0), (5, 7, 0), (0, 4, 0)]
    for technique in FOLDING:
        if technique.historical:
            for operator, expected in ((MAX, [9, 8, 3, 5]), (sum_of(int, 1), [35, 13, 6, 12])):
                if technique.needs <= laws(operator):
                    state = technique.start(operator, Shape(8, 8))
                    found = technique.advance(operator, state, slices, *columns(windows))
                    assert found[:, 0].tolist() == expected, technique.name


def test_min_and_max_serve_alike() -> None:
    assert laws(MIN) == laws(MAX)
