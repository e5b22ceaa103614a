"""Workloads: windows as the papers draw them.

1. Slides come from a discrete set, by Zipf: the slide of rank k has weight k^(-skew), rank 1 is the largest. A positive
   skew favours large slides, a negative one small ones, and with 0 all are alike. The set is the divisors of the
   longest slide (Shein and Chrysanthis, TKDE 2020, section 5.1); the first paper only says that it is discrete
   (Guirguis et al., CIKM 2011, section 6).
2. The range is overlap x slide, with the overlap uniform between 1 and the largest one (both papers).

    longest slide 10, skew 1:    10   5   2   1        of 25:  12   6   4   3

The trees that the second paper counts for Panes, 16.0 with slides from the sixteen divisors of 1,000, come about if
ranges are multiples of slides: it rounds the overlap. `Setting(integer_overlap=False)` rounds the range instead, to
whole ticks.

`TKDE_TABLE_4` and `CIKM_FIGURES` have the settings of the papers' experiments. A tick is a second.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from weft.errors import BadRequest
from weft.queries.workload import Workload


@dataclass(frozen=True)
class Setting:
    """What an experiment varies."""

    queries: int
    slides: tuple[int, ...]
    """The discrete set that slides are drawn from."""
    overlap: float
    """The largest ratio of range to slide."""
    rate: float
    """Rows per second."""
    skew: float = 0.0
    integer_overlap: bool = True
    """Whether ranges are multiples of slides."""

    def __post_init__(self) -> None:
        if self.queries < 1:
            raise BadRequest(f"{self.queries} windows", field="queries", remedy="Ask for at least one")
        if not self.slides or min(self.slides) < 1:
            raise BadRequest(f"{self.slides} are no slides", field="slides", remedy="Give positive whole numbers")
        if not 1 <= self.overlap < float("inf"):
            raise BadRequest(f"{self.overlap} is below 1, or no number", field="overlap", remedy="Give 1 or more")
        if not np.isfinite(self.skew):
            raise BadRequest(f"{self.skew} is no number", field="skew", remedy="Give 0 for slides that are all alike")


def divisors(longest: int) -> tuple[int, ...]:
    """The discrete set of the TKDE paper.

    >>> divisors(10)
    (10, 5, 2, 1)
    """
    return tuple(slide for slide in range(longest, 0, -1) if longest % slide == 0)


def probabilities(slides: Sequence[int], skew: float) -> Mapping[int, float]:
    """How likely each slide is, the largest first.

    >>> round(probabilities((1, 2, 5, 10), 1)[10], 2)
    0.48
    """
    ranked = sorted(set(slides), reverse=True)
    weights = np.arange(1, len(ranked) + 1) ** -float(skew)
    return dict(zip(ranked, (weights / weights.sum()).tolist(), strict=True))


Ticks = npt.NDArray[np.int64]


def windows(setting: Setting, rng: np.random.Generator) -> tuple[Ticks, Ticks]:
    """The ranges and slides of a workload, in ticks."""
    likely = probabilities(setting.slides, setting.skew)
    slides = rng.choice(np.array(list(likely), np.int64), setting.queries, p=list(likely.values()))
    overlaps = rng.uniform(1, setting.overlap, setting.queries)
    if setting.integer_overlap:
        return np.rint(overlaps).astype(np.int64) * slides, slides
    return np.maximum(np.rint(overlaps * slides), 1).astype(np.int64), slides


def workload(
    setting: Setting, seed: int | np.random.Generator = 0, measures: str = "count(*)", unit: str = "seconds"
) -> Workload:
    """A workload of a setting; the same one for the same seed."""
    ranges, slides = windows(setting, np.random.default_rng(seed))
    return Workload.windows(ranges, slides, unit=unit, measures=measures)


def _varied(base: Setting, field: str, values: Sequence[object]) -> tuple[Setting, ...]:
    return tuple(replace(base, **{field: value}) for value in values)  # type: ignore[arg-type]  # the field's own type


_TKDE = Setting(queries=100, slides=divisors(1_000), overlap=10_000, rate=1, skew=0)
TKDE_TABLE_4: Mapping[str, tuple[Setting, ...]] = MappingProxyType(
    {
        "experiment 1": _varied(_TKDE, "queries", (1, 10, 100, 1_000, 10_000)),
        "experiment 2": _varied(_TKDE, "slides", [divisors(10**power) for power in (1, 2, 3, 4, 5)]),
        "experiment 3": _varied(_TKDE, "overlap", (100, 1_000, 10_000, 100_000, 1_000_000)),
        "experiment 4": _varied(_TKDE, "rate", (0.01, 0.1, 1, 10, 100)),
        "experiment 5": _varied(_TKDE, "skew", (-1, -0.5, 0, 0.5, 1)),
    }
)
"""Shein and Chrysanthis, TKDE 2020, Table 4: one parameter at a time, Figures 17 to 21."""

_CIKM = Setting(queries=250, slides=divisors(1_000), overlap=50, rate=50, skew=0.6, integer_overlap=False)
_COUNTS = (50, 100, 250, 500, 1_000)
CIKM_FIGURES: Mapping[str, tuple[Setting, ...]] = MappingProxyType(
    {
        "figure 4": _varied(_CIKM, "queries", _COUNTS),
        "figure 5": _varied(replace(_CIKM, rate=300), "queries", _COUNTS),
        "figures 6 and 7": _varied(replace(_CIKM, rate=10_000), "queries", _COUNTS),
        "figure 8": _varied(_CIKM, "rate", (50, 300, 1_000, 2_000, 3_000, 10_000)),
        "figure 9": _varied(replace(_CIKM, queries=2_000, rate=100_000), "overlap", (50, 100, 200, 500, 1_000, 2_000)),
        "figure 10": _varied(replace(_CIKM, rate=100, overlap=10), "skew", (0, 0.3, 0.6, 0.9, 1.2, 1.5, 2)),
        "figure 14": (replace(_CIKM, rate=100, overlap=10, skew=0.7),),
        "footnote 1": tuple(
            replace(_CIKM, queries=count, rate=rate) for count, rate in ((5, 200), (10, 300), (15, 400))
        ),
    }
)
"""Guirguis et al., CIKM 2011, sections 6 to 8. The paper does not print its slides: here they are the divisors of
1,000."""
