"""Kin: the queries that can share a tree at all.

They have the same clock (event time of one column, or row numbers) and group by the same keys, in whatever order; where
it is known how many groups several sets of keys have together, queries over time may group by different ones.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from weft.queries.workload import Workload


def kin(workload: Workload, united: bool = False) -> list[npt.NDArray[np.int64]]:
    """The queries in groups that can share a tree, each group's positions ascending.

    With `united`, a tree may hold queries over time that group by different keys.
    """
    if not len(workload):
        return []
    keys: dict[object, int] = {}
    of_prototype = []
    for prototype in workload.prototypes:
        key = (frozenset(prototype.group_by), prototype.time or workload.time)
        of_prototype.append(keys.setdefault(key, len(keys)))
    # row numbers count the rows that pass a query's filter, so another filter is another clock
    keys_of_rows = np.array(of_prototype)
    if united:
        times: dict[object, int] = {}
        of_prototype = [times.setdefault(p.time or workload.time, len(times)) for p in workload.prototypes]
    clocks: dict[object, int] = {}
    clock = [clocks.setdefault(prototype.where, len(clocks)) for prototype in workload.prototypes]
    family = np.where(
        workload.counts_rows, keys_of_rows[workload.prototype], np.array(of_prototype)[workload.prototype]
    )
    rows = np.where(workload.counts_rows, np.array(clock)[workload.prototype] + 1, 0)
    code = family * (len(clocks) + 1) + rows
    _, first, group = np.unique(code, return_index=True, return_inverse=True)
    return [np.flatnonzero(group == number) for number in np.argsort(first)]
