"""Who saves what: shares of a plan's cost, by query and by owner, against running alone."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import weft
from tests.planners.plain import Sizes, cost, plain_sizes, window
from tests.plans import goldens
from tests.plans.workloads import PLANS
from weft.planners.savings import NOBODY

EXAMPLE_3 = PLANS["example_3_weave_share"]


def test_example_3() -> None:
    """Guirguis et al., CIKM 2011, section 5.1: 2.2, 1.6 and 1.7 alone; a and c share a tree of 2.7."""
    savings = EXAMPLE_3.savings()
    assert savings.alone == (Fraction("2.2"), Fraction("1.6"), Fraction("1.7"))
    assert savings.cost == (Fraction("2.7") * 22 / 39, Fraction("1.6"), Fraction("2.7") * 17 / 39)
    assert (savings["qb"].saved, savings["qa"].ratio, savings["qc"].ratio) == (0, Fraction(4, 13), Fraction(4, 13))
    # C(no share) - C(plan): the savings of Chung, Guirguis and Kurdia, COCOON 2014, section 3
    assert savings.total.saved == Fraction("5.5") - Fraction("4.3")


owners = st.sampled_from(("risk", "desk", None))
asked = st.lists(st.tuples(plain_sizes, st.sampled_from(((), ("k",))), owners), min_size=1, max_size=6)


@given(
    asked=asked,
    planner=st.sampled_from(("tri_weave", "weave_share", "shared", "pairing")),
    given_=st.sampled_from(({}, {"technique": "panes"}, {"price": "refined"})),
    rate=st.sampled_from((0.2, 1.2, 40)),
)
def test_shares_add_up_to_the_cost(
    asked: list[tuple[Sizes, str, str | None]], planner: str, given_: dict[str, str], rate: float
) -> None:
    workload = weft.Workload(
        weft.Query(f"q{i}", "max(x)", window(*size), group_by=keys, owner=owner)
        for i, (size, keys, owner) in enumerate(asked)
    )
    plan = weft.optimize(workload, weft.Stats(rate, keys=3), planner, **given_)  # type: ignore[arg-type]
    alone = weft.optimize(workload, plan.stats, "no_share", **given_)  # type: ignore[arg-type]
    savings = plan.savings()
    assert sum(savings.cost) == plan.cost == savings.total.cost
    assert list(savings.alone) == [tree.cost for tree in alone.trees]
    assert sum(one.cost for one in savings.owners) == plan.cost
    assert sum(one.alone for one in savings.owners) == alone.cost
    assert sum(one.queries for one in savings.owners) == len(workload)
    assert {one.name for one in savings.owners} == {owner or NOBODY for _, _, owner in asked}
    for tree in plan.trees:
        positions = tree.queries.tolist()
        if plan.feed == "events":
            assert sum(savings.cost[i] for i in positions) == tree.cost
            assert len({savings[i].ratio for i in positions}) == 1, "all save alike"
            if tree.cost <= sum(savings.alone[i] for i in positions):
                assert all(savings[i].saved >= 0 for i in positions)
        # who would cost more alone pays more
        for i, j in pairwise(sorted(positions, key=lambda i: savings.alone[i])):
            assert savings.cost[i] <= savings.cost[j]


@given(sizes=st.lists(plain_sizes, min_size=1, max_size=5), rate=st.sampled_from((0.2, 1.2, 40)))
def test_alone_is_what_equation_1_says(sizes: list[Sizes], rate: float) -> None:
    workload = weft.Workload(weft.Query(f"q{i}", "max(x)", window(*size)) for i, size in enumerate(sizes))
    plan = weft.optimize(workload, weft.Stats(rate), "shared", technique="panes")
    assert plan.savings().alone == tuple(cost([size], Fraction(str(rate))) for size in sizes)


def test_sharing_may_cost_more_than_it_saves() -> None:
    plan = weft.optimize(
        weft.Workload.windows([2, 3], [2, 3], measures="max(x)"), weft.Stats(0.1), "shared", technique="panes"
    )
    savings = plan.savings()
    assert savings.total.saved < 0
    assert "more than alone" in str(savings)


def test_filters_and_rows_are_priced_as_the_plan_prices_them() -> None:
    queries = [
        weft.Query("few", "max(x)", weft.Window("10 s", "5 s"), where="x > 1"),
        weft.Query("all", "max(x)", weft.Window("10 s", "5 s")),
        weft.Query("rows", "max(x)", weft.Window.rows(10, 5)),
        weft.Query("moved", "max(x)", weft.Window("10 s", "4 s", "1 s")),
        weft.Query("delayed", "max(x)", weft.Window("10 s", "4 s", "1 s", "2 s")),
    ]
    stats = weft.Stats(100, filters={"x > 1": 0.1})
    savings = weft.savings(weft.optimize(weft.Workload(queries), stats))
    alone = [weft.optimize(weft.Workload([query]), stats).cost for query in queries]
    assert list(savings.alone) == alone
    assert savings["few"].alone < savings["all"].alone


def test_in_words() -> None:
    queries = list(PLANS["readme"].workload)
    named = [
        weft.Query(q.id, q.measures, q.window, q.where, q.group_by, owner=o)
        for q, o in zip(queries, ("desk", "risk", None, "risk"), strict=True)
    ]
    plan = weft.optimize(weft.Workload(named), PLANS["readme"].stats)
    goldens.check("savings_of_owners", str(plan.savings()))
    goldens.check("savings_of_example_3", str(EXAMPLE_3.savings()))


def test_json_has_all_of_it() -> None:
    queries = [
        weft.Query(f"q{i}", "max(x)", weft.Window(f"{i + 1} min", "1 min"), owner=("desk", None, "(no owner)")[i % 3])
        for i in range(50)
    ]
    savings = weft.optimize(weft.Workload(queries), weft.Stats(100, 7)).savings()
    read = json.loads(savings.to_json())
    assert [one["query"] for one in read["queries"]] == [query.id for query in queries]
    assert [one["owner"] for one in read["queries"]] == [query.owner for query in queries]
    assert [one["cost"] for one in read["queries"]] == [float(cost) for cost in savings.cost]
    assert [one["alone"] for one in read["queries"]] == [float(alone) for alone in savings.alone]
    assert sum(one["cost"] for one in read["queries"]) == pytest.approx(read["total"]["cost"])
    assert read["total"]["saved"] == float(savings.total.saved)
    assert read["total"]["ratio"] == float(savings.total.ratio)
    for position, one in enumerate(read["queries"]):
        assert position in savings.plan.trees[one["tree"] - 1].queries
        assert one["ratio"] == pytest.approx(one["saved"] / one["alone"])
    for owner in read["owners"]:
        mine = [one for one in read["queries"] if one["owner"] == owner["owner"]]
        assert owner["queries"] == len(mine)
        assert owner["saved"] == pytest.approx(sum(one["saved"] for one in mine))
    assert [owner["owner"] for owner in read["owners"]] == ["desk", "(no owner)", None]
    assert json.loads(EXAMPLE_3.savings().to_json())["owners"] == []


def test_many_queries_are_counted_and_names_are_text() -> None:
    count = 20_000
    ranges = np.arange(count) % 300 + 1
    workload = weft.Workload.windows(ranges, 10, owners=["<b>\x1b[31m", *["desk"] * (count - 1)])
    savings = weft.optimize(workload, weft.Stats(100)).savings()
    assert len(savings) == count
    assert "and 19,980 more" in str(savings)
    assert "\x1b" not in str(savings)
    assert "<b>\ufffd" not in savings._repr_html_()
    assert "&lt;b&gt;" in savings._repr_html_()
    assert repr(savings).startswith("Savings(20,000 queries: ")
    with pytest.raises(weft.BadRequest, match="is no plan"):
        weft.savings(7)  # type: ignore[arg-type]
    with pytest.raises(weft.BadRequest, match="there is no query of this name"):
        savings["nobody"]
