"""A weaver that plans from scratch in the background: changes go on meanwhile, and are made again on the new plan."""

from __future__ import annotations

import math
import threading
from fractions import Fraction
from typing import Any

import pytest

import weft
from tests.planners.plain import Sizes
from tests.planners.test_weaver import query, taken, trees
from weft.planners import weaver as room


class Gate:
    """Lets planning from scratch through when it is opened."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.opened, self.begun = threading.Event(), threading.Event()
        planned = room.grouped_from_scratch

        def waiting(*given: Any) -> Any:
            self.begun.set()
            assert self.opened.wait(30)
            return planned(*given)

        monkeypatch.setattr(room, "grouped_from_scratch", waiting)


CHANGES = [
    ("add", "new", (15, 5), {}),
    ("remove", "q1", (1, 1), {}),
    ("alter", "q2", (9, 6), {}),
    ("add", "brief", (8, 4), {}),
    ("remove", "brief", (1, 1), {}),
    ("add", "other", (8, 4), {"group_by": "k"}),
]


def test_changes_go_on_while_all_is_planned_anew_and_are_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[Sizes] = [(16, 4), (10, 5), (8, 4), (9, 6), (12, 8), (7, 7)]
    # the worst plan to begin with
    workload = weft.Workload([query(f"q{i}", size) for i, size in enumerate(sizes)])
    bad = weft.optimize(workload, weft.Stats(3), "no_share", technique="panes")
    weaver = weft.Weaver.of(bad, tolerance=Fraction(1, 100))
    weaver.tolerance = 0
    gate = Gate(monkeypatch)
    started = weaver.add(query("q6", (6, 3)))
    assert started.reconstructed
    assert gate.begun.wait(30)
    weaver.tolerance = math.inf
    changes = [taken(weaver, change) for change in CHANGES]
    assert not any(change.reconstructed for change in changes if change is not None), "one at a time"
    assert weaver.reconstructions == 0
    meanwhile = trees(weaver.plan())
    assert sorted(id_ for tree in meanwhile for id_ in tree) == ["new", "other", "q0", "q2", "q3", "q4", "q5", "q6"]
    gate.opened.set()
    weaver.settle()
    assert weaver.reconstructions == 1

    planned = weft.optimize(
        weft.Workload([*workload, query("q6", (6, 3))]), weft.Stats(3), "weave_share", technique="panes"
    )
    expected = weft.Weaver.of(planned, tolerance=math.inf)
    for change in CHANGES:
        taken(expected, change)
    assert sorted(map(sorted, trees(weaver.plan()))) == sorted(map(sorted, trees(expected.plan())))
    assert weaver.cost == expected.cost < bad.cost
    assert weaver.snapshot().curve.points[-1] == (7, planned.cost), "of the queries that were planned, then"


def test_a_snapshot_leaves_out_what_is_being_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Gate(monkeypatch)
    weaver = weft.Weaver(weft.Stats(1), "panes", tolerance=0)
    weaver.add(query("a", (16, 4)))
    assert gate.begun.wait(30)
    snapshot = weaver.snapshot()
    gate.opened.set()
    assert (snapshot.trees, snapshot.reconstructions) == ((("a",),), 0)
    other = weft.Weaver.restore(snapshot)
    assert other.add(query("b", (8, 4))).reconstructed
    other.settle()
    assert other.reconstructions == 1


def test_a_plan_takes_over_what_is_ready() -> None:
    weaver = weft.Weaver(weft.Stats(1), "panes", tolerance=0)
    for i in range(5):
        weaver.add(query(f"q{i}", (9 + i, 3)))
    weaver.settle()
    assert weaver.reconstructions >= 1
    assert trees(weaver.plan()) == trees(weft.optimize(weaver.plan().workload, weft.Stats(1), technique="panes"))


def test_a_time_that_is_named_while_all_is_planned_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Gate(monkeypatch)
    weaver = weft.Weaver(weft.Stats(40), "panes", tolerance=0)
    weaver.add(query("a", (16, 4)))
    assert gate.begun.wait(30)
    threading.Timer(0.1, gate.opened.set).start()
    weaver.add(query("named", (8, 4), time="ts"))
    weaver.settle()
    assert trees(weaver.plan()) == [["a", "named"]]
