"""Planners: a workload, some stats and a price become a plan.

In: `Workload`, `Stats`, a price. Out: a `Plan`. Next room: `spark`, which runs it.

    candidates.py         the queries, collapsed: those with the same edges as one
    families.py           only queries of one kin can share: a workload comes apart
    prices.py             what a tree costs, and which technique makes it cheapest; shards.py: with filters
    rollups.py            how the sets of keys of one tree are made of each other
    planner.py            the type: a card and a function
    no_share.py           a tree for every query
    shared.py             one tree for all
    weave_share.py        merge the pair of trees that saves most, until no merge saves anything
    forest.py             what it merges: bounds for many pairs at once, exact benefits for one
    tri_weave.py          the same over shared slices that feed the trees
    insert_then_weave.py  queries one by one into the tree that they weave best with
    random.py             merge at random
    local_search.py       move one query at a time; ledger.py remembers what sets of queries cost
    exhaustive.py         all partitions
    optimal.py            the best partition, or a plan and how far from it; subsets.py: dynamic programming
    lower_bounds.py       what no plan costs less than
    pairing.py            trees of two, as a maximum weight matching
    contiguous.py         trees of queries that stand next to each other
    optimize.py           the door: check what was asked, call a planner, price the alternatives
    compare.py            all planners side by side
    weaver.py             queries that join and leave a plan, one at a time
    change.py             what one of them did to the plan
    loom.py               the trees of one kin that they join; curve.py: when to plan from scratch
    what_if.py            what would become of a plan if queries came and went
    savings.py            what each query and each owner saves
"""

from weft.planners.optimize import PLANNERS, optimize

__all__ = ["PLANNERS", "optimize"]
