"""Curve: what plans made from scratch have cost, by the number of queries; and what one of so many ought to cost.

Incremental Weave Share never splits a tree, so its plan gets worse with every change. How much worse is told by a line
through the last two plans made from scratch for different numbers of queries (Guirguis et al., CIKM 2011, section 5.2):

    deviation = (cost - extrapolated cost) / extrapolated cost        above the tolerance: plan from scratch

With one point the line goes through nothing at no cost. A plan reads the stream at least once, so what is extrapolated
is never below one pass. Plans grow more slowly than their queries, so a line is not believed far from its last point:
with twice as many queries, or half as many, it is time for another point, whatever the line says.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Curve:
    """Points (queries, cost), in the order in which they were found."""

    points: tuple[tuple[int, Fraction], ...] = ()
    least: Fraction = Fraction(0)
    """What any plan costs."""

    def with_point(self, queries: int, cost: Fraction) -> Curve:
        """The curve after another plan from scratch."""
        return Curve((*self.points[-31:], (queries, cost)), self.least)

    def reaches(self, queries: int) -> bool:
        """Whether the line is to be believed for so many queries.

        >>> curve = Curve(((20, Fraction(150)),))
        >>> [curve.reaches(queries) for queries in (9, 10, 39, 40)]
        [False, True, True, False]
        """
        return bool(self.points) and self.points[-1][0] <= 2 * queries and queries < 2 * self.points[-1][0]

    def extrapolated(self, queries: int) -> Fraction:
        """What a plan of so many queries ought to cost.

        >>> Curve(((10, Fraction(100)), (20, Fraction(150)))).extrapolated(24)
        Fraction(170, 1)
        """
        if not self.points:
            return self.least
        last, cost = self.points[-1]
        before = next((point for point in reversed(self.points) if point[0] != last), (0, Fraction(0)))
        slope = (cost - before[1]) / (last - before[0]) if last != before[0] else Fraction(0)
        return max(cost + slope * (queries - last), self.least)

    def deviation(self, queries: int, cost: Fraction) -> Fraction:
        """How far a cost is above what it ought to be, as a share of that.

        >>> Curve(((10, Fraction(100)), (20, Fraction(150)))).deviation(24, Fraction(200))
        Fraction(3, 17)
        """
        ought = self.extrapolated(queries)
        return cost / ought - 1 if ought else Fraction(0)

    def calls_for_planning(self, queries: int, cost: Fraction, tolerance: Fraction | float) -> bool:
        """Whether a plan that costs so much should be made anew. With 0 always, with infinity never.

        >>> curve = Curve(((10, Fraction(100)), (20, Fraction(150))))
        >>> [curve.calls_for_planning(24, Fraction(200), tolerance) for tolerance in (0, 0.1, 0.2, math.inf)]
        [True, True, False, False]
        """
        if tolerance in (0, math.inf):
            return tolerance == 0
        return not self.reaches(queries) or self.deviation(queries, cost) > tolerance
