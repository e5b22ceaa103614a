"""Local search: move one query to another tree, or to one of its own, as long as that saves something.

Every iteration makes the move that saves most. It stops where no move helps, or after `times` x I moves, where I is the
number of merges that Weave Share makes (at least 1), as the bound in Guirguis et al., CIKM 2011, section 6. They found
the start without sharing and ten times the moves to be best (LS-NS-10x); started from Weave Share's plan it polishes
that.
"""

from __future__ import annotations

import random as chance
from collections.abc import Sequence
from fractions import Fraction

from weft.errors import BadRequest
from weft.planners.candidates import Candidate
from weft.planners.forest import Forest
from weft.planners.ledger import Ledger, Members, alone
from weft.planners.planner import Grouping, Planner, whole_number
from weft.planners.prices import Price
from weft.planners.weave_share import weave

STARTS = ("no_share", "random", "weave_share")


def local_search(
    queries: Sequence[Candidate], price: Price, start: str = "no_share", times: int = 10, seed: int = 0
) -> Grouping:
    """Steepest descent from a start."""
    if start not in STARTS:
        raise BadRequest(f"there is no start '{start}'", field="planner", remedy=f"Use one of {', '.join(STARTS)}")
    times, seed = whole_number("times", times, 1), whole_number("seed", seed)
    forest, ledger = Forest(queries, price), Ledger(queries, price)
    merges = len(weave(forest))
    trees = alone(len(queries))
    if start == "random":
        trees = _thrown(len(queries), chance.Random(seed))
    elif start == "weave_share":
        number = {id(query): i for i, query in enumerate(queries)}
        trees = [frozenset(number[id(query)] for query in members) for members in forest.members if members]
    found, _ = descend(ledger, trees, times * max(merges, 1))
    return Grouping(ledger.trees(found))


def _thrown(count: int, draw: chance.Random) -> list[Members]:
    """Every candidate in one of k trees, k drawn first."""
    trees = draw.randint(1, count)
    of = [draw.randrange(trees) for _ in range(count)]
    return [frozenset(i for i in range(count) if of[i] == tree) for tree in sorted(set(of))]


def descend(ledger: Ledger, trees: Sequence[Members], most: int) -> tuple[list[Members], int]:
    """The trees after at most so many improving moves, and how many were made."""
    found, moves = list(trees), 0
    while moves < most:
        best, change = Fraction(0), None
        for source in found:
            for query in sorted(source):
                rest = source - {query}
                leaving = ledger.cost(source) - (ledger.cost(rest) if rest else 0)
                for target in [*found, frozenset[int]()] if rest else found:
                    if target is source:
                        continue
                    arriving = ledger.cost(target | {query}) - (ledger.cost(target) if target else 0)
                    if leaving - arriving > best:
                        best, change = leaving - arriving, (source, target, query)
        if change is None:
            break
        source, target, query = change
        found = [tree for tree in found if tree not in (source, target)]
        found += [tree for tree in (source - {query}, target | {query}) if tree]
        found.sort(key=min)
        moves += 1
    return found, moves


PLANNER = Planner(
    "local_search",
    "Local Search",
    "Guirguis et al., CIKM 2011, section 6",
    local_search,
    options=("start", "times", "seed"),
    alone=True,
    most=300,
    instead="weave_share, or optimal, whose branch and bound collapses queries with equal edges",
)
