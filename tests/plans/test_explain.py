"""EXPLAIN is a function of the plan: golden texts, one per plan, typed from nothing that varies.

`make golden` rewrites them; the diff is the review. The costs of Example 3 are those of Guirguis et al., CIKM 2011,
section 5.1, and are asserted apart from the texts.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

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
    for plan in PLANS.values():
        read = plan.stats.rate if plan.feed == "events" else Fraction("0.4")  # Example 3 has 8 edges in 20 s
        assert plan.feeding_cost == (plan.stats.rate if plan.feed == "slices" else 0)
        final = sum(read + tree.edge_rate * tree.groups * tree.operations for tree in plan.trees)
        assert plan.cost == plan.feeding_cost + final


@pytest.mark.parametrize("name", PLANS)
def test_html_escapes_what_comes_from_a_query(name: str) -> None:
    html = PLANS[name]._repr_html_()
    assert html.count("<tr>") >= len(PLANS[name].trees)
    for tree in PLANS[name].trees:
        assert tree.technique in html


def test_a_hostile_name_is_text_in_a_notebook() -> None:
    import weft

    query = weft.Query("<script>alert(1)</script>", "max(`<b>`)", weft.Window("1 min"))
    html = weft.optimize(weft.Workload([query]))._repr_html_()
    assert "<script>" not in html
    assert "<b>`" not in html
    assert "&lt;script&gt;" in html
