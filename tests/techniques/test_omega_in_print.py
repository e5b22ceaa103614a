"""Omega in numbers: Shein and Chrysanthis, TKDE 2020, section 4.1 and Table 3, for the examples of the papers.

Their P is range x edge rate, as it comes; whole slices where something is counted. The harmonic numbers are what
equation 7 would have with the length that SlickDeque's deque does have.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import factorial

import numpy as np
import pytest

from weft.queries.window import Window
from weft.slicing.density import density
from weft.slicing.slicers import pairs
from weft.techniques import BY_NAME
from weft.techniques.demand import demanded, load
from weft.techniques.omega import harmonic


@dataclass(frozen=True)
class Example:
    """Windows in one tree: edges per second, slices in each window on an average, and what every technique does."""

    windows: list[tuple[int, int]]
    edge_rate: str
    slices: list[str]
    panes: str
    flatfat: str
    flatfit: str
    slickdeque_inv: str
    slickdeque_noninv: str
    with_the_true_deque: str


EXAMPLES = {
    "Example 2 of CIKM 2011": Example(
        [(12, 9), (10, 6)], "4/9", ["16/3", "40/9"], "3", "89/18", "6", "4", "3877/720", "367/60"
    ),
    "Example 3 of CIKM 2011": Example(
        [(16, 4), (10, 5), (8, 4)], "2/5", ["32/5", "4", "16/5"], "8", "36/5", "9", "4", "1621/252", "1023/140"
    ),
    "its tree of two": Example([(16, 4), (8, 4)], "1/4", ["4", "2"], "6", "9/4", "6", "4", "125/24", "67/12"),
    "one tumbling window": Example([(7, 7)], "1/7", ["1"], "1", "0", "3", "2", "2", "2"),
    "a range below the slide": Example([(2, 5)], "2/5", ["4/5"], "2/5", "0", "3", "2", "2", "2"),
}
TECHNIQUES = ("panes", "flatfat", "flatfit", "slickdeque_inv", "slickdeque_noninv")


@pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES)
def test_table_3(example: Example) -> None:
    ranges, slides = (np.array(sizes, np.int64) for sizes in zip(*example.windows, strict=True))
    demand = demanded(ranges, slides)
    edge_rate = density(edge for size, slide in example.windows for edge in pairs(Window.of(size, slide)))
    assert edge_rate == Fraction(example.edge_rate)
    assert [size * edge_rate for size, _ in example.windows] == [Fraction(slices) for slices in example.slices]
    for technique in TECHNIQUES:
        expected = Fraction(getattr(example, technique))
        assert BY_NAME[technique].operations(demand, edge_rate) == expected, technique
    longest = load(demand, edge_rate).slices
    printed = sum(Fraction(1, factorial(i)) for i in range(1, longest + 1))
    corrected = Fraction(example.slickdeque_noninv) - printed + harmonic(longest)
    assert corrected == Fraction(example.with_the_true_deque)


@pytest.mark.parametrize(("slices", "length"), [(16, 3.3807), (256, 6.1243)])
def test_the_mean_length_of_the_deque(slices: int, length: float) -> None:
    """Equation 7 has 1.7183 for both. `refined` charges the harmonic number, which a deque fed by chance has."""
    assert float(harmonic(slices)) == pytest.approx(length, abs=1e-4)
    draw = np.random.default_rng(1)
    lengths = []
    for _ in range(2_000):
        window = draw.random(slices)
        # a value stays until a larger one comes: those that no later one exceeds
        lengths.append(np.count_nonzero(np.maximum.accumulate(window[::-1])[::-1] == window))
    assert np.mean(lengths) == pytest.approx(length, abs=0.15)
    demand = demanded(np.array([slices], np.int64), np.array([slices], np.int64))
    paper, refined = (
        BY_NAME["slickdeque_noninv"].operations(demand, Fraction(1), reading) for reading in ("paper", "refined")
    )
    answers = Fraction(1) - Fraction(1, slices)
    assert float(paper - refined) == pytest.approx(1.7183 - length + float(answers), abs=1e-4)
