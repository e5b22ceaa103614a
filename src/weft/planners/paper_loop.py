"""Paper loop: Weave Share as it is printed, to be compared with. Nothing that plans uses it.

    1  every query is a tree
    2  for all pairs of trees: what would merging them save?
    3  merge the pair that saves most, the first one of several
    4  again from 2, until no merge saves anything

Guirguis et al., CIKM 2011, Figure 2, over single queries with Panes' final aggregation and one group. How dear step 2
is depends on three optimisations (section 8), each of which can be had without the others:

    cost_lookup     a table of benefits: after a merge, only the merged tree is weighed against the others
    bitmap          a tree's edges as a bitmap of its composite slide, replicated when it merges, so that an edge takes
                    one probe; without it an edge takes two comparisons with every query of the other tree, as in the
                    paper's Example 4
    probe_smaller   walk the edges of the tree that has fewer of them; without it, those of the second tree

The paper's measure of overhead is counted: benefits evaluated, and elementary steps. With `execute=False` these are
the same without being taken, as hundreds of queries take 10^10 of them: a pair that is weighed again only counts again,
and the edges that two trees have in common come from one `and` of two bitmaps, while

    comparisons = 2 x queries of the tree that is probed x edges that are walked       probes = edges that are walked

with edges counted in the composite slide of both trees.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from weft.planners.candidates import Candidate
from weft.planners.prices import Price
from weft.slicing.edges import Classes, in_ticks


@dataclass(frozen=True)
class Overhead:
    """What planning took."""

    evaluations: int
    """Merges of two trees that were weighed."""
    comparisons: int
    probes: int
    written: int
    """Bits written where trees were merged."""

    @property
    def steps(self) -> int:
        """Elementary steps of all kinds."""
        return self.comparisons + self.probes + self.written


@dataclass(frozen=True)
class Woven:
    """What the loop made of the queries."""

    trees: tuple[tuple[int, ...], ...]
    """Numbers of queries, ascending."""
    cost: Fraction
    overhead: Overhead


def paper_loop(
    queries: Sequence[Candidate],
    price: Price,
    *,
    cost_lookup: bool = False,
    bitmap: bool = False,
    probe_smaller: bool = False,
    execute: bool = True,
) -> Woven:
    """Merge trees of single queries while that saves anything."""
    tick, trees = _planted(queries)
    check = _Check(trees, price.base_rate / price.per_second(Fraction(1, tick)), bitmap, probe_smaller, execute)
    table: dict[tuple[int, int], Weighed] = {}
    evaluations = steps = written = 0
    while True:
        best, chosen = 0, None
        for i, j in combinations(range(len(trees)), 2):
            pair = trees[i].number, trees[j].number
            known = pair in table
            if not known or (execute and not cost_lookup):
                table[pair] = check.weighed(trees[i], trees[j])
            benefit, _, took = table[pair]
            if not known or not cost_lookup:
                evaluations += 1
                steps += took
            if benefit > best:
                best, chosen = benefit, (i, j)
        if chosen is None:
            break
        i, j = chosen
        common = table[trees[i].number, trees[j].number][1]
        trees[i], took = check.merged(trees[i], trees[j], common)
        written += took
        del trees[j]
    overhead = Overhead(evaluations, 0 if bitmap else steps, steps if bitmap else 0, written if bitmap else 0)
    per_tree = (price.base_rate + price.per_second(tree.edge_rate / tick) * tree.overlap for tree in trees)
    return Woven(tuple(tree.queries for tree in trees), sum(per_tree, Fraction(0)), overhead)


@dataclass(frozen=True, slots=True)
class _Tree:
    number: int
    queries: tuple[int, ...]
    windows: tuple[Classes, ...]
    """The edges of each query: one class, or two."""
    slide: int
    """The composite slide, in ticks."""
    edges: int
    """Edges in the composite slide."""
    overlap: Fraction
    """Sum of range / slide."""
    bits: bytes
    """A byte for each tick of the composite slide."""

    @property
    def edge_rate(self) -> Fraction:
        return Fraction(self.edges, self.slide)

    def edges_in(self, slide: int) -> int:
        """Edges in a composite slide that this one is stretched to."""
        return self.edges * (slide // self.slide)


def _planted(queries: Sequence[Candidate]) -> tuple[int, list[_Tree]]:
    """The tick that all edges are whole numbers of, and a tree for every query."""
    tick, classes = in_ticks(edge_class for query in queries for edge_class in query.classes)
    waiting, trees = iter(classes), []
    for number, query in enumerate(queries):
        window = tuple(next(waiting) for _ in query.classes)
        slide = math.lcm(*(modulus for modulus, _ in window))
        bits = bytearray(slide)
        for edge in _marked((window,), slide):
            bits[edge] = 1
        trees.append(_Tree(number, (number,), (window,), slide, sum(bits), query.demand.overlap, bytes(bits)))
    return tick, trees


def _marked(windows: Iterable[Classes], slide: int) -> set[int]:
    """The edges of some queries in a composite slide."""
    return {edge for window in windows for modulus, residue in window for edge in range(residue, slide, modulus)}


Weighed = tuple[int, int, int]
"""What a merge saves in whole units, edges in common, and steps taken."""


class _Check:
    """Weighs and makes merges, as the optimisations have it. State: the number of the next tree."""

    def __init__(
        self, trees: Sequence[_Tree], per_pass: Fraction, bitmap: bool, probe_smaller: bool, execute: bool
    ) -> None:
        self._bitmap, self._probe_smaller, self._execute = bitmap, probe_smaller, execute
        self._next = len(trees)
        # operations in the composite slide of all queries, times what makes overlaps and the rate whole
        self._period = math.lcm(*(tree.slide for tree in trees))
        self._whole = math.lcm(per_pass.denominator, *(tree.overlap.denominator for tree in trees))
        self._per_pass = int(per_pass * self._period * self._whole)

    def weighed(self, left: _Tree, right: _Tree) -> Weighed:
        """Equation 5: C(left) + C(right) - C(both)."""
        slide = math.lcm(left.slide, right.slide)
        probed, probing = self._roles(left, right)
        if not self._execute:
            common, took = self._reckoned(probed, probing, slide)
        elif self._bitmap:
            common, took = _probed(probed, probing, slide)
        else:
            common, took = _compared(probed, probing, slide)
        answers = 0
        for tree, other in ((left, right), (right, left)):
            # the answers of a tree are put together at the edges of the other one, too
            more = other.edges_in(slide) - common
            answers += more * (tree.overlap.numerator * (self._whole // tree.overlap.denominator))
        return self._per_pass - answers * (self._period // slide), common, took

    def merged(self, left: _Tree, right: _Tree, common: int) -> tuple[_Tree, int]:
        """Both in one tree, and how many bits that takes: one bitmap replicated, the other's edges hashed into it."""
        slide = math.lcm(left.slide, right.slide)
        probed, probing = self._roles(left, right)
        bits = bytearray(probed.bits * (slide // probed.slide))
        written = len(bits)
        for edge in _walked(probing, slide):
            bits[edge] = 1
            written += 1
        queries = tuple(sorted(left.queries + right.queries))
        edges = left.edges_in(slide) + right.edges_in(slide) - common
        overlap = left.overlap + right.overlap
        tree = _Tree(self._next, queries, left.windows + right.windows, slide, edges, overlap, bytes(bits))
        self._next += 1
        return tree, written

    def _roles(self, left: _Tree, right: _Tree) -> tuple[_Tree, _Tree]:
        """The tree that is probed, and the one whose edges are walked."""
        if self._probe_smaller and left.edge_rate < right.edge_rate:
            return right, left
        return left, right

    def _reckoned(self, probed: _Tree, probing: _Tree, slide: int) -> tuple[int, int]:
        """Edges in common, and the steps that it would take to find them one by one."""
        one, other = (int.from_bytes(tree.bits * (slide // tree.slide), "little") for tree in (probed, probing))
        each = 1 if self._bitmap else 2 * len(probed.windows)
        return (one & other).bit_count(), each * probing.edges_in(slide)


def _walked(tree: _Tree, slide: int) -> Iterable[int]:
    return (edge for edge in range(slide) if tree.bits[edge % tree.slide])


def _probed(probed: _Tree, probing: _Tree, slide: int) -> tuple[int, int]:
    """Edges in common, one probe for each edge of one tree."""
    common = probes = 0
    for edge in _walked(probing, slide):
        common += probed.bits[edge % probed.slide]
        probes += 1
    return common, probes


def _compared(probed: _Tree, probing: _Tree, slide: int) -> tuple[int, int]:
    """Edges in common, two comparisons for each edge of one tree and each query of the other."""
    common = comparisons = 0
    for edge in _marked(probing.windows, slide):
        found = False
        for window in probed.windows:
            for modulus, residue in (window[0], window[-1]):
                found |= (edge - residue) % modulus == 0
                comparisons += 1
        common += found
    return common, comparisons
