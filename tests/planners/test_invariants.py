"""What holds of every plan, whatever the workload: against the paper's loop, written down plainly, and by laws."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import combinations
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import weft
import weft.planners.weave_share as room
from weft.algebra.partials import partials
from weft.planners import PLANNERS
from weft.planners.candidates import candidates
from weft.planners.prices import PRICES, choose_techniques
from weft.plans.kin import kin
from weft.queries import expressions as ex
from weft.slicing import SLICERS
from weft.slicing.slicers import pairs
from weft.techniques import AUTO, BY_NAME, why_not

SECOND = 1_000_000
MEASURES = ("count(*)", "sum(x)", "max(x)", "avg(x)", "stddev(x)", "sum(n)", "avg(n)")
TYPES = {"n": "bigint", "x": "double"}


@st.composite
def queries(draw: st.DrawFn, id: str, longest: int = 24) -> weft.Query:
    size, slide = draw(st.integers(1, longest)), draw(st.sampled_from((1, 2, 3, 4, 5, 6, 8, 9, 10, 12)))
    offset, delay = draw(st.sampled_from((0, 0, 1, -5))), draw(st.sampled_from((0, 0, 2)))
    return weft.Query(
        id,
        draw(st.sampled_from(MEASURES)),
        weft.Window.rows(size, slide, offset)
        if draw(st.integers(0, 9)) == 0
        else weft.Window.of(size * SECOND, slide * SECOND, offset * SECOND, delay * SECOND),
        where=draw(st.sampled_from((None, None, "x > 1", "n > 1"))),
        group_by=draw(st.sampled_from(((), ("k",), ("k", "lower(k)")))),
        time=draw(st.sampled_from((None, "ts"))),
    )


workloads = st.integers(1, 8).flatmap(
    lambda count: st.tuples(*(queries(f"q{number}") for number in range(count))).map(weft.Workload)
)
slicings, planners = st.sampled_from(sorted(SLICERS)), st.sampled_from(sorted(PLANNERS))
all_stats = st.builds(
    weft.Stats, st.sampled_from((0.1, 1, 3, 50, 10_000)), st.sampled_from((1, 7, 5_000)), st.sampled_from((None, TYPES))
)


@given(workload=workloads, stats=all_stats, slicing=slicings, planner=planners)
def test_a_plan_is_a_partition_that_can_run(
    workload: weft.Workload, stats: weft.Stats, slicing: str, planner: str
) -> None:
    plan = weft.optimize(workload, stats, planner, slicing=slicing)
    assert sorted(position for tree in plan.trees for position in tree.queries.tolist()) == list(range(len(workload)))
    for tree in plan.trees:
        members = [workload[position] for position in tree.queries.tolist()]
        assert len({(q.group_by, q.time or workload.time, q.window.unit) for q in members}) == 1
        assert members[0].window.unit == "time" or len({q.where for q in members}) == 1
        needed = [partial for q in members for aggregate in q.aggregates for partial in partials(aggregate)]
        assert why_not(BY_NAME[tree.technique], needed, stats.types) is None
        for query in members:  # every edge of the query is one of the tree's
            for modulus, residue in SLICERS[slicing](query.window):
                some = range(residue % modulus, 200 * modulus, modulus)
                assert all(any(t % m == a for m, a in tree.slices) for t in some)
    assert plan.cost == plan.feeding_cost + sum(tree.input_rate + tree.final_cost for tree in plan.trees)


@given(workload=workloads, stats=all_stats, slicing=slicings)
def test_greedy_merging_never_costs_more_than_not_sharing(
    workload: weft.Workload, stats: weft.Stats, slicing: str
) -> None:
    greedy = weft.optimize(workload, stats, "weave_share", slicing=slicing)
    alone = weft.optimize(workload, stats, "no_share", slicing=slicing)
    assert greedy.cost <= alone.cost
    assert dict(greedy.alternatives)["no_share"] == alone.cost
    assert dict(greedy.alternatives)["shared"] == weft.optimize(workload, stats, "shared", slicing=slicing).cost


@given(workload=workloads, stats=all_stats, seed=st.randoms(use_true_random=False))
def test_what_needs_no_choice_does_not_depend_on_the_order(
    workload: weft.Workload, stats: weft.Stats, seed: random.Random
) -> None:
    shuffled = list(workload)
    seed.shuffle(shuffled)
    for planner in ("no_share", "shared"):
        costs = {weft.optimize(w, stats, planner).cost for w in (workload, weft.Workload(shuffled))}
        assert len(costs) == 1


def exactly(rate: float) -> Fraction:
    return Fraction(str(rate))


def paper_loop(windows: list[weft.Window], rate: Fraction) -> tuple[list[set[int]], Fraction]:
    """Figure 2 of Guirguis et al., CIKM 2011, over queries one by one, edges counted in one composite slide."""
    period = math.lcm(*(window.slide // SECOND for window in windows))

    def cost(tree: set[int]) -> Fraction:
        edges = {
            t
            for number in tree
            for modulus, residue in pairs(windows[number])
            for t in range(residue // SECOND, period, modulus // SECOND)
        }
        omega = sum(Fraction(windows[number].range, windows[number].slide) for number in tree)
        return rate + Fraction(len(edges), period) * omega

    trees = [{number} for number in range(len(windows))]
    while len(trees) > 1:
        benefits = {
            (i, j): cost(trees[i]) + cost(trees[j]) - cost(trees[i] | trees[j])
            for i, j in combinations(range(len(trees)), 2)
        }
        (i, j) = max(benefits, key=lambda pair: (benefits[pair], -pair[0], -pair[1]))
        if benefits[i, j] <= 0:
            break
        trees[i] |= trees.pop(j)
    return trees, sum((cost(tree) for tree in trees), Fraction(0))


plain_slides = st.sampled_from((1, 2, 3, 4, 5, 6, 8, 9, 10, 12))
plain_windows = st.builds(
    lambda size, slide, offset: weft.Window.of(size * SECOND, slide * SECOND, offset * SECOND),
    st.integers(1, 30),
    plain_slides,
    st.sampled_from((0, 0, 0, 1, 4)),
)


@given(windows=st.lists(plain_windows, min_size=1, max_size=7), rate=st.sampled_from((0.2, 1.2, 3, 40)).map(exactly))
def test_the_table_of_benefits_is_the_papers_loop(windows: list[weft.Window], rate: Fraction) -> None:
    workload = weft.Workload([weft.Query(f"q{i}", "max(x)", window) for i, window in enumerate(windows)])
    plan = weft.optimize(workload, weft.Stats(rate=rate), technique="panes")
    trees, cost = paper_loop(windows, rate)
    assert plan.cost == cost
    assert [set(tree.queries.tolist()) for tree in plan.trees] == sorted(trees, key=min)


@st.composite
def families(draw: st.DrawFn) -> tuple[Any, Any]:
    """Candidates of one kin, at rates where every merge may well pay."""
    unit = draw(st.sampled_from((1, 1, 60)))
    drawn = draw(st.lists(st.tuples(st.integers(1, 24), plain_slides, st.integers(0, 3)), min_size=2, max_size=6))
    sparse = draw(st.booleans())
    rows = draw(st.integers(0, 4)) == 0
    windows = []
    for size, slide, offset in drawn:
        parts = (size if sparse else max(size, slide), slide, offset)
        windows.append(weft.Window.rows(*parts) if rows else weft.Window.of(*(part * unit * SECOND for part in parts)))
    measures = draw(st.lists(st.sampled_from(MEASURES), min_size=len(windows), max_size=len(windows)))
    workload = weft.Workload(
        [weft.Query(f"q{i}", m, w, group_by="k") for i, (m, w) in enumerate(zip(measures, windows, strict=True))]
    )
    technique = draw(st.sampled_from(("auto", "auto", "panes", "disjoint_table")))
    stats = weft.Stats(draw(st.sampled_from((1, 3, 10, 50, 1_000))), draw(st.sampled_from((1, 2, 30))), TYPES)
    price = PRICES["operations"](stats, stats.keys, rows, choose_techniques(technique))
    return candidates(workload, kin(workload)[0], draw(st.sampled_from(sorted(SLICERS)))), price


@settings(suppress_health_check=list(HealthCheck))
@given(family=families())
def test_the_short_cut_is_sound(family: tuple[Any, Any]) -> None:
    """Where every merge is said to pay, the loop without the short cut ends in one tree too."""
    found, price = family
    assume(len(found) > 1 and room.every_merge_pays(found, price))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(room, "every_merge_pays", lambda queries, price: False)
        assert len(room.weave_share(found, price).trees) == 1


def test_the_short_cut_is_taken() -> None:
    """At 5,000 rows a second nobody weighs pairs of windows of minutes."""
    windows = [weft.Window.of(size * 60 * SECOND, slide * 60 * SECOND) for size, slide in ((10, 2), (15, 5), (9, 7))]
    workload = weft.Workload([weft.Query(f"q{i}", "max(x)", window) for i, window in enumerate(windows)])
    price = PRICES["operations"](weft.Stats(5_000), 1, False, choose_techniques("auto"))
    assert room.every_merge_pays(candidates(workload, kin(workload)[0], "pairs"), price)


def test_the_short_cut_is_not_taken_where_the_loop_stops_early() -> None:
    """Example 3 of Guirguis et al., CIKM 2011: at 1.2 rows a second, two trees are best."""
    windows = [weft.Window.of(size * SECOND, slide * SECOND) for size, slide in ((16, 4), (10, 5), (8, 4))]
    workload = weft.Workload([weft.Query(f"q{i}", "max(x)", window) for i, window in enumerate(windows)])
    price = PRICES["operations"](weft.Stats(1.2), 1, False, choose_techniques("panes"))
    assert not room.every_merge_pays(candidates(workload, kin(workload)[0], "pairs"), price)


OMEGA = {
    # 16 s by 4 s and 8 s by 4 s: an edge every 4 s, 4 slices in the longest window, two answers per edge
    "panes": 4 + 2,
    "disjoint_table": (2 + 2) + 2,
    "r_int": 1 + 2,
}


@pytest.mark.parametrize("technique", OMEGA)
@pytest.mark.parametrize("sizes", [(16, 8), (8, 16)])
def test_operations_per_edge(technique: str, sizes: tuple[int, int]) -> None:
    queries = [weft.Query(f"q{size}", "sum(n)", weft.Window.of(size * SECOND, 4 * SECOND)) for size in sizes]
    plan = weft.optimize(weft.Workload(queries), weft.Stats(types=TYPES), "shared", technique)
    assert [tree.operations for tree in plan.trees] == [OMEGA[technique]]
    assert [tree.edge_rate for tree in plan.trees] == [Fraction(1, 4)]


@given(workload=workloads, stats=all_stats, planner=planners)
def test_planning_twice_gives_the_same(workload: weft.Workload, stats: weft.Stats, planner: str) -> None:
    assert weft.optimize(workload, stats, planner) == weft.optimize(workload, stats, planner)


@given(workload=workloads, stats=all_stats)
def test_the_technique_is_the_cheapest_of_those_that_can_serve(workload: weft.Workload, stats: weft.Stats) -> None:
    chosen = weft.optimize(workload, stats, "shared")
    for name in (technique.name for technique in AUTO):
        try:
            other = weft.optimize(workload, stats, "shared", technique=name)
        except weft.BadRequest:
            continue
        assert chosen.cost <= other.cost


@given(workload=workloads, stats=all_stats)
def test_losers_are_named_with_a_reason(workload: weft.Workload, stats: weft.Stats) -> None:
    for tree in weft.optimize(workload, stats).trees:
        assert {name for name, _ in tree.lost} == {technique.name for technique in AUTO} - {tree.technique}
        assert all(reason for _, reason in tree.lost)


def test_queries_with_equal_edges_always_share() -> None:
    workload = weft.Workload(
        [weft.Query(f"q{i}", f"max(x{i})", weft.Window("10 s", "5 s"), where=f"x > {i}") for i in range(5)]
    )
    plan = weft.optimize(workload, weft.Stats(rate=0.001))
    assert [tree.queries.tolist() for tree in plan.trees] == [[0, 1, 2, 3, 4]]


def test_expressions_are_not_evaluated_to_find_kin() -> None:
    """`lower(k)` and `k` are different keys, and never share a tree."""
    lower = ex.Operation("lower", (ex.Column(("k",)),))
    queries = [
        weft.Query(id, "count(*)", weft.Window("10 s"), group_by=[key])
        for id, key in (("a", ex.Column(("k",))), ("b", lower), ("c", lower))
    ]
    plan = weft.optimize(weft.Workload(queries), weft.Stats(1_000_000))
    assert [tree.queries.tolist() for tree in plan.trees] == [[0], [1, 2]]
