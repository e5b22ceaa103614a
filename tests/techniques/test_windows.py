"""Which slices a window covers: the walk against looking at every window and every slice.

A walk may stop whenever its output is full and go on from its cursor, and may hold back windows by their end.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.techniques import windows
from weft.techniques.windows import ALWAYS, NEVER

Found = tuple[int, int, int, int]


@dataclass(frozen=True)
class Case:
    keys: list[list[int]]
    size: int
    slide: int
    offset: int
    after: int
    upto: int

    def arrays(self) -> tuple[np.ndarray, np.ndarray]:
        bounds = np.cumsum([0, *(len(starts) for starts in self.keys)])
        return bounds, np.array([start for starts in self.keys for start in starts], np.int64)


def brute_force(case: Case) -> list[Found]:
    """Every window near the data, and the slices that begin in it."""
    found, first = [], 0
    for number, starts in enumerate(case.keys):
        if starts:
            k = (min(starts) - case.size - case.offset) // case.slide - 1
            while (begin := k * case.slide + case.offset) <= max(starts):
                covered = [i for i, start in enumerate(starts) if begin <= start < begin + case.size]
                if covered and case.after < begin + case.size <= case.upto:
                    found.append((number, begin, first + covered[0], first + covered[-1] + 1))
                k += 1
        first += len(starts)
    return found


def walked(case: Case, room: int) -> list[Found]:
    bounds, starts = case.arrays()
    cursor, found = windows.new_cursor(), []
    out = [np.empty(room, np.int64) for _ in range(4)]
    while cursor[0] < len(case.keys):
        count = windows.walk(bounds, starts, case.size, case.slide, case.offset, case.after, case.upto, cursor, *out, 0)
        assert count == room or cursor[0] == len(case.keys)
        found += list(zip(*(column[:count].tolist() for column in out), strict=True))
    return found


starts_of_a_key = st.lists(st.integers(-30, 40), max_size=12).map(sorted)
with_gaps = st.lists(st.sampled_from((-1_000_000_007, -12, -3, 0, 1, 5, 1_000_000_000_000)), max_size=6).map(sorted)


@st.composite
def cases(draw: st.DrawFn, starts: st.SearchStrategy[list[int]] = starts_of_a_key, longest: int = 25) -> Case:
    return Case(
        draw(st.lists(starts, min_size=1, max_size=4)),
        draw(st.integers(1, longest)),
        draw(st.integers(1, longest)),
        draw(st.integers(-2 * longest, 2 * longest)),
        draw(st.sampled_from((ALWAYS, -20, 0, 7))),
        draw(st.sampled_from((NEVER, -5, 0, 12, 30))),
    )


@given(case=cases(), room=st.integers(1, 9))
def test_walk_finds_every_window(case: Case, room: int) -> None:
    assert walked(case, room) == brute_force(case)


@given(case=cases(with_gaps, 10), room=st.integers(1, 4))
def test_gaps_are_jumped_over(case: Case, room: int) -> None:
    near = []
    for number, starts in enumerate(case.keys):
        for start in sorted(set(starts)):  # only windows that hold some slice can be found
            k = (start - case.size - case.offset) // case.slide + 1
            while (begin := k * case.slide + case.offset) <= start:
                if (number, begin) not in near:
                    near.append((number, begin))
                k += 1
    found = [(number, begin) for number, begin, _, _ in walked(case, room)]
    assert found == sorted(x for x in near if case.after < x[1] + case.size <= case.upto)


@given(case=cases(), borders=st.lists(st.integers(-40, 60), max_size=3).map(sorted))
def test_windows_by_instalments_are_the_same_windows(case: Case, borders: list[int]) -> None:
    """Held back up to one instant, then up to the next: each window once."""
    ends = [ALWAYS, *borders, NEVER]
    parts = [
        walked(Case(case.keys, case.size, case.slide, case.offset, after, upto), 5) for after, upto in pairwise(ends)
    ]
    together = [found for part in parts for found in part]
    assert sorted(together) == brute_force(Case(case.keys, case.size, case.slide, case.offset, ALWAYS, NEVER))


def test_microseconds_of_far_away_years() -> None:
    far = 253_402_300_799_999_999  # the last microsecond of the year 9999
    case = Case([[-62_135_596_800_000_000, far]], 3_600_000_000, 60_000_000, 0, ALWAYS, NEVER)
    found = walked(case, 7)
    assert len(found) == 120
    assert {(lo, hi) for _, _, lo, hi in found} == {(0, 1), (1, 2)}
    assert max(begin for _, begin, _, _ in found) == far // 60_000_000 * 60_000_000


def test_a_key_without_slices_has_no_windows() -> None:
    assert walked(Case([[], [3], []], 4, 2, 0, ALWAYS, NEVER), 3) == [(1, 0, 0, 1), (1, 2, 0, 1)]


@given(case=cases())
def test_widest_is_the_most_slices_in_reach(case: Case) -> None:
    expected = max(
        (sum(start - case.size < other <= start for other in starts) for starts in case.keys for start in starts),
        default=0,
    )
    assert windows.widest(*case.arrays(), case.size) == expected


@given(case=cases(), room=st.integers(1, 9))
def test_no_window_is_wider_than_the_widest(case: Case, room: int) -> None:
    widest = windows.widest(*case.arrays(), case.size)
    assert all(hi - lo <= widest for _, _, lo, hi in walked(case, room))


@pytest.mark.parametrize("room", [1, 2, 3, 100])
def test_readme_picture(room: int) -> None:
    """Range 10, slide 4, offset 1: windows begin at 1, 5, 9 and before."""
    assert walked(Case([[4]], 10, 4, 1, ALWAYS, NEVER), room) == [(0, -3, 0, 1), (0, 1, 0, 1)]
