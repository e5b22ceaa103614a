"""Compare: what every planner makes of one workload, side by side.

    planner            operations/s             trees  passes  edges/s
    optimal                    4.3      least       2       2     0.45  no plan costs less
    weave_share                4.3      least       2       2     0.45
    shared                     4.4     +2.3 %       1       1      0.4
    exhaustive                   -                  -       -        -  takes at most 12 queries, ...

The cheapest comes first; a planner that refuses says why in its row. The text is a function of what was asked; how long
each planner took is told apart, by `times`.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from html import escape

from weft.errors import BadRequest
from weft.planners.optimize import PLANNERS, Request, one_of
from weft.plans.explain import certificate, number, stream
from weft.plans.picture import counted
from weft.plans.plain import plain
from weft.plans.plan import Plan
from weft.plans.stats import Stats
from weft.plans.table import Table
from weft.queries.workload import Workload

_HEADER = ("planner", "operations/s", "", "trees", "passes", "edges/s", "")


@dataclass(frozen=True)
class Outcome:
    """What one planner did: a plan, or a refusal."""

    planner: str
    plan: Plan | None
    refusal: BadRequest | None = field(compare=False)
    seconds: float = field(compare=False)
    """How long it took."""


@dataclass(frozen=True)
class Comparison(Mapping[str, Plan]):
    """The plans of several planners by their names, the cheapest first."""

    workload: Workload
    stats: Stats
    outcomes: tuple[Outcome, ...]

    def __getitem__(self, planner: str) -> Plan:
        return self._plans()[planner]

    def __iter__(self) -> Iterator[str]:
        return iter(self._plans())

    def __len__(self) -> int:
        return len(self._plans())

    def _plans(self) -> dict[str, Plan]:
        return {outcome.planner: outcome.plan for outcome in self.outcomes if outcome.plan is not None}

    @property
    def best(self) -> Plan:
        """The cheapest plan, the first one of several."""
        return next(iter(self._plans().values()))

    @property
    def refusals(self) -> Mapping[str, BadRequest]:
        """What planners that made no plan said."""
        return {outcome.planner: outcome.refusal for outcome in self.outcomes if outcome.refusal is not None}

    @property
    def seconds(self) -> Mapping[str, float]:
        """How long each planner took."""
        return {outcome.planner: outcome.seconds for outcome in self.outcomes}

    def times(self) -> str:
        """How long each planner took, in words."""
        taken = sorted(self.seconds.items(), key=lambda pair: pair[1])
        return f"Planning took {', '.join(f'{name} {_time(seconds)}' for name, seconds in taken)}."

    def __str__(self) -> str:
        return f"{self._head()}\n\n{self._table().text()}"

    def __repr__(self) -> str:
        return f"Comparison({len(self)} plans of {len(self.workload)} queries, the best by {self.best.planner})"

    def _repr_html_(self) -> str:
        plans = "".join(
            f"<details{'' if place else ' open'}><summary>{escape(name)}</summary>{plan._repr_html_()}</details>"
            for place, (name, plan) in enumerate(self.items())
        )
        return f"<div><p><b>{escape(plain(self._head()))}</b></p>{self._table().html()}{plans}</div>"

    def _head(self) -> str:
        stats = self.stats
        return (
            f"{counted(len(self.workload), 'query')}, {stream(stats)}, "
            f"price {self.best.price}, slices by {self.best.slicing}, technique {self.best.technique}"
        )

    def _table(self) -> Table:
        return Table(_HEADER, frozenset({1, 2, 3, 4, 5}), [self._row(outcome) for outcome in self.outcomes])

    def _row(self, outcome: Outcome) -> tuple[str, ...]:
        plan = outcome.plan
        if plan is None:
            return (outcome.planner, "-", "", "-", "-", "-", _refused(outcome))
        edges = sum((tree.edge_rate for tree in plan.trees), Fraction(0))
        counts = (f"{len(plan.trees):,}", f"{plan.passes:,}", number(edges))
        remark = "" if plan.gap is None else certificate(plan.gap, plan.bound_among)
        return (outcome.planner, number(plan.cost), _above(plan.cost / self.best.cost - 1), *counts, remark)


def compare(
    workload: Workload,
    stats: Stats | None = None,
    technique: str = "auto",
    slicing: str = "pairs",
    price: str = "operations",
    planners: Iterable[str] | str | None = None,
    **options: object,
) -> Comparison:
    """Plan a workload with every planner, or with some. `options` reach the planners that have them.

    Local Search and Query Pairing take minutes on hundreds of queries: name `planners` to leave them out.
    """
    chosen = _named(planners)
    for name in chosen:
        one_of(name, PLANNERS, "planner")
    known = sorted({option for name in chosen for option in PLANNERS[name].options})
    for name in options:
        if name not in known:
            takes = f"there are {', '.join(known)}" if known else "there are none"
            raise BadRequest(
                f"none of the planners has an option '{name}'", field="planner", remedy=f"Drop it: {takes}"
            )
    outcomes = []
    for name in chosen:
        own = {option: value for option, value in options.items() if option in PLANNERS[name].options}
        begin, plan, refusal = time.perf_counter(), None, None
        try:
            plan = Request(workload, stats or Stats(), name, technique, slicing, price, own).plan()
        except BadRequest as error:
            refusal = error
        outcomes.append(Outcome(name, plan, refusal, time.perf_counter() - begin))
    made = [outcome for outcome in outcomes if outcome.plan is not None]
    if not made:
        raise next(
            (outcome.refusal for outcome in outcomes if outcome.refusal is not None),
            BadRequest("no planner is named", field="planners", remedy=f"Name some of {', '.join(PLANNERS)}"),
        )
    made.sort(key=lambda outcome: outcome.plan.cost if outcome.plan is not None else 0)
    refused = [outcome for outcome in outcomes if outcome.plan is None]
    return Comparison(workload, made[0].plan.stats if made[0].plan is not None else Stats(), (*made, *refused))


def _named(planners: object) -> list[str]:
    """The planners that are meant: one name, or several."""
    if planners is None:
        return list(PLANNERS)
    if isinstance(planners, str):
        return [planners]
    if not isinstance(planners, Iterable):
        raise BadRequest(
            f"{planners!r} names no planners", field="planners", remedy=f"Name some of {', '.join(PLANNERS)}"
        )
    return list(dict.fromkeys(planners))


def _refused(outcome: Outcome) -> str:
    error = outcome.refusal
    assert error is not None
    said = error.rule.removeprefix(f"{outcome.planner} ")
    where = f"query '{error.query}': " if error.query else ""
    return f"{where}{said}" + (f". {error.remedy}" if error.remedy else "")


def _above(share: Fraction) -> str:
    """How far above the cheapest.

    >>> _above(Fraction(0)), _above(Fraction(1, 40)), _above(Fraction(1, 10**6)), _above(Fraction(40))
    ('least', '+2.5 %', 'under 0.01 %', '41 x')
    """
    if not share:
        return "least"
    if share >= 9:
        return f"{number(float(f'{float(share + 1):.3g}'))} x"
    percent = float(100 * share)
    return "under 0.01 %" if percent < 0.01 else f"+{number(float(f'{percent:.3g}'))} %"


def _time(seconds: float) -> str:
    """A duration as people say it.

    >>> _time(0.0004), _time(0.25), _time(12.34)
    ('under 1 ms', '250 ms', '12.3 s')
    """
    if seconds < 0.001:
        return "under 1 ms"
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.3g} s"
