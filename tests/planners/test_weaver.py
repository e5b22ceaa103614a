"""Weaver: queries join and leave a plan, one at a time. Against plain costs, planning from scratch, and itself."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import weft
from tests.planners.plain import Sizes, benefit, cost, edge_rate, fewer, plain_sizes, window
from weft.planners.curve import Curve
from weft.planners.weaver import Change

RATE = Fraction("1.2")
Trees = list[list[str]]


def query(name: str, size: Sizes, **fields: Any) -> weft.Query:
    return weft.Query(name, "max(x)", window(*size), **fields)


def weaver_of(sizes: Sequence[Sizes] = (), rate: Fraction = RATE, **given: Any) -> weft.Weaver:
    weaver = weft.Weaver(weft.Stats(rate), "panes", **{"tolerance": math.inf, "background": False} | given)
    for number, size in enumerate(sizes):
        weaver.add(query(f"q{number}", size))
    return weaver


def trees(plan: weft.Plan) -> Trees:
    return [[plan.workload.id(i) for i in tree.queries.tolist()] for tree in plan.trees]


# the plan-cost curve


def test_when_to_plan_from_scratch() -> None:
    """Guirguis et al., CIKM 2011, section 5.2: 150 + 5 x 4 expected, 200 found."""
    curve = Curve(((10, Fraction(100)), (20, Fraction(150))))
    assert curve.extrapolated(24) == 170
    assert curve.deviation(24, Fraction(200)) == Fraction(3, 17)
    due = {tolerance: curve.calls_for_planning(24, Fraction(200), tolerance) for tolerance in (0.1, 0.2, 0, math.inf)}
    assert due == {0.1: True, 0.2: False, 0: True, math.inf: False}


def test_the_line_goes_through_two_different_numbers_of_queries() -> None:
    once = Curve().with_point(10, Fraction(100))
    assert once.extrapolated(20) == 200, "through nothing at no cost"
    again = once.with_point(20, Fraction(150)).with_point(20, Fraction(160))
    assert again.extrapolated(30) == 220, "the last point of 20, and the one of 10"
    assert Curve(again.points, Fraction(30)).extrapolated(1) == 46
    assert Curve(again.points, Fraction(50)).extrapolated(1) == 50, "a plan reads the stream once"
    assert Curve(least=Fraction(5)).deviation(3, Fraction(10)) == 1
    assert Curve().calls_for_planning(1, Fraction(1), 0.2), "nothing is known yet"


# coming and going


def test_example_3_woven_one_by_one() -> None:
    """Section 5.1 of the same: in the order a, b, c all meet at 4.4; a, c, b makes the paper's plan of 4.3."""
    weaver = weaver_of([(16, 4)])
    first = weaver.add(query("qb", (10, 5)))
    assert (first.what, first.partners, first.trees_before, first.trees) == ("added", ("q0",), 1, 1)
    met = weaver.add(query("qc", (8, 4)))
    assert (met.partners, met.cost_before, met.cost) == (("q0", "qb"), Fraction("3.6"), Fraction("4.4"))
    assert (met.edges_before, met.edges, met.trees) == (Fraction("0.4"), Fraction("0.4"), 1)
    other = weaver_of([(16, 4), (8, 4)])
    apart = other.add(query("qb", (10, 5)))
    assert (apart.partners, apart.trees, apart.cost) == ((), 2, Fraction("4.3"))
    left = weaver.remove("q0")
    assert (left.what, left.partners, left.cost) == ("removed", ("qb", "qc"), Fraction("2.8"))
    assert weaver.alter(query("qc", (10, 5))).partners == ("qb",)
    assert (weaver.cost, len(weaver), "qc" in weaver, "q0" in weaver) == (Fraction("2"), 2, True, False)
    weaver.remove("qb")
    gone = weaver.remove("qc")
    assert (gone.partners, gone.cost, gone.trees, gone.edges, len(weaver)) == ((), 0, 0, 0, 0)


def test_planning_from_scratch_undoes_what_the_order_did() -> None:
    """4.4 is less than the line through the origin expects after 3.6 for two queries; so it takes a tolerance of 0."""
    weaver = weaver_of([(16, 4), (10, 5)], tolerance=0)
    change = weaver.add(query("qc", (8, 4)))
    assert (change.reconstructed, change.cost) == (True, Fraction("4.3"))
    assert trees(weaver.plan()) == [["q0", "qc"], ["q1"]]
    assert weaver.snapshot().curve.points == ((1, Fraction("2.2")), (2, Fraction("3.6")), (3, Fraction("4.3")))


def test_what_is_left_of_a_tree_may_join_another() -> None:
    """a and b differ in too many edges to share; c had kept b busy."""
    sizes = {"a": (2, 2), "b": (3, 3), "c": (7, 7)}
    weaver = weaver_of(rate=Fraction("0.51"))
    for name in ("b", "c", "a"):
        weaver.add(query(name, sizes[name]))
    assert trees(weaver.plan()) == [["b", "c"], ["a"]]
    change = weaver.remove("c")
    assert change.partners == ("b",)
    assert (change.trees_before, change.trees) == (2, 1)
    assert trees(weaver.plan()) == [["b", "a"]]


names = st.sampled_from([f"q{number}" for number in range(7)])
fields = st.sampled_from([{}, {}, {}, {"group_by": "k"}, {"where": "x > 1"}])
steps = st.lists(st.tuples(st.sampled_from(("add", "add", "add", "alter", "remove")), names, plain_sizes, fields))
rates = st.sampled_from(("0.2", "0.7", "1.2", "40")).map(Fraction)


def taken(weaver: weft.Weaver, step: tuple[str, str, Sizes, dict[str, str]]) -> Change | None:
    """Do what a step says; a name that is there is altered, one that is not cannot be removed."""
    what, name, size, more = step
    if what == "remove":
        return weaver.remove(name) if name in weaver else None
    asked = query(name, size, **more)
    return weaver.alter(asked) if name in weaver else weaver.add(asked)


def sizes_of(plan: weft.Plan) -> list[list[Sizes]]:
    ticks = 1_000_000
    found = []
    for tree in plan.trees:
        windows = [plan.workload.window(i) for i in tree.queries.tolist()]
        found.append([(w.range // ticks, w.slide // ticks, w.offset // ticks) for w in windows])
    return found


@given(taking=steps, rate=rates, tolerance=st.sampled_from((0, 0.2, math.inf)))
def test_what_holds_after_every_change(taking: list[Any], rate: Fraction, tolerance: float) -> None:
    weaver, live, before, comparisons = weaver_of(rate=rate, tolerance=tolerance), set(), Fraction(0), 0
    for step in taking:
        change = taken(weaver, step)
        if change is None:
            continue
        assert change.cost_before == before
        live = live - {change.query} if change.what == "removed" else live | {change.query}
        comparisons += change.comparisons
        assert (len(weaver), weaver.comparisons) == (len(live), comparisons)
        before = change.cost
        if not live:
            assert weaver.cost == weaver.edges == 0
            continue
        plan = weaver.plan()
        placed = trees(plan)
        assert sorted(id_ for tree in placed for id_ in tree) == sorted(live)
        assert weft.Plan.from_json(plan.to_json()) == plan
        assert all(len({plan.workload[id_].group_by for id_ in tree}) == 1 for tree in placed)
        assert change.cost == weaver.cost == plan.cost == sum(cost(sizes, rate) for sizes in sizes_of(plan))
        assert change.edges == weaver.edges == sum(edge_rate(sizes) for sizes in sizes_of(plan))
        assert change.trees == len(placed)
        if change.reconstructed:
            assert weaver.deviation == 0 or len(live) == 0
        elif change.what != "removed":
            (own,) = (tree for tree in placed if change.query in tree)
            assert set(change.partners) == set(own) - {change.query}
            _nothing_more_to_merge(plan, placed.index(own), rate)


def _nothing_more_to_merge(plan: weft.Plan, own: int, rate: Fraction) -> None:
    sizes = sizes_of(plan)
    for other, tree in enumerate(plan.trees):
        if other != own and plan.group_by(tree) == plan.group_by(plan.trees[own]):
            assert benefit(sizes[own], sizes[other], rate) <= 0


@fewer(2)
@given(taking=steps, rate=rates)
def test_tolerating_nothing_is_planning_from_scratch(taking: list[Any], rate: Fraction) -> None:
    weaver, planned = weaver_of(rate=rate, tolerance=0), 0
    for step in taking:
        change = taken(weaver, step)
        if change is None or not len(weaver):
            continue
        planned += 1
        plan = weaver.plan()
        assert trees(plan) == trees(weft.optimize(plan.workload, plan.stats, technique="panes"))
        assert (change.reconstructed, weaver.reconstructions) == (True, planned)


@fewer(2)
@given(taking=steps, rate=rates, tolerance=st.sampled_from((0, Fraction(1, 10), 0.3)))
def test_the_deviation_stays_within_the_tolerance(taking: list[Any], rate: Fraction, tolerance: float) -> None:
    weaver = weaver_of(rate=rate, tolerance=tolerance)
    for step in taking:
        change = taken(weaver, step)
        assert weaver.deviation <= tolerance
        if change is not None and change.deviation > tolerance:
            assert change.reconstructed


def test_tolerating_anything_never_plans_from_scratch() -> None:
    weaver = weaver_of([(size, slide) for size, slide in zip(range(5, 45), range(3, 43), strict=True)], Fraction(1, 50))
    assert weaver.reconstructions == 0
    assert weaver.deviation > 1


def test_weighing_a_query_is_a_walk_along_the_trees() -> None:
    """The overhead that the paper counts: pairs of trees weighed. From scratch it is all pairs, and more."""
    sizes: list[Sizes] = [(slide + 1, slide) for slide in range(3, 103)]
    weaver = weaver_of(sizes, Fraction(1, 1000))
    count = len(weaver.plan().trees)
    assert count > 50
    assert count <= weaver.add(query("new", (8, 7, 2))).comparisons <= 3 * count
    scratch = weaver_of(sizes[:-1], Fraction(1, 1000))
    scratch.tolerance = 0
    assert scratch.add(query("new", (8, 7, 2))).comparisons >= count * (count - 1) // 2


# any plan, any technique, any price


@pytest.mark.parametrize("planner", ["no_share", "shared", "weave_share", "tri_weave", "pairing", "random"])
@pytest.mark.parametrize("given", [{}, {"technique": "panes"}, {"price": "refined"}, {"slicing": "panes"}])
def test_a_weaver_goes_on_from_any_plan(planner: str, given: dict[str, str]) -> None:
    sizes: list[Sizes] = [(16, 4), (10, 5), (8, 4), (9, 6), (12, 8)]
    queries = [query(f"q{i}", size, group_by=["k"] if i % 2 else []) for i, size in enumerate(sizes)]
    rows = weft.Query("rows", "max(x)", weft.Window.rows(10, 3), where="x > 2")
    stats = weft.Stats(3, keys=4, filters={"x > 2": 0.25})
    plan = weft.optimize(weft.Workload([*queries, rows]), stats, planner, **given)
    weaver = weft.Weaver.of(plan, tolerance=math.inf)
    assert weaver.cost == plan.cost
    assert trees(weaver.plan()) == trees(plan)
    assert weaver.plan().trees == plan.trees
    weaver.add(query("new", (15, 5)))
    weaver.remove("q0")
    weaver.remove("rows")
    after = weaver.plan()
    assert (after.cost, after.feed, after.price, after.slicing) == (weaver.cost, plan.feed, plan.price, plan.slicing)
    assert weft.Plan.from_json(after.to_json()) == after
    assert sorted(after.workload.ids) == ["new", "q1", "q2", "q3", "q4"]
    again = weft.Weaver.of(after)
    assert again.cost == after.cost


@fewer(2)
@given(taking=steps, rate=rates, tolerance=st.sampled_from((0, 0.2, math.inf)))
def test_over_shared_slices_every_change_moves_what_all_trees_read(
    taking: list[Any], rate: Fraction, tolerance: float
) -> None:
    """C = rate + trees x E_all + sum of E x Omega, for each kin (Shein and Chrysanthis, TKDE 2020, section 3.1)."""
    weaver = weaver_of(rate=rate, tolerance=tolerance, planner="tri_weave")
    for step in taking:
        taken(weaver, step)
        if not len(weaver):
            assert weaver.cost == 0
            continue
        plan = weaver.plan()
        expected = Fraction(0)
        for keys in {plan.group_by(tree) for tree in plan.trees}:
            kin = [sizes for sizes, tree in zip(sizes_of(plan), plan.trees, strict=True) if plan.group_by(tree) == keys]
            everything = edge_rate([size for sizes in kin for size in sizes])
            expected += rate + sum(cost(sizes, everything) for sizes in kin)
            assert all(benefit(left, right, everything) <= 0 for left, right in combinations(kin, 2))
        assert plan.cost == weaver.cost == expected
        if tolerance == 0:
            scratch = weft.optimize(plan.workload, plan.stats, "tri_weave", technique="panes")
            assert (scratch.cost, trees(scratch)) == (plan.cost, trees(plan))


def test_over_shared_slices_a_newcomer_may_bring_others_together() -> None:
    """Two trees that cost 20/3 more as one than a pass of 2/3 is worth; with ten edges a second more, it is."""
    weaver = weaver_of([(20, 2), (30, 3)], planner="tri_weave")
    assert trees(weaver.plan()) == [["q0"], ["q1"]]
    dense = weaver.add(weft.Query("dense", "max(x)", weft.Window("100 ms")))
    assert (dense.partners, dense.trees_before, dense.trees) == ((), 2, 2)
    assert trees(weaver.plan()) == [["q0", "q1"], ["dense"]]


# snapshots


@fewer(2)
@given(taking=steps, at=st.integers(0, 8), rate=rates, tolerance=st.sampled_from((0, 0.1, math.inf)), data=st.data())
def test_a_weaver_restored_does_as_the_first_would_have_done(
    taking: list[Any], at: int, rate: Fraction, tolerance: float, data: st.DataObject
) -> None:
    planner = data.draw(st.sampled_from(("weave_share", "tri_weave")))
    first = weaver_of(rate=rate, tolerance=tolerance, planner=planner)
    for step in taking[:at]:
        taken(first, step)
    snapshot = first.snapshot()
    second = weft.Weaver.restore(snapshot, background=False)
    assert (second.snapshot(), second.cost, second.deviation) == (snapshot, first.cost, first.deviation)
    for step in taking[at:]:
        assert taken(first, step) == taken(second, step)
        assert (first.snapshot(), first.reconstructions) == (second.snapshot(), second.reconstructions)


# one stream, one clock


def test_queries_that_leave_the_time_to_others_share_their_clock() -> None:
    weaver = weaver_of([(8, 4)], Fraction(40))
    weaver.add(query("named", (8, 4), time="ts"))
    weaver.add(query("unnamed", (8, 4)))
    assert trees(weaver.plan()) == [["q0", "named", "unnamed"]]
    with pytest.raises(weft.BadRequest, match="query 'late': time: some queries name a time and others leave it"):
        weaver.add(query("late", (8, 4), time="other"))
    assert "late" not in weaver
    weaver.remove("named")
    weaver.add(query("late", (8, 4), time="other"))
    assert trees(weaver.plan()) == [["q0", "unnamed", "late"]]
    again = weft.Weaver.restore(weaver.snapshot())
    again.remove("late")
    again.add(query("last", (8, 4)))
    assert trees(again.plan()) == [["q0", "unnamed", "last"]]
    assert weft.Plan.from_json(weaver.plan().to_json()) == weaver.plan()


def test_queries_of_two_clocks_stay_apart() -> None:
    weaver = weaver_of(rate=Fraction(40))
    weaver.add(query("a", (8, 4), time="ts"))
    weaver.add(query("b", (8, 4), time="other"))
    assert trees(weaver.plan()) == [["a"], ["b"]]
    weaver.remove("b")
    weaver.add(query("c", (8, 4)))
    assert trees(weaver.plan()) == [["a", "c"]]


# what is refused


@pytest.mark.parametrize("tolerance", [-0.1, math.nan, "0.2", None, True])
def test_bad_tolerances(tolerance: Any) -> None:
    with pytest.raises(weft.BadRequest, match="Give 0 or more") as caught:
        weft.Weaver(weft.Stats(), tolerance=tolerance)
    assert caught.value.field == "tolerance"


def test_what_is_refused_changes_nothing() -> None:
    weaver = weaver_of([(16, 4), (10, 5)])
    before = weaver.snapshot()
    floats = weft.Weaver(weft.Stats(), "r_int")
    refused = {
        "query 'q0': id: there is a query of this name. Alter it": lambda: weaver.add(query("q0", (8, 4))),
        "query 'q': id: there is no query of this name. Did you mean 'q1'": lambda: weaver.remove("q"),
        "query 'xyz': id: there is no query of this name. Add it first": lambda: weaver.alter(query("xyz", (8, 4))),
        "query 'xyz': id: there is no query of this name. There are q0, q1": lambda: weaver.remove("xyz"),
        "query 'xyz': id: there is no query of this name. Add one first": lambda: weaver_of().remove("xyz"),
        "is no query. Give a weft.Query": lambda: weaver.add("SELECT 1"),  # type: ignore[arg-type]
        "id: Query(id='x', measures=(Measure(name='max(x)', expression... is no name": lambda: weaver.remove(
            query("x", (8, 4))
        ),  # type: ignore[arg-type]
        "query 'sum': technique: r_int cannot be used": lambda: floats.add(
            weft.Query("sum", "sum(x)", weft.Window("1 s"))
        ),
        "it reads b, the others a": lambda: _two_streams(weaver_of()),
        "there are no queries. Add one first": lambda: weaver_of().plan(),
        "'optimal' does not take queries one at a time. Use weave_share or tri_weave": lambda: weaver_of(
            planner="optimal"
        ),
        "is no stats": lambda: weft.Weaver(5),  # type: ignore[arg-type]
        "there is no technique 'xyz'": lambda: weft.Weaver(weft.Stats(), "xyz"),
        "is no plan": lambda: weft.Weaver.of("plan"),  # type: ignore[arg-type]
    }
    for said, ask in refused.items():
        with pytest.raises(weft.BadRequest) as caught:
            ask()
        assert said in str(caught.value)
    assert weaver.snapshot() == before
    assert len(floats) == 0


def _two_streams(weaver: weft.Weaver) -> None:
    weaver.add(query("a", (8, 4), source="a"))
    weaver.add(query("b", (8, 4), source="b"))
