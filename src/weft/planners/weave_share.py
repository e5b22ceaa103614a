"""Weave Share: merge the two trees whose merging saves most, until no merge saves anything.

    benefit(x, y) = C(x) + C(y) - C(x with y)

Guirguis et al., CIKM 2011, section 5.1 and Figure 2. Ties go to the first pair by smallest query; a merge that saves
nothing is not made; the best pair is chosen by exact fractions (`forest.py` says how that is made fast). The table of
benefits is kept between merges, so that a merge weighs only the merged tree against the others (the paper's cost
lookup); `paper_loop.py` has the loop as it is printed.

Where the rate is so high that every merge must pay, whatever its edges, the outcome is one tree and the loop is
skipped: a merge saves one pass (`rate`) and never costs more than all that slices cost when everything is shared.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from weft.errors import BadRequest
from weft.planners.candidates import NOBODY, Candidate, together
from weft.planners.estimates import Floats, above, roundings
from weft.planners.forest import TIED, Forest
from weft.planners.planner import Grouping, Planner
from weft.planners.prices import Price, cut
from weft.planners.shared import shared
from weft.planners.tree_edges import bounded
from weft.slicing.edges import common_tick
from weft.techniques.demand import load, total


def weave_share(queries: Sequence[Candidate], price: Price, guard: bool = False) -> Grouping:
    """Greedy pairwise merging of candidates. With `guard`, one tree for all where that costs less."""
    if not isinstance(guard, bool):
        raise BadRequest(f"guard is {guard!r}", field="planner", remedy="Give true or false")
    if len(queries) > 1 and every_merge_pays(queries, price):
        return shared(queries, price)
    forest = Forest(queries, price)
    weave(forest)
    forest = _seen_through(forest)
    if guard and price.cost(together(queries)) < sum(forest.cost(i) for i in np.flatnonzero(forest.alive).tolist()):
        return shared(queries, price)
    return Grouping(forest.candidates())


def _seen_through(forest: Forest) -> Forest:
    """Merge trees that turn out to be cut at every tick, since their edges cannot be counted.

    Where edges are only guessed while trees are merged, several may end so; and what joins one adds no edge.
    """
    trees = forest.candidates()
    everywhere = [i for i, tree in enumerate(trees) if cut(tree.classes)[0] != tree.classes]
    if not everywhere:
        return forest
    found = Forest(trees, forest.price, bounded)
    weave(found, everywhere)
    return found


def weave(forest: Forest, dirty: Iterable[int] | None = None) -> list[Fraction]:
    """Merge while something is saved, and return what each merge saved.

    With `dirty`, only merges that involve one of these trees, or a tree that has been merged, are considered.
    """
    # ceilings[i, j]: merging i and j saves at most this; both halves are kept, so that a column can be read as a row
    ceilings = np.full((len(forest), len(forest)), -np.inf)
    for i in range(len(forest)) if dirty is None else dirty:
        first = i + 1 if dirty is None else 0
        ceilings[i, first:] = forest.ceilings(i, first)
    ceilings = np.maximum(ceilings, ceilings.T)
    best = ceilings.max(axis=1, initial=-np.inf)
    stale = np.zeros(len(forest), bool)
    known: dict[tuple[int, int], Fraction] = {}
    saved = []
    while len(forest) and best.max() > 0:
        rows = np.flatnonzero(stale & (best >= best.max() - 2 * forest.slack))
        if len(rows):
            best[rows], stale[rows] = ceilings[rows].max(axis=1), False
            continue
        pairs = _leading(ceilings, best, float(best.max()) - 2 * forest.slack)
        unsure = [] if forest.tight else [pair for pair in pairs if pair not in known]
        for i, j in unsure:
            known[i, j] = forest.benefit(i, j)
            ceilings[i, j] = ceilings[j, i] = above(known[i, j])
        if unsure:
            stale[[number for pair in unsure for number in pair]] = True
            continue
        if len(pairs) > TIED:
            pairs = _standing_out(forest, pairs)
        benefits = [known.get(pair) or forest.benefit(*pair) for pair in pairs]
        # the largest benefit, and of several the first pair
        benefit, (i, j) = max(zip(benefits, pairs, strict=True), key=lambda found: (found[0], *(-k for k in found[1])))
        if benefit <= 0:
            break
        saved.append(benefit)
        forest.merge(i, j)
        known = {pair: benefit for pair, benefit in known.items() if not {i, j} & set(pair)}
        # what was best with i or j may not be any more; it is looked up again when it matters
        stale |= (ceilings[i] == best) | (ceilings[j] == best)
        ceilings[j] = ceilings[:, j] = -np.inf
        ceilings[i] = ceilings[:, i] = found = forest.ceilings(i)
        stale &= found < best
        best = np.maximum(best, found)
        best[i], best[j], stale[i], stale[j] = found.max(), -np.inf, False, False
        if 4 * np.count_nonzero(forest.alive) < 3 * len(forest):
            kept = forest.compact()
            number = np.cumsum(kept) - 1
            known = {(int(number[i]), int(number[j])): benefit for (i, j), benefit in known.items()}
            ceilings, best, stale = ceilings[np.ix_(kept, kept)], best[kept], stale[kept]
    return saved


_MANY = 256
"""So many benefits that agree to the last digit of an ordinary float are taken to be equal; fewer are looked into."""


def _leading(ceilings: Floats, best: Floats, least: float) -> list[tuple[int, int]]:
    """The pairs whose ceilings are not below `least`, in order; not many more than `_MANY`."""
    found: list[tuple[int, int]] = []
    for i in np.flatnonzero(best >= least).tolist():
        found += [(i, i + 1 + j) for j in np.flatnonzero(ceilings[i, i + 1 :] >= least).tolist()]
        if len(found) > _MANY:
            break
    return found


def _standing_out(forest: Forest, pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Of many pairs with all but the same benefit, the few that may have the largest: the first one, where all tie."""
    if len(pairs) > _MANY:
        return pairs[:1]
    found = forest.sharpened(pairs)
    least = found.max() - 2 * forest.slack * (roundings(np.longdouble) / roundings(np.float64))
    kept = [pair for pair, value in zip(pairs, found, strict=True) if value >= least]
    return kept if len(kept) <= TIED else kept[:1]


def every_merge_pays(queries: Sequence[Candidate], price: Price) -> bool:
    """Whether a merge saves something whichever trees it joins, by a bound that needs no union of edges.

    Answers cost the same before and after a merge, except where windows are so sparse (range below slide) that
    folding them naively is cheaper than answering them: such candidates are left to the loop. What remains of a
    merged tree's cost is at most that of all queries together at the most edges they could have.
    """
    demand = total([query.demand for query in queries])
    omegas = [technique.omega for technique in price.techniques]
    if any(omega.floor is None or omega.by_range or not omega.monotone for omega in omegas):
        return False
    if any(query.lanes or query.demand.overlap < query.demand.queries for query in queries):
        return False
    edges = [edge_class for query in queries for edge_class in query.classes]
    apart = sum((price.edges_per_tick(query.classes) for query in queries), Fraction(0))
    most = min(Fraction(1, common_tick(edges)), apart)
    per_second = price.per_second(most)
    everything = Candidate(NOBODY, (), frozenset().union(*(query.partials for query in queries)), demand)
    slices_only = replace(load(demand, most), due=0)
    admissible = price.admissible(everything)
    if not admissible:
        return False
    operations = min(technique.omega.read(price.reading)(slices_only) for technique in admissible)
    return bool(price.base_rate > per_second * price.groups(per_second) * operations)


PLANNER = Planner("weave_share", "Weave Share", "Guirguis et al., CIKM 2011", weave_share, options=("guard",))
