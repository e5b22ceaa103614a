"""A plan survives JSON, whatever its queries, and a damaged plan is refused with a reason."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import weft
from tests.plans.workloads import PLANS
from tests.queries.strategies import queries


@pytest.mark.parametrize("name", PLANS)
def test_round_trip(name: str) -> None:
    plan = PLANS[name]
    again = weft.Plan.from_json(plan.to_json())
    assert again == plan
    assert again.workload.fingerprint() == plan.workload.fingerprint()
    assert again.explain() == plan.explain()


@settings(max_examples=60, deadline=None)
@given(st.lists(queries(), min_size=1, max_size=4))
def test_round_trip_of_any_queries(found: list[weft.Query]) -> None:
    from weft.queries.query import moved

    named = [moved(query, f"q{number}", query.window) for number, query in enumerate(found)]
    sources = {query.source for query in named if query.source}
    if len(sources) > 1:
        named = named[:1]
    plan = weft.optimize(weft.Workload(named), weft.Stats(100, 7))
    assert weft.Plan.from_json(plan.to_json()) == plan


def test_windows_without_names_keep_none() -> None:
    workload = weft.Workload.windows(ranges=[10, 20, 30], slides=[5, 5, 10])
    plan = weft.Plan.from_json(weft.optimize(workload).to_json())
    assert plan.workload.unnamed
    assert plan.workload == workload


def _damaged(change: Any, name: str = "readme") -> str:
    document = json.loads(PLANS[name].to_json())
    change(document)
    return json.dumps(document)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no plan that Weft wrote"),
        ("[]", "no plan that Weft wrote"),
        ("{}", "no plan that Weft wrote"),
        (_damaged(lambda d: d.update(format=99)), "format 99"),
        (_damaged(lambda d: d["trees"].pop()), "no partition"),
        (_damaged(lambda d: d["trees"].append(d["trees"][0])), "no partition"),
        (_damaged(lambda d: d["trees"][0].update(technique="magic")), "technique 'magic'"),
        (_damaged(lambda d: d.update(feed="elsewhere")), "feed 'elsewhere'"),
        (_damaged(lambda d: d["workload"]["slide"].__setitem__(0, 0)), "must be positive"),
        (_damaged(lambda d: d["workload"]["prototype"].__setitem__(0, 77)), "without a prototype"),
        (_damaged(lambda d: d["workload"]["prototypes"][0].update(where="reflect('a', 'b')")), "reflect"),
        (_damaged(lambda d: d["stats"].update(rate="-1")), "must be positive"),
        (_damaged(lambda d: d["trees"][0].update(edge_rate="1/0")), "no plan that Weft wrote"),
        (_damaged(lambda d: d["trees"][0].update(edge_rate="1e5000000")), "no fraction"),
        (_damaged(lambda d: d["trees"].append({**d["trees"][0], "queries": []})), "no partition"),
        (_damaged(lambda d: d["trees"][0]["queries"].extend(d["trees"].pop()["queries"])), "cannot share"),
        (_damaged(lambda d: d["workload"]["ids"].pop()), "names that do not go with"),
        (_damaged(lambda d: d["workload"]["prototypes"][0].update(where=5)), "is no text"),
        ("[" * 100_000, "no plan that Weft wrote"),
    ],
)
def test_a_damaged_plan_is_refused(text: str, says: str) -> None:
    with pytest.raises(weft.BadRequest, match=says):
        weft.Plan.from_json(text)


@pytest.mark.parametrize(
    "change",
    [
        lambda sets: sets.clear(),
        lambda sets: sets.pop(),
        lambda sets: sets[1].update(source=2),
        lambda sets: sets[1].update(source=None),
        lambda sets: sets[-1].update(source=-1),
        lambda sets: sets[1].update(keys=["symbol", "elsewhere"]),
        lambda sets: sets[0].update(keys=["symbol", "venue"]),
        lambda sets: sets.append(sets[-1]),
    ],
)
def test_a_plan_that_does_not_roll_up_what_its_queries_group_by_is_refused(change: Any) -> None:
    """It would answer by other keys than it was asked for."""
    with pytest.raises(weft.BadRequest, match="is not what its queries group by"):
        weft.Plan.from_json(_damaged(lambda document: change(document["trees"][0]["sets"]), "keys"))
