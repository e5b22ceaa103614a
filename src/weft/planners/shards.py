"""Shards: how many partials a slice has when the queries of a tree have different filters.

Rows of a slice come apart by which filters they pass (Shared Data Shards, Krishnamurthy, Wu and Franklin, SIGMOD 2006):
each combination of filters that occurs is a shard with a partial of its own; a query reads the shards of its filter.

    price > 100, price > 500     one chain: whoever passes the second passes the first; 3 combinations
    venue = 'X'                  independent of it: 6 combinations, of which a slice of n rows has some

Comparisons of one expression with constants, in one direction, form a chain; everything else is taken to be
independent. A combination that a row has with probability p is found in a slice of n rows with 1 - (1 - p)^n.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from weft.queries import expressions as ex

_SPELLED_OUT = 1 << 14
"""Combinations up to which their number is computed; beyond, it is bounded by the rows that pass."""

_DIRECTION = {">": ">", ">=": ">", "<": "<", "<=": "<"}


def passing(shares: Mapping[ex.Expression, float]) -> float:
    """The share of rows that pass at least one of some filters."""
    missed = 1.0
    for chain in _chains(shares):
        missed *= 1 - max(shares[where] for where in chain)
    return 1 - missed


def expected(shares: Mapping[ex.Expression, float], rows: float) -> dict[ex.Expression | None, float]:
    """The expected shards of a slice of so many rows that each filter reads; under None, all of them."""
    chains = _chains(shares)
    combinations = float(np.prod([len(chain) + 1 for chain in chains], dtype=float))
    if combinations > _SPELLED_OUT:
        bounded: dict[ex.Expression | None, float] = {
            where: min(rows * share, combinations / 2) for where, share in shares.items()
        }
        return {**bounded, None: min(rows, combinations)}
    probability = np.ones(1)
    member: dict[ex.Expression, npt.NDArray[np.bool_]] = {}
    for chain in chains:
        # step k of a chain: the k filters that let most rows through are passed, the next one is not
        among = np.array([1.0, *(shares[where] for where in chain), 0.0])
        steps = among[:-1] - among[1:]
        width = len(probability)
        probability = np.multiply.outer(probability, steps).reshape(-1)
        member = {where: np.repeat(has, len(steps)) for where, has in member.items()}
        for number, where in enumerate(chain):
            member[where] = np.tile(np.arange(len(steps)) > number, width)
    found = -np.expm1(rows * np.log1p(-np.minimum(probability, 1 - 1e-16)))
    return {**{where: float(found[has].sum()) for where, has in member.items()}, None: float(found.sum())}


def kept(shares: Mapping[ex.Expression, float], rows: float, every_row: bool) -> float:
    """The expected shards of a slice of so many rows, with those that pass no filter only where `every_row` is kept."""
    found = expected(shares, rows)[None]
    some = passing(shares)
    if every_row or some == 1:
        return found
    return min(max(found + float(np.expm1(rows * np.log1p(-min(1 - some, 1 - 1e-16)))), 0.0), rows * some)


def _chains(shares: Mapping[ex.Expression, float]) -> list[Sequence[ex.Expression]]:
    """The filters in chains, each from the one that lets most rows through to the one that lets fewest."""
    chains: dict[object, list[ex.Expression]] = {}
    for where in shares:
        match where:
            case ex.Operation(comparison, (tested, ex.Literal())) if comparison in _DIRECTION:
                chains.setdefault((tested, _DIRECTION[comparison]), []).append(where)
            case _:
                chains.setdefault(where, []).append(where)
    return [sorted(chain, key=lambda where: -shares[where]) for chain in chains.values()]
