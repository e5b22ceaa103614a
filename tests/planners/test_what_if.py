"""What if: the effects of queries that come and go, in numbers and in words; any planner's plan may be asked."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import weft
from tests.planners.plain import fewer, plain_sizes, window, workload
from tests.plans import goldens
from tests.plans.workloads import PLANS

README = PLANS["readme"]
HOURLY = weft.Query("hourly", "max(price)", weft.Window("1 h"))


def asked(plan: weft.Plan, name: str, **given: Any) -> str:
    return plan.what_if(**given)[name].told


def test_in_words() -> None:
    goldens.check(
        "what_if",
        str(
            README.what_if(
                add="""
                -- name: low
                SELECT min(price) FROM trades [RANGE 10 MIN SLIDE 2 MIN];
                -- name: odder
                SELECT sum(volume) FROM trades [RANGE 7 MIN SLIDE 1 MIN];
                SELECT symbol, count(*) FROM trades [RANGE 1 D SLIDE 1 H] WHERE price > 100 GROUP BY symbol;
                SELECT venue, count(*) FROM trades [RANGE 1 H] GROUP BY venue;
                SELECT venue, max(price) FROM trades [RANGE 2 H SLIDE 1 H] GROUP BY venue;
                """,
                remove=["high", "last_hundred"],
            )
        ),
    )


def test_example_3() -> None:
    """Guirguis et al., CIKM 2011, section 5.1: from 4.3 by a query more and by one less."""
    plan = PLANS["example_3_weave_share"]
    like = plan.what_if(add=weft.Query("like", "max(a)", weft.Window("4 s")))
    # its answers, at the edges that are there: 1/4 x 1
    assert like["like"].cost == Fraction(1, 4)
    assert (like["like"].trees, like["like"].edges) == ((1,), 0)
    assert str(like["like"]) == "like joins tree 1, adds no edge, costs 5.81 % more"
    assert like.plan.cost == Fraction("4.55") == plan.cost * (1 + like.share)
    gone = plan.what_if(remove="qb")
    assert str(gone["qb"]) == "qb leaves tree 2, which goes with it, takes 12 edges per minute away, costs 37.2 % less"
    assert gone.plan.cost == Fraction("2.7")


def test_who_becomes_one_tree_and_who_gets_one_of_his_own() -> None:
    three = weft.optimize(workload([(2, 2), (3, 3), (5, 5)]), weft.Stats(40), "no_share")
    all_in = three.what_if(add=weft.Query("each", "max(x)", weft.Window("1 s")))
    assert all_in["each"].told.startswith("joins trees 1, 2 and 3, which become one, takes ")
    assert len(all_in.plan.trees) == 1
    slow = weft.optimize(workload([(2, 2), (3, 3)]), weft.Stats(0.1), technique="panes").what_if(
        add=[weft.Query("a", "max(x)", weft.Window("7 s")), weft.Query("b", "max(x)", weft.Window("7 s"))]
    )
    assert slow["a"].told.startswith("gets a tree of its own, adds 8.571 edges per minute, ")
    assert slow["b"].told.startswith("shares a tree with a, which is new too, adds no edge, ")
    busy = weft.optimize(workload([(3, 3), (7, 7), (2, 2)]), weft.Stats(0.51), "contiguous", technique="panes")
    assert [tree.queries.tolist() for tree in busy.trees] == [[0, 1], [2]]
    assert busy.what_if(remove="q1")["q1"].told.startswith("leaves tree 1, of which the rest joins another, ")
    assert busy.what_if(remove="q2")["q2"].told.startswith("leaves tree 2, which goes with it, ")


def test_what_merging_trees_saves_is_not_said_to_be_the_query_s() -> None:
    """Five windows that slide by a minute, each with a pass of its own, until somebody comes who joins all of them."""
    sizes = [(60 * minutes, 60) for minutes in (2, 3, 5, 7, 10)]
    apart = weft.optimize(workload(sizes), weft.Stats(100), "no_share")
    all_in = apart.what_if(add="SELECT min(x) AS low FROM s [RANGE 4 MIN SLIDE 1 MIN]")
    assert all_in.effects[0].merged == 4
    assert "which become one" in all_in.effects[0].told
    assert all_in.effects[0].told.endswith("costs 80 % less")
    assert "4 trees went into others, and what that saves is the merging's, not the queries'" in all_in.assumed
    assert "stay in the trees" not in all_in.assumed
    woven = weft.optimize(workload(sizes), weft.Stats(100)).what_if(
        add="SELECT min(x) FROM s [RANGE 4 MIN SLIDE 1 MIN]"
    )
    assert (woven.effects[0].merged, "merg" in woven.assumed) == (0, False)
    assert "queries stay in the trees that weave_share put them in" in woven.assumed


def test_the_plan_that_comes_of_it_runs_the_queries_asked_for() -> None:
    answer = README.what_if(add=[HOURLY], remove="odd")
    assert answer.plan.workload.ids == ("avg_volume", "high", "last_hundred", "hourly")
    assert weft.Plan.from_json(answer.plan.to_json()) == answer.plan
    difference = weft.diff(README, answer.plan)
    assert (difference.added, difference.removed, difference.moved) == (("hourly",), ("odd",), ())
    assert README.workload.ids[-1] == "odd", "what is asked changes nothing"
    assert README.what_if() == README.what_if(add=weft.Workload([]), remove=[])
    assert README.what_if().plan is README


def test_a_query_is_altered_by_going_and_coming() -> None:
    answer = README.what_if(add=weft.Query("high", "max(price)", weft.Window("10 min", "1 min")), remove="high")
    assert [effect.change.what for effect in answer.effects] == ["removed", "added"]
    assert answer["high"].change.what == "added"
    assert weft.diff(README, answer.plan).altered == ("high",)
    again = weft.Query("high", "max(price)", weft.Window("1 h"), group_by="venue")
    with_it = README.what_if(
        add=[again, weft.Query("low", "min(price)", weft.Window("1 h"), group_by="venue")], remove="high"
    )
    assert with_it["low"].told.startswith("shares a tree with high, which is new too")


some = st.lists(st.tuples(plain_sizes, st.sampled_from(((), ("k",)))), min_size=1, max_size=4)


@fewer(2)
@given(
    old=some,
    new=some,
    planner=st.sampled_from(("tri_weave", "weave_share", "no_share", "shared", "optimal")),
    technique=st.sampled_from(("auto", "panes")),
    rate=st.sampled_from((0.2, 1.2, 40)),
    data=st.data(),
)
def test_effects_add_up_for_every_planner(
    old: list[Any], new: list[Any], planner: str, technique: str, rate: float, data: st.DataObject
) -> None:
    queries = [
        weft.Query(f"q{i}", "max(x)", window(*size), group_by=keys) for i, (size, keys) in enumerate([*old, *new])
    ]
    stats = weft.Stats(rate, keys=3)
    plan = weft.optimize(weft.Workload(queries[: len(old)]), stats, planner, technique)
    remove = data.draw(st.lists(st.sampled_from(plan.workload.ids), unique=True))
    answer = weft.what_if(plan, queries[len(old) :], remove)
    assert sum((effect.cost for effect in answer.effects), plan.cost) == answer.plan.cost
    assert sum(effect.share for effect in answer.effects) == answer.share
    edges = [sum(tree.edge_rate for tree in some.trees) for some in (plan, answer.plan)]
    assert sum((effect.edges for effect in answer.effects), edges[0]) == edges[1]
    assert [effect.query for effect in answer.effects] == remove + [query.id for query in queries[len(old) :]]
    met = any(sum(bool(tree & set(after)) for tree in map(set, _by_name(plan))) > 1 for after in _by_name(answer.plan))
    assert not met or "are merged" in answer.assumed
    moved = {move.query for move in weft.diff(plan, answer.plan).moved}
    kept = [set(tree) for tree in _by_name(plan)]
    for tree in kept:
        assert any(tree - set(remove) <= set(after) for after in _by_name(answer.plan)), "trees are never split"
    assert not moved or len(answer.plan.trees) < len(plan.trees) + len(new)


def _by_name(plan: weft.Plan) -> list[list[str]]:
    return [[plan.workload.id(i) for i in tree.queries.tolist()] for tree in plan.trees]


def test_all_may_go_if_somebody_comes() -> None:
    answer = README.what_if(add=HOURLY, remove=README.workload.ids)
    assert answer.plan.cost == weft.optimize(weft.Workload([HOURLY]), README.stats).cost
    assert answer["hourly"].told.startswith("gets a tree of its own, ")


def test_windows_given_as_arrays() -> None:
    plan = weft.optimize(weft.Workload.windows([10, 20, 30], 5), weft.Stats(100))
    answer = plan.what_if(add="SELECT count(*) FROM stream [RANGE 10 SEC SLIDE 5 SEC]", remove=["q1", "q1"])
    assert [effect.query for effect in answer.effects] == ["q1", "q4"]


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: README.what_if(remove="hig"), "query 'hig': id: there is no query of this name. Did you mean 'high'"),
        (lambda: README.what_if(add=README.workload["high"]), "query 'high': id: there is a query of this name"),
        (lambda: README.what_if(remove=README.workload.ids), "remove: no query would be left. Leave one, or add one"),
        (lambda: README.what_if(add="SELECT 1"), "query 'q5': SELECT"),
        (lambda: README.what_if(add=[HOURLY, HOURLY]), "query 'hourly': add: two queries have this name"),
        (lambda: README.what_if(add=7), "add: 7 is no list of queries"),
        (lambda: README.what_if(add=["high"]), "add: 'high' is no query"),
        (lambda: README.what_if(remove=7), "remove: 7 is no name. Give names of queries"),
        (lambda: README.what_if(add="SELECT max(a) FROM other [RANGE 1 H]"), "it reads other, the others trades"),
        (lambda: weft.what_if("plan"), "'plan' is no plan"),  # type: ignore[arg-type]
    ],
)
def test_what_is_refused(ask: Callable[[], object], said: str) -> None:
    with pytest.raises(weft.BadRequest) as caught:
        ask()
    assert said in str(caught.value)


def test_many_are_counted_and_names_are_text() -> None:
    hostile = "<script>\n\x1b[31m"
    many = [weft.Query(f"n{i}", "max(price)", weft.Window("1 h")) for i in range(25)]
    answer = README.what_if(add=[weft.Query(hostile, "max(price)", weft.Window("1 h")), *many])
    assert "and 6 more" in str(answer)
    assert "\x1b" not in str(answer)
    assert "<script>" not in answer._repr_html_()
    assert "&lt;script&gt;" in answer._repr_html_()
    assert repr(answer).startswith("WhatIf(26 added: cost ")
