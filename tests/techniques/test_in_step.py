"""Windows that move on by one slice at a time, which some techniques answer many at a time, and what comes between.

A way is made of stretches: so many windows in step, a jump, a repetition, a window that grows, a new key. It is walked
stretch by stretch or with several at once, and a structure may be stored and restored between any two of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.techniques.operators import CASES, Case
from tests.techniques.test_techniques import FOLDING, PAIRS, check, columns
from weft.algebra.operators import MAX, laws, sum_of
from weft.techniques.snapshots import packed, unpacked
from weft.techniques.technique import Shape, Technique, in_step

Way = list[list[tuple[int, int, int]]]


@st.composite
def ways(draw: st.DrawFn) -> tuple[int, Way]:
    """The widest window, and stretches of windows."""
    width = draw(st.sampled_from((1, 2, 3, 6, 17, 64, 127, 128, 129, 200)))
    lo, hi, way = 0, width, [[(0, width, 0)]]
    for _ in range(draw(st.integers(1, 5))):
        match draw(st.sampled_from(("in step", "in step", "jump", "again", "shrink", "grow", "key"))):
            case "in step":
                count = draw(st.integers(1, 300))
                way.append([(lo + n, hi + n, 0) for n in range(1, count + 1)])
                lo, hi = lo + count, hi + count
                continue
            case "jump":
                ahead = draw(st.integers(2, 2 * width + 5))
                lo, hi = lo + ahead, hi + ahead
            case "shrink":
                lo += draw(st.integers(0, hi - lo - 1))
            case "grow":
                hi = draw(st.integers(hi, lo + width))
            case "key":
                lo, hi = hi, hi + draw(st.integers(1, width))
        way.append([(lo, hi, 0)])
    return width, way


def slices_of(case: Case, count: int, seed: int) -> Any:
    """As many as the way is long, without drawing each of them."""
    few = {
        "text": [(n, 31) for n in range(1, 27)],
        "matrices": [(1, 1, 0, 1), (1, 0, 1, 1), (0, -1, 1, 0), (2, 1, 1, 1), (1, -3, 0, 1)],
        "moments": [(0, 0, 0), (1, 5, 0), (3, -20, 7), (2, 49, 1)],
        "sum of floats": [(n / 4,) for n in range(-40, 40)],
    }
    name = next(name for name, other in CASES.items() if other is case)
    rng = np.random.default_rng(seed)
    if name in few:
        return case.slices([few[name][n] for n in rng.integers(0, len(few[name]), count).tolist()])
    return rng.integers(-(10**6), 10**6, (count, len(case.operator.identity)))


@pytest.mark.parametrize(("technique", "case"), PAIRS)
@settings(max_examples=settings.default.max_examples // 3)
@given(data=st.data())
def test_answers_are_recomputed_ones(technique: Technique, case: Case, data: st.DataObject) -> None:
    width, way = data.draw(ways())
    windows = [window for stretch in way for window in stretch]
    slices = slices_of(case, windows[-1][1] + 3, data.draw(st.integers(0, 99)))
    shape = Shape(width, 0, 1, tuple(sorted({hi - lo for lo, hi, _ in windows})))
    state, at, found = technique.start(case.operator, shape), 0, []
    while way:
        together = data.draw(st.sampled_from((1, 1, 2, len(way))))
        due, way = [window for stretch in way[:together] for window in stretch], way[together:]
        end = due[-1][1] if way else len(slices)
        if data.draw(st.booleans()):
            state = unpacked(technique, case.operator, packed(technique, case.operator, state))
        found += technique.advance(case.operator, state, slices[at:end], *columns(due)).tolist()
        at = end
    # all of them would take minutes: those at the borders of blocks, and some in between
    some = [n for n, (lo, _, _) in enumerate(windows) if lo % width in (0, 1) or n % 17 == 0 or n == len(windows) - 1]
    chosen = some[:: len(some) // 40 + 1]
    check(case, slices, [windows[n] for n in chosen], [found[n] for n in chosen])


@pytest.mark.parametrize("technique", FOLDING, ids=lambda technique: technique.name)
@pytest.mark.parametrize("width", [16, 300])
def test_many_thousand_windows_at_once(technique: Technique, width: int) -> None:
    """More than are looked at together, from start-up on; a gap in the middle."""
    operator = sum_of(int, 1) if technique.needs <= laws(sum_of(int, 1)) else MAX
    slices = np.random.default_rng(width).integers(-(10**9), 10**9, (10_000, 1))
    hi = np.concatenate((np.arange(1, 4_500), np.arange(4_600, 10_001)))
    lo = np.maximum(hi - width, 0)
    state = technique.start(operator, Shape(width))
    found = technique.advance(operator, state, slices, lo, hi)[:, 0]
    runs = np.lib.stride_tricks.sliding_window_view(slices[:, 0], width)
    full = lo + width == hi
    expected = (runs.max(axis=1) if operator is MAX else runs.sum(axis=1))[lo[full]]
    np.testing.assert_array_equal(found[full], expected)
    for j in np.flatnonzero(~full).tolist():
        run = slices[lo[j] : hi[j], 0]
        assert found[j] == (run.max() if operator is MAX else run.sum())


@pytest.mark.parametrize("name", ["two_stacks_lite", "panes"])
def test_what_is_not_a_number_has_left_when_it_has_left(name: str) -> None:
    technique, operator, width = next(t for t in FOLDING if t.name == name), sum_of(float, 1), 130
    slices = np.ones((2_000, 1))
    slices[[200, 700, 701, 1_400], 0] = np.nan, np.inf, -np.inf, 1e300
    lo = np.arange(2_000 - width + 1)
    found = technique.advance(operator, technique.start(operator, Shape(width)), slices, lo, lo + width)[:, 0]
    runs = np.lib.stride_tricks.sliding_window_view(slices[:, 0], width)
    plain = (runs == 1).all(axis=1)
    assert (found[plain] == width).all()
    with np.errstate(invalid="ignore"):
        sums = runs[~plain].sum(axis=1)
    np.testing.assert_allclose(found[~plain], sums)


def test_in_step() -> None:
    def told(windows: list[tuple[int, int]]) -> bool:
        lo, hi = (np.array(column, np.int64) for column in zip(*windows, strict=True))
        return bool(in_step(lo, hi))

    steady = [(7 + n, 19 + n) for n in range(200)]
    assert told(steady[:1])
    assert told(steady)
    for place in (0, 1, 100, 198, 199):
        for change in ((1, 0), (0, 1), (-1, 0), (1, 1)):
            other = list(steady)
            other[place] = (steady[place][0] + change[0], steady[place][1] + change[1])
            assert not told(other), (place, change)
