"""Windows drawn as in Guirguis et al. (CIKM 2011, section 6) and Shein and Chrysanthis (TKDE 2020, section 5.1)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import weft
from weft.papers.workloads import CIKM_FIGURES, TKDE_TABLE_4, Setting, divisors, probabilities, windows, workload

SECOND = 1_000_000
DRAWN = 20_000


@pytest.mark.parametrize(
    ("skew", "expected"),
    [
        (-1, {10: "1/10", 5: "1/5", 2: "3/10", 1: "2/5"}),
        (0, {10: "1/4", 5: "1/4", 2: "1/4", 1: "1/4"}),
        (1, {10: "12/25", 5: "6/25", 2: "4/25", 1: "3/25"}),
    ],
)
def test_a_positive_skew_favours_large_slides(skew: float, expected: dict[int, str]) -> None:
    exact = {slide: float(Fraction(share)) for slide, share in expected.items()}
    assert probabilities(divisors(10), skew) == pytest.approx(exact)
    _, slides = windows(Setting(DRAWN, divisors(10), 3, 1, skew), np.random.default_rng(5))
    drawn = {slide: float(np.mean(slides == slide)) for slide in exact}
    assert drawn == pytest.approx(exact, abs=5 * (0.25 / DRAWN) ** 0.5)


def test_the_order_and_repetition_of_the_slides_do_not_matter() -> None:
    assert probabilities((1, 10, 2, 5, 5), 1) == probabilities(divisors(10), 1)


def test_slides_that_divide_the_longest() -> None:
    assert divisors(10) == (10, 5, 2, 1)
    assert len(divisors(1_000)) == 16


def test_overlaps_are_uniform_up_to_the_largest() -> None:
    ranges, slides = windows(Setting(DRAWN, (7_919,), 10, 1, integer_overlap=False), np.random.default_rng(3))
    overlaps = ranges / slides
    assert 1 <= overlaps.min() < 1.01
    assert 9.99 < overlaps.max() <= 10
    assert np.histogram(overlaps, 9, (1, 10))[0] / DRAWN == pytest.approx(1 / 9, abs=0.015)


def test_an_overlap_is_rounded_or_the_range_is() -> None:
    ranges, slides = windows(Setting(DRAWN, divisors(1_000), 10, 1), np.random.default_rng(3))
    assert not (ranges % slides).any()
    assert set((ranges // slides).tolist()) == set(range(1, 11))
    ranges, slides = windows(Setting(DRAWN, divisors(1_000), 10, 1, integer_overlap=False), np.random.default_rng(3))
    assert (ranges % slides).any()
    assert ranges.min() >= 1


def test_a_seed_gives_the_same_workload_again() -> None:
    setting = Setting(50, divisors(60), 5, 1)
    assert workload(setting, 1) == workload(setting, 1)
    assert workload(setting, 1) != workload(setting, 2)
    assert workload(setting, np.random.default_rng(1)) == workload(setting, 1)


def test_a_tick_is_a_second_or_what_is_asked_for() -> None:
    setting = Setting(50, divisors(60), 5, 1)
    ranges, slides = windows(setting, np.random.default_rng(0))
    found = workload(setting)
    assert isinstance(found, weft.Workload)
    assert (found.ranges.tolist(), found.slides.tolist()) == ((ranges * SECOND).tolist(), (slides * SECOND).tolist())
    assert workload(setting, unit="rows").slides.tolist() == slides.tolist()
    assert workload(setting, measures="max(price)")[0].aggregates[0].function == "max"


def test_the_papers_sixteen_trees() -> None:
    """TKDE 2020, section 5.2: 16.0 trees with Panes on average, and 1,000 has sixteen divisors."""
    setting = Setting(100, divisors(1_000), 10_000, 1)
    plan = weft.optimize(workload(setting, 8), weft.Stats(rate=1), technique="panes")
    assert len(plan.trees) == len(np.unique(plan.workload.slides)) == 16


def test_the_settings_are_those_in_print() -> None:
    assert {len(settings) for settings in TKDE_TABLE_4.values()} == {5}
    middle = Setting(100, divisors(1_000), 10_000, 1, 0)
    assert all(middle in settings for settings in TKDE_TABLE_4.values())
    assert CIKM_FIGURES["figure 14"] == (Setting(250, divisors(1_000), 10, 100, 0.7, integer_overlap=False),)
    assert all(not setting.integer_overlap for settings in CIKM_FIGURES.values() for setting in settings)


@pytest.mark.parametrize(
    ("field", "value"),
    [("queries", 0), ("slides", ()), ("slides", (3, 0)), ("overlap", 0.5), ("overlap", float("nan")), ("skew", np.inf)],
)
def test_what_cannot_be_drawn_is_refused(field: str, value: object) -> None:
    given = {"queries": 3, "slides": (1, 2), "overlap": 2, "rate": 1, field: value}
    with pytest.raises(weft.BadRequest, match=field):
        Setting(**given)  # type: ignore[arg-type]
