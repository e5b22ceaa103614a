"""Trees across group-by sets: what they cost, how sets are rolled up, and who shares."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

import weft
from tests.planners.plain import SECOND, TYPES, edge_rate, fewer, plain_sizes
from tests.planners.test_best import FILTERS, is_least
from tests.planners.test_bounds import nothing_costs_less
from weft.planners import weave_share
from weft.planners.families import Family, begun, cost
from weft.planners.optimize import Request
from weft.planners.rollups import rolled_up
from weft.plans.stats import Keys
from weft.queries import expressions as ex
from weft.queries import parse

NAMES = ("a", "b", "c")
SETS = tuple(some for size in range(4) for some in combinations(NAMES, size))
rates = st.sampled_from(("0.7", "5", "50", "5000")).map(Fraction)
counts = st.fixed_dictionaries({name: st.sampled_from((1, 2, 10, 300)) for name in NAMES})


@st.composite
def asked(draw: st.DrawFn, least: int = 2, most: int = 6, filters: bool = False) -> weft.Workload:
    sizes = draw(st.lists(plain_sizes, min_size=least, max_size=most))
    return weft.Workload(
        [
            weft.Query(
                f"q{i}",
                draw(st.sampled_from(("max(x)", "sum(n)", "count(*)"))),
                weft.Window.of(*(part * SECOND for part in size)),
                where=draw(st.sampled_from((None, *FILTERS))) if filters else None,
                group_by=draw(st.sampled_from(SETS)),
            )
            for i, size in enumerate(sizes)
        ]
    )


def keys(text: str) -> Keys:
    return frozenset(parse.expressions(text)) if text else frozenset()


def groups(known: dict[str, int], some: Keys) -> int:
    """How many groups there are, where only single keys are counted."""
    product = 1
    for key in some:
        product *= known[ex.to_sql(key)]
    return product


def rolled(asked: set[Keys], partials: dict[Keys, int]) -> int:
    """What rolling up takes at least: each set from the smallest above it, with any phantoms."""
    finest: Keys = frozenset().union(*asked)
    every = [keys(",".join(some)) for some in SETS if keys(",".join(some)) < finest]
    others = [some for some in every if some not in asked]

    def takes(made: set[Keys]) -> int:
        return sum(min(partials[above] for above in made | {finest} if some < above) for some in made - {finest})

    return min(takes(asked | set(more)) for size in range(len(others) + 1) for more in combinations(others, size))


@given(asked=st.sets(st.sampled_from(SETS), min_size=1), data=st.data())
def test_each_set_is_made_of_the_smallest_above_it(asked: set[tuple[str, ...]], data: st.DataObject) -> None:
    known = data.draw(counts)
    sets = {keys(",".join(some)) for some in asked}
    found = rolled_up(sets, lambda some: Fraction(groups(known, some)))
    made = [some for some, _ in found]
    assert sets <= set(made)
    assert made[0] == frozenset().union(*sets)
    assert len(set(made)) == len(made)
    spent = 0
    for place, (some, source) in enumerate(found):
        assert (source is None) == (place == 0)
        if source is not None:
            assert source < place
            assert some < made[source]
            spent += groups(known, made[source])
    sizes = {keys(",".join(some)): groups(known, keys(",".join(some))) for some in SETS}
    assert spent == rolled(sets, sizes), "of three keys, adding phantoms greedily is best"


def test_a_set_that_nobody_asks_for_is_made_where_it_saves_more_than_it_takes() -> None:
    """Three sets below one of 80,000 groups: from that, 3 x 80,000; by way of a, b it is 80,000 + 2 x 100 + 10."""
    known = {"a": 10, "b": 10, "c": 800}
    found = rolled_up({keys("a"), keys("b"), keys(""), keys("a, b, c")}, lambda some: Fraction(groups(known, some)))
    assert [(sorted(map(ex.to_sql, some)), source) for some, source in found] == [
        (["a", "b", "c"], None),
        (["a", "b"], 0),
        (["a"], 1),
        (["b"], 1),
        ([], 2),
    ]


@fewer(4)
@given(workload=asked(1), rate=rates, known=counts)
def test_a_tree_costs_a_pass_the_roll_ups_and_its_answers(
    workload: weft.Workload, rate: Fraction, known: dict[str, int]
) -> None:
    """Under panes: the rows; and at each edge the partials that are added up, and each group's windows."""
    plan = weft.optimize(workload, weft.Stats(rate, known), "shared", "panes")
    sizes = [(q.window.range // SECOND, q.window.slide // SECOND, q.window.offset // SECOND) for q in workload]
    edges = edge_rate(sizes)

    def partials(some: Keys) -> Fraction:
        count = Fraction(groups(known, some))
        return count if count == 1 else min(count, rate / edges)

    sets = {frozenset(query.group_by) for query in workload}
    made = rolled_up(sets, partials)
    takes = Fraction(5, 2) * sum(partials(made[source][0]) for _, source in made if source is not None)
    answers = sum(
        partials(frozenset(query.group_by)) * Fraction(query.window.range, query.window.slide) for query in workload
    )
    (tree,) = plan.trees
    assert plan.cost == tree.cost == rate + edges * (takes + answers)
    assert sum(each.per_edge for each in tree.sets) == (takes + answers if len(sets) > 1 else 0)
    assert weft.Plan.from_json(plan.to_json()) == plan


@fewer(8)
@given(workload=asked(2, 5, filters=True), rate=rates, known=counts, told=st.booleans())
def test_the_exact_planners_find_the_best_trees_across_keys(
    workload: weft.Workload, rate: Fraction, known: dict[str, int], told: bool
) -> None:
    for family in Request(workload, weft.Stats(rate, known, TYPES, FILTERS if told else {}), "exhaustive").families():
        is_least(list(family.alone), family.price)


@fewer(8)
@given(workload=asked(2, 5, filters=True), rate=rates, known=counts, told=st.booleans())
def test_nothing_costs_less_than_what_is_told_of_the_rest(
    workload: weft.Workload, rate: Fraction, known: dict[str, int], told: bool
) -> None:
    stats = weft.Stats(rate, known, TYPES, FILTERS if told else {})
    for reading in ("operations", "refined"):
        for family in Request(workload, stats, price=reading).families():
            nothing_costs_less(list(family.alone), family.price)


@fewer(8)
@given(workload=asked(2, 9), rate=rates, known=counts)
def test_sharing_across_keys_is_never_dearer_than_keeping_them_apart(
    workload: weft.Workload, rate: Fraction, known: dict[str, int]
) -> None:
    stats = weft.Stats(rate, known, TYPES)
    united = weft.optimize(workload, stats, "optimal").cost
    apart = Fraction(0)
    for some in {frozenset(query.group_by) for query in workload}:
        mine = weft.Workload([query for query in workload if frozenset(query.group_by) == some])
        apart += weft.optimize(mine, stats, "optimal").cost
    assert united <= apart * (1 + Fraction(1, 10**12))
    assert weft.optimize(workload, stats).cost <= weft.optimize(workload, stats, "no_share").cost


def test_one_number_of_keys_says_nothing_of_what_sets_have_in_common() -> None:
    workload = weft.Workload(
        [weft.Query(name, "max(x)", weft.Window("10 min", "1 min"), group_by=name) for name in NAMES]
    )
    assert len(weft.optimize(workload, weft.Stats(5_000, 10)).trees) == 3
    assert len(weft.optimize(workload, weft.Stats(5_000, dict.fromkeys(NAMES, 10))).trees) == 1
    with pytest.raises(weft.BadRequest, match=r"how many values there are of b, c\. Add 'b', 'c' to keys"):
        weft.optimize(workload, weft.Stats(5_000, {"a": 10}))


def test_many_edges_under_several_keys_are_woven_by_keys_first() -> None:
    """Where even that leaves too many to weigh across keys, these stay apart."""
    queries = [
        weft.Query(f"{name}{slide}", "max(x)", weft.Window.of(60 * SECOND, slide * SECOND), group_by=name)
        for name in ("a", "b")
        for slide in (*range(1, 13), 15, 20, 30)
    ]
    stats = weft.Stats(100, {"a": 5, "b": 7})
    (family,) = Request(weft.Workload(queries), stats).families()

    def spent(apart: int) -> tuple[int, Fraction]:
        planner, total = replace(weave_share.PLANNER, apart=apart), Fraction(0)
        parts = family.parts(planner)
        for part in parts:
            grouping, price = part.grouped(planner, {})
            total += cost(grouping.trees, price)
        return len(parts), total

    assert isinstance(family, Family)
    best_known = spent(256)
    assert best_known[0] == 1
    assert spent(29) == (1, pytest.approx(best_known[1], rel=0.1))
    parts, total = spent(1)
    assert parts == 2
    assert best_known[1] <= total <= weft.optimize(weft.Workload(queries), stats, "no_share").cost


def test_where_neither_keys_nor_filters_differ_only_equal_edges_start_together() -> None:
    queries = [weft.Query(f"q{i}", "max(x)", weft.Window.of(60 * SECOND, (i % 12 + 1) * SECOND)) for i in range(30)]
    (family,) = Request(weft.Workload(queries), weft.Stats(100)).families()
    alone = list(family.alone)
    for apart in (1, 256):
        groups = begun(alone, family.price, apart)
        assert sorted(len(group) for group in groups) == [2] * 6 + [3] * 6


def test_a_weaver_weaves_across_keys() -> None:
    stats = weft.Stats(5_000, {"a": 100, "b": 20})
    weaver = weft.Weaver(stats, background=False)
    for name in ("a", "b", "a, b"):
        weaver.add(weft.Query(name, "max(x)", weft.Window("10 min", "1 min"), group_by=name.split(", ")))
    assert len(weaver.plan().trees) == 1
    weaver.remove("a, b")
    again = weft.Weaver.of(weaver.plan(), background=False)
    assert again.cost == weaver.cost == weft.optimize(weaver.plan().workload, stats).cost


def test_windows_of_rows_count_the_rows_of_their_own_keys() -> None:
    workload = weft.Workload(
        [weft.Query(name, "max(x)", weft.Window.rows(10, 2), group_by=name, time="t") for name in NAMES]
    )
    assert len(weft.optimize(workload, weft.Stats(5_000, dict.fromkeys(NAMES, 2)), "shared").trees) == 3


def test_shared_slices_feed_the_trees_of_one_set_of_keys() -> None:
    workload = weft.Workload(
        [weft.Query(name, "max(x)", weft.Window("10 min", "1 min"), group_by=name) for name in NAMES]
    )
    assert weft.optimize(workload, weft.Stats(5_000, dict.fromkeys(NAMES, 10)), "tri_weave").passes == 3


def test_what_sets_have_in_common_is_the_least_product_that_covers_them() -> None:
    stats = weft.Stats(1, {"a": 10, "B": 20, "b, c": 50, "d": 3})
    found = [stats.groups(keys(text)) for text in ("a", "a, b", "c", "a, b, c", "b, c, d", "")]
    assert found == [10, 200, 50, 500, 150, 1]


@given(
    known=st.dictionaries(st.sampled_from([some for some in SETS if some]), st.integers(1, 50)),
    some=st.sampled_from(SETS),
)
def test_no_product_that_covers_the_keys_is_smaller(known: dict[tuple[str, ...], int], some: tuple[str, ...]) -> None:
    stats = weft.Stats(1, {"a": 20, "b": 30, "c": 40} | {", ".join(each): count for each, count in known.items()})
    told = [(set(text.split(", ")), count) for text, count in dict(stats.known_keys).items()]  # type: ignore[call-overload]
    products = [
        prod(count for _, count in chosen)
        for size in range(len(some) + 1)
        for chosen in combinations(told, size)
        if set(some) <= set().union(*(names for names, _ in chosen))
    ]
    assert stats.groups(keys(",".join(some))) == min(products)


def test_a_hundred_group_bys_over_twenty_columns_are_planned() -> None:
    """What they have in common, and what is rolled up from what, is not looked for among all that could be."""
    names = [f"c{number}" for number in range(20)]
    some = [*combinations(names[:9], 2), *([name] for name in names), *combinations(names[11:], 2)]
    workload = weft.Workload(
        [weft.Query(f"q{i}", "max(x)", weft.Window("10 min", "1 min"), group_by=by) for i, by in enumerate(some)]
    )
    (tree,) = weft.optimize(workload, weft.Stats(5_000, dict.fromkeys(names, 3)), "shared").trees
    assert len(tree.sets) > len(some) + 1, "with phantoms"


def test_rows_that_pass_no_filter_are_not_rolled_up() -> None:
    """A group has a thousand rows at an edge, of which one in a hundred thousand passes: hardly ever a partial."""
    workload = weft.Workload(
        [weft.Query(name, "max(x)", weft.Window("1 s", "1 s"), where="x > 9", group_by=name) for name in ("a", "b")]
    )
    plan = weft.optimize(workload, weft.Stats(100_000, {"a": 10, "b": 10}, filters={"x > 9": 0.00001}), "shared")
    (tree,) = plan.trees
    assert [float(each.read) for each in tree.sets] == [0, *[pytest.approx(100 * (1 - (1 - 1e-5) ** 1000))] * 2]


@pytest.mark.parametrize(
    ("known", "says"),
    [
        ({"a": 3, "A": 4}, r"stats\.keys: 'A' is there twice"),
        ({"a, b": 3, "b, a": 3}, r"stats\.keys: 'b, a' is there twice"),
        ({"max(a)": 3}, r"nothing groups by 'max\(a\)'"),
        ({"a": 0}, r"stats\.keys, a: must be positive"),
        ({"": 3}, "the text is empty"),
    ],
)
def test_numbers_of_keys_that_say_nothing_are_refused(known: dict[str, int], says: str) -> None:
    with pytest.raises(weft.BadRequest, match=says):
        weft.Stats(1, known)


def test_who_groups_by_nothing_needs_no_numbers() -> None:
    plan = weft.optimize(weft.Workload([weft.Query("q", "max(x)", weft.Window("1 s", "1 s"))]), weft.Stats(1, {}))
    assert "1 row/s, no keys" in plan.explain()
    assert weft.Plan.from_json(plan.to_json()) == plan
