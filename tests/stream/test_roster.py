"""What a shard remembers of a stream's earlier starts is bounded, and what it forgets is not relied upon."""

from __future__ import annotations

import pytest

from weft.errors import RunFailed
from weft.registry.grain import Grain
from weft.spark.stream.keeping import Head
from weft.spark.stream.roster import _MOST, Arrived, Past, _fewer, _filters

NOTHING = Grain((), {}, {}, {})


def test_of_what_was_made_before_the_last_starts_new_queries_read_nothing() -> None:
    past: Past = [(100 * number, NOTHING) for number in range(_MOST)]
    head = Head("told", floors=[None, 150, 900])
    assert (_fewer(past, head, 3), head.floors) == (past, [None, 150, 900])
    more: Past = [*past, (5_000, NOTHING), (6_000, NOTHING), (7_000, NOTHING)]
    assert _fewer(more, head, 3) == more[3:]
    assert head.floors == [200, 200, 900], "the third and last one that is forgotten"
    bare = Head("told")
    _fewer(more, bare, 2)
    assert bare.floors == [200, 200]


def test_a_folder_that_workers_no_longer_see_fails_the_micro_batch_and_loses_nothing() -> None:
    """Filters that no worker has ever told of wait; those that are answered must not lose a micro-batch's events."""
    fresh, told = Head("told"), {"(price > 2)": 3}
    assert _filters(fresh, Arrived(late=[None, told]), 100) == {}
    assert _filters(fresh, Arrived(late=[told, told]), 100) == {"(price > 2)": [3, 100]}
    known = Head("told", filters={"(price > 2)": [3, 100]})
    assert _filters(known, Arrived(late=[told]), 200) == {"(price > 2)": [3, 100]}
    assert _filters(known, Arrived(late=[{}]), 200) == {}, "it was taken out of the registry"
    with pytest.raises(RunFailed, match="registry: a worker could not read it"):
        _filters(known, Arrived(late=[told, None]), 200)
