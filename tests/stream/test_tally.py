"""What a query has had is counted under its name, wherever it is answered."""

from __future__ import annotations

from types import SimpleNamespace as Some
from typing import Any

import pyarrow as pa

from weft.spark.stream.tally import Tally, read


def root(ids: list[str], *mine: int) -> Any:
    """What a shard knows of a root that answers some of these queries."""
    windows = [Some(queries=[(number, ()) for number in mine])]
    return Some(
        job=Some(shape=Some(ids=tuple(ids))), lanes=[Some(lane=Some(filter=None, windows=windows))] if mine else []
    )


def test_counts_follow_a_query_to_another_root_and_end_with_it() -> None:
    ids = ["a", "b", "c"]
    tally = Tally([root(ids, 0, 2), root(ids, 1)], None)
    for number, query, ends in ((0, "a", 2), (0, "c", 3), (1, "b", 5)):
        tally.answered(number, pa.RecordBatch.from_pydict({"query": [query], "window_end": [list(range(ends))]}))
    assert tally.given == 10
    later = ["d", "c", "b"]
    after = Tally([root(later, 2), root(later, 0, 1)], tally.to_bytes())
    told = {(row["root"], row["query"]): row["answers"] for row in read(after.to_bytes()).to_pylist() if row["query"]}
    assert told == {(0, "b"): 5, (1, "d"): 0, (1, "c"): 3}
    assert after.given == 0
