"""EXPLAIN is a function of the plan: golden texts, one per plan, typed from nothing that varies.

`make golden` rewrites them; the diff is the review. The costs of Example 3 are those of Guirguis et al., CIKM 2011,
section 5.1, and are asserted apart from the texts.
"""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

import weft
from tests.plans import goldens
from tests.plans.workloads import PLANS


@pytest.mark.parametrize("name", PLANS)
def test_explain_is_the_golden_text(name: str) -> None:
    goldens.check(name, PLANS[name].explain())


def test_example_3_costs_what_the_paper_says() -> None:
    assert PLANS["example_3_weave_share"].cost == Fraction("4.3")
    assert PLANS["example_3_shared"].cost == Fraction("4.4")
    assert PLANS["example_3_no_share"].cost == Fraction("5.5")
    assert PLANS["example_3_optimal"].cost == PLANS["example_3_optimal"].bound == Fraction("4.3")
    assert [tree.queries.tolist() for tree in PLANS["example_3_weave_share"]] == [[0, 2], [1]]


def test_the_arithmetic_of_a_tree_adds_up() -> None:
    for name, plan in PLANS.items():
        if name == "many_filters":  # which reads only some rows, see below
            continue
        read = plan.stats.rate if plan.feed == "events" else Fraction("0.4")  # Example 3 has 8 edges in 20 s
        assert plan.feeding_cost == (plan.stats.rate if plan.feed == "slices" else 0)
        final = sum(read + tree.edge_rate * tree.groups * tree.operations for tree in plan.trees)
        assert plan.cost == plan.feeding_cost + final


def test_what_filters_add_up_to_is_shown() -> None:
    """Rows pass x > 5, only x > 1, or neither; one of 1,000 passes x > 5, so not every slice of 1,000 has one."""
    (tree,) = PLANS["filters"].trees
    assert sum(shards * each for _, shards, each in tree.filters) == tree.operations
    rare = 1 - 0.999**1_000
    expected = {None: 2 + rare, "(x > 1)": 1 + rare, "(x > 5)": rare, "(y = 2)": 2 + rare}
    assert {where: float(shards) for where, shards, _ in tree.filters} == pytest.approx(expected, rel=1e-3)
    (many,) = PLANS["many_filters"].trees
    assert sum(shards * each for _, shards, each in many.filters) == many.operations
    missed = math.prod(1 - Fraction(i + 1, 100) for i in range(10))
    assert float(many.input_rate) == pytest.approx(float(100 * (1 - missed)))


def test_a_filter_that_every_row_passes_is_not_the_price_of_none() -> None:
    window = weft.Window("60 s", "10 s")
    workload = weft.Workload([weft.Query("a", "max(x)", window, where="x > 1"), weft.Query("b", "max(x)", window)])
    none, all_ = (weft.optimize(workload, weft.Stats(100, filters=f), planner="shared") for f in ({}, {"x > 1": 1}))
    assert (none.trees[0].filters, len(all_.trees[0].filters)) == ((), 2)
    assert all_.trees[0].operations == sum(shards * each for _, shards, each in all_.trees[0].filters)
    assert all_.cost > none.cost


@pytest.mark.parametrize("name", PLANS)
def test_html_escapes_what_comes_from_a_query(name: str) -> None:
    html = PLANS[name]._repr_html_()
    assert html.count("<tr>") >= len(PLANS[name].trees)
    for tree in PLANS[name].trees:
        assert tree.technique in html


def test_a_hostile_name_is_text_in_a_notebook() -> None:
    query = weft.Query("<script>alert(1)</script>", "max(`<b>`)", weft.Window("1 min"))
    html = weft.optimize(weft.Workload([query]))._repr_html_()
    assert "<script>" not in html
    assert "<b>`" not in html
    assert "&lt;script&gt;" in html


def test_a_notebook_shows_the_picture_however_many_trees_there_are() -> None:
    queries = [weft.Query(f"q{key}", "max(x)", weft.Window("1 min"), group_by=f"k{key}") for key in range(20)]
    plan = weft.optimize(weft.Workload(queries))
    assert len(plan.trees) == 20
    assert plan._repr_html_().startswith("<div><details open>")


def test_a_phantom_is_called_one() -> None:
    asked = {"ab": ["a", "b"], "c": ["c"], "b": ["b"]}
    queries = [weft.Query(name, "sum(x)", weft.Window("1 min"), group_by=keys) for name, keys in asked.items()]
    told = weft.optimize(weft.Workload(queries), weft.Stats(5_000, {"a": 1_000, "b": 12, "c": 2})).explain()
    assert (
        "by b, c: 2.5 x 24,000 partials by a, b, c rolled up = 60,000, a phantom that others are rolled up from" in told
    )
    assert told.count("phantom") == 1


def test_one_of_a_kind_is_no_plural() -> None:
    plan = weft.optimize(weft.Workload([weft.Query("q", "max(x)", weft.Window("1 min"))]))
    assert "stream      1 row/s, 1 key\n" in plan.explain()
    assert repr(plan).startswith("Plan(weave_share: 1 query, 1 tree, ")
    weaver = weft.Weaver.of(plan)
    assert repr(weaver).startswith("Weaver(1 query, 1 tree, ")
    assert str(weaver.add(weft.Query("r", "min(x)", weft.Window("1 min")))).endswith("; 1 tree")
    assert str(weaver.remove("r")).endswith("; 1 tree")
    assert str(weaver.remove("q")).endswith("; 1 -> 0 trees")
