"""Owners: who asks. They travel with a query through every form, and are no part of what it asks."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import weft
from tests.queries.strategies import ids, queries
from weft.queries.query import moved

HIGH = weft.Query("high", "max(price) AS high", weft.Window("10 min", "2 min"), owner="desk")


def owners(workload):
    return [query.owner for query in workload]


def test_every_spelling_names_an_owner():
    spelled = weft.Workload.from_sql("""
        -- name: a
        -- Owner: trading desk
        SELECT max(price) FROM trades [RANGE 1 H];
        -- owner: risk
        SELECT min(price) FROM trades [RANGE 1 H];
        SELECT sum(price) FROM trades [RANGE 1 H];
    """)
    assert [(query.id, query.owner) for query in spelled] == [("a", "trading desk"), ("q2", "risk"), ("q3", None)]
    plain = weft.Workload.from_yaml("""
        owner: desk
        queries:
          - {measures: max(a), window: {range: 1 h}}
          - {measures: max(a), window: {range: 1 h}, owner: risk}
          - sql: SELECT max(a) FROM stream [RANGE 1 H]
          - {sql: "SELECT max(a) FROM stream [RANGE 1 H]", owner: risk}
          - sql: |
              -- owner: ops
              SELECT max(a) FROM stream [RANGE 1 H]
    """)
    assert owners(plain) == ["desk", "risk", "desk", "risk", "ops"]
    windows = weft.Workload.windows([3, 4, 5], 1, owners=["desk", None, "risk"])
    assert windows.owners == ("desk", None, "risk")
    assert weft.Workload.windows([3, 4], 1, owners=[None, None]).owners is None


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(several=st.lists(queries(), min_size=1, max_size=3, unique_by=lambda query: query.id), data=st.data())
def test_an_owner_is_read_back_from_every_text(several, data):
    several = [query for query in several if query.source == several[0].source]
    named = [moved(query, query.id, query.window, data.draw(st.none() | ids)) for query in several]
    workload = weft.Workload(named)
    expected = [query.owner for query in named]
    assert owners(workload) == expected
    assert owners(weft.Workload.from_sql(workload.to_sql())) == expected
    assert owners(weft.Workload.from_yaml(workload.to_yaml())) == expected


def test_a_plan_keeps_owners():
    plan = weft.optimize(weft.Workload([HIGH, moved(HIGH, "other", HIGH.window)]))
    assert owners(weft.Plan.from_json(plan.to_json()).workload) == ["desk", None]


def test_another_owner_asks_the_same():
    """One prototype, an equal workload, the same fingerprint, a plan that still fits, no difference to tell."""
    mine, yours = weft.Workload([HIGH]), weft.Workload([moved(HIGH, "high", HIGH.window, "risk")])
    assert mine == yours
    assert mine.fingerprint() == yours.fingerprint()
    assert not weft.diff(weft.optimize(mine), weft.optimize(yours)).altered
    both = weft.Workload([HIGH, moved(HIGH, "low", HIGH.window, "risk")])
    assert len(both.prototypes) == 1
    assert owners(both) == ["desk", "risk"]
    assert both[-1].owner == both["low"].owner == "risk"


@pytest.mark.parametrize("owner", ["", "  ", 7])
def test_an_owner_is_a_name(owner):
    with pytest.raises(weft.BadRequest, match="query 'q': owner: must be a name"):
        weft.Query("q", "max(a)", weft.Window("1 h"), owner=owner)
    with pytest.raises(weft.BadRequest, match="owner: must be a name"):
        weft.Workload.windows([5, 6], 1, owners=["a", owner])


def test_bad_owners_are_told():
    with pytest.raises(weft.BadRequest, match="query 'q1': -- owner: the owner is empty"):
        weft.Workload.from_sql("-- owner:\nSELECT max(a) FROM t [RANGE 1 H]")
    with pytest.raises(weft.BadRequest, match="owners: 1 names for 2 windows"):
        weft.Workload.windows(np.array([5, 6]), 1, owners=["a"])
    with pytest.raises(weft.BadRequest, match="query 'q': owner: this owner does not fit behind -- owner:"):
        weft.Query("q", "max(a)", weft.Window("1 h"), owner="two\nlines").to_sql()
    with pytest.raises(weft.BadRequest, match="owner, line 1: text is expected, not int"):
        weft.Workload.from_yaml("owner: 7\nqueries: [{measures: max(a), window: {range: 1 h}}]")
