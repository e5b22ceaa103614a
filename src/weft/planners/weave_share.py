"""Weave Share: merge the two trees whose merging saves most, until no merge saves anything.

    benefit(x, y) = C(x) + C(y) - C(x with y)

Guirguis et al., CIKM 2011, section 5.1 and Figure 2. Ties go to the first pair by smallest query; a merge that saves
nothing is not made; costs are compared as exact fractions. The table of benefits is kept between merges, so that a
merge prices only the merged tree against the others (the paper's cost lookup).

Where the rate is so high that every merge must pay, whatever its edges, the outcome is one tree and the loop is
skipped: a merge saves one pass (`rate`) and never costs more than all that slices cost when everything is shared.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from weft.planners.candidates import Candidate
from weft.planners.prices import Price
from weft.planners.shared import shared
from weft.slicing.density import density
from weft.slicing.edges import common_tick


def weave_share(queries: Sequence[Candidate], price: Price) -> list[Candidate]:
    """Greedy pairwise merging of candidates."""
    if len(queries) > 1 and every_merge_pays(queries, price):
        return shared(queries, price)
    trees: list[Candidate | None] = list(queries)
    costs = [price.cost(tree) for tree in queries]
    benefits: dict[tuple[int, int], tuple[Fraction, Candidate]] = {}

    def weigh(i: int, j: int) -> None:
        left, right = trees[i], trees[j]
        if left is not None and right is not None:
            merged = left | right
            benefits[i, j] = costs[i] + costs[j] - price.cost(merged), merged

    for i in range(len(trees)):
        for j in range(i + 1, len(trees)):
            weigh(i, j)
    while benefits:
        (i, j), (benefit, merged) = max(benefits.items(), key=lambda item: (item[1][0], (-item[0][0], -item[0][1])))
        if benefit <= 0:
            break
        trees[i], trees[j] = merged, None
        costs[i] = price.cost(merged)
        for pair in [pair for pair in benefits if i in pair or j in pair]:
            del benefits[pair]
        for k in range(len(trees)):
            if k != i and trees[k] is not None:
                weigh(min(i, k), max(i, k))
    return [tree for tree in trees if tree is not None]


def every_merge_pays(queries: Sequence[Candidate], price: Price) -> bool:
    """Whether a merge saves something whichever trees it joins, by a bound that needs no union of edges.

    Answers cost the same before and after a merge, except where windows are so sparse (range below slide) that
    folding them naively is cheaper than answering them: such candidates are left to the loop. What remains of a
    merged tree's cost is at most that of all queries together at the most edges they could have.
    """
    together = queries[0].demand
    for query in queries[1:]:
        together += query.demand
    if any(query.demand.overlap < query.demand.queries for query in queries):
        return False
    edges = [edge_class for query in queries for edge_class in query.classes]
    most = min(Fraction(1, common_tick(edges)), sum((density(query.classes) for query in queries), Fraction(0)))
    per_second = price.per_second(most)
    all_partials = Candidate(queries[0].queries, (), frozenset().union(*(q.partials for q in queries)), together)
    slices = min(technique.per_slice(together, most) for technique in price.admissible(all_partials))
    return price.stats.rate > per_second * min(Fraction(price.keys), price.stats.rate / per_second) * slices
