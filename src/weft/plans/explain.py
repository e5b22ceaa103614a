"""Explain: a plan as text. One fact per line, a name to grep for in the first column, the arithmetic shown.

Nothing here varies between runs: no ids, no times, no hosts. Golden files in the tests hold it to that.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from weft.plans.plan import ROLL_UP, Plan, Tree
from weft.plans.stats import Stats
from weft.queries import durations
from weft.queries import expressions as ex
from weft.queries.query import Query
from weft.techniques import BY_NAME

_SHOWN = 8
"""Queries, slices and alternatives listed before the rest is counted."""


def lines(plan: Plan) -> list[str]:
    """All lines of a plan's explanation."""
    found = [*_head(plan)]
    for position, tree in enumerate(plan.trees, 1):
        found += ["", *_tree(plan, tree, position)]
    return found


def number(value: Fraction | float) -> str:
    """A cost or a rate with four significant digits, and no digit that means nothing.

    >>> number(Fraction(43, 10)), number(Fraction(1234567)), number(Fraction(1, 3))
    ('4.3', '1,235,000', '0.3333')
    """
    text = f"{float(value):.4g}"
    if "e" not in text:
        whole, _, fraction = text.partition(".")
        return f"{int(whole):,}" + (f".{fraction}" if fraction else "")
    return f"{float(text):,.0f}" if abs(float(text)) >= 1 else text


def keys(stats: Stats) -> str:
    """How many keys there are, in words.

    >>> keys(Stats(keys=1)), keys(Stats(keys={"symbol": 1_000, "symbol, venue": 9_000}))
    ('1 key', 'keys 1,000 by symbol and 9,000 by symbol, venue')
    """
    if isinstance(stats.keys, int):
        return f"{stats.keys:,} {'key' if stats.keys == 1 else 'keys'}"
    if not stats.keys:
        return "no keys"
    found = [f"{count:,} by {text}" for text, count in list(stats.keys.items())[:_SHOWN]]
    found += [f"{len(stats.keys) - _SHOWN:,} more"] * (len(stats.keys) > _SHOWN)
    return f"keys {' and '.join([', '.join(found[:-1]), found[-1]] if found[1:] else found)}"


def stream(stats: Stats) -> str:
    """What is known of the stream in words.

    >>> stream(Stats(1)), stream(Stats(5_000, 1_000))
    ('1 row/s, 1 key', '5,000 rows/s, 1,000 keys')
    """
    return f"{number(stats.rate)} {'row' if stats.rate == 1 else 'rows'}/s, {keys(stats)}"


def _head(plan: Plan) -> list[str]:
    workload, stats = plan.workload, plan.stats
    trees = f"{len(plan.trees)} {'tree' if len(plan.trees) == 1 else 'trees'}"
    source = next((prototype.source for prototype in workload.prototypes if prototype.source), None)
    found = [
        _line(
            "plan",
            f"{plan.planner}: {len(workload):,} {'query' if len(workload) == 1 else 'queries'}"
            f"{f' on {source}' if source else ''}, {trees}, {number(plan.cost)} operations/s",
        ),
        _line("stream", stream(stats)),
        _line("price", f"{plan.price}: {_price(plan)}"),
        _line("slicing", f"{plan.slicing}, {_passes(plan)}"),
    ]
    others = [f"{name} {number(cost)}" for name, cost in plan.alternatives]
    copies = _copies(plan)
    if copies is not None:
        others.append(f"Spark's window() {number(copies)} row copies/s")
    if others:
        found.append(_line("instead of", "   ".join(others)))
    if plan.gap is not None:
        found.append(_line("bound", certificate(plan.gap, plan.bound_among)))
    return found


def certificate(gap: Fraction, among: str = "") -> str:
    """How good the plan is known to be, among those that read the rows for every tree.

    >>> certificate(Fraction(0))
    'no plan costs less, shared slices aside'
    >>> certificate(Fraction(8, 1000), "plans that keep equal edges together")
    'within 0.8 % of the best of the plans that keep equal edges together, shared slices aside'
    """
    if gap == 0:
        said = f"none of the {among} costs less" if among else "no plan costs less"
    else:
        said = f"within {number(gap * 100)} % of the best {f'of the {among}' if among else 'possible'}"
    return f"{said}, shared slices aside"


def _price(plan: Plan) -> str:
    operations = "edge rate x groups x operations per edge"
    if plan.feed == "slices":
        return f"rate for each pass, and for each tree: slices read + {operations}"
    rows = "rows that pass" if plan.stats.filters else "rate"
    if any(tree.sets for tree in plan.trees):
        rolled = f"{number(ROLL_UP)} x partials rolled up"
        return f"{rows} + edge rate x ({rolled} + groups x operations per edge), summed over keys and trees"
    if plan.stats.filters:
        return f"{rows} + {operations}, summed over filters and trees"
    return f"rate + {operations}, summed over trees"


def _passes(plan: Plan) -> str:
    count = plan.passes
    passes = f"{count} {'pass' if count == 1 else 'passes'} over the rows"
    if plan.feed == "slices":
        return f"{passes} into shared slices, {number(plan.feeding_cost)} operations/s, that feed the trees"
    return f"{passes}, one for each tree" if count > 1 else passes


def _copies(plan: Plan) -> Fraction | None:
    """How many row copies per second Spark's own window() makes for these queries, filters aside."""
    workload = plan.workload
    if workload.counts_rows.any():
        return None
    copies = -(-workload.ranges // workload.slides)
    return plan.stats.rate * int(copies.sum())


def _tree(plan: Plan, tree: Tree, position: int) -> Iterable[str]:
    workload = plan.workload
    groups = "" if tree.groups == 1 or tree.sets else f" x {number(tree.groups)}"
    per_edge = tree.groups * tree.operations if tree.sets else tree.operations
    yield _line(
        f"t{position}",
        f"{number(tree.cost)} = {number(tree.input_rate)} + {number(tree.edge_rate)}{groups} x {number(per_edge)}",
    )
    if tree.sets:
        yield from _sets(tree)
    else:
        by = ", ".join(ex.to_sql(key) for key in plan.group_by(tree))
        some = f"by {by}, {number(tree.groups)} with rows at an edge"
        yield _line("  groups", some if by else "none, one answer for all")
    unit = workload[int(tree.queries[0])].window.unit
    yield _line("  slices", f"{_slices(tree, unit)}, {number(tree.edge_rate)} edges/s")
    shown = [workload[query_position] for query_position in tree.queries[:_SHOWN].tolist()]
    width = max(12, *(len(query.id) + 4 for query in shown))
    for query in shown:
        yield _query(query, width)
    if len(tree.queries) > _SHOWN:
        yield _line("", f"and {len(tree.queries) - _SHOWN:,} more")
    technique = BY_NAME[tree.technique]
    if tree.sets:
        operations = ", for each group as above"
    else:
        operations = f"{', summed over filters' if tree.filters else ''} = {number(tree.operations)}"
    yield _line("  final", f"{technique.name}: {technique.omega.said(plan.price)}{operations}")
    yield _line("", f"[{technique.first_appeared}]")
    yield from _filters(plan, tree)
    for name, reason in tree.lost:
        yield _line("  not", f"{name}: {reason}")


def _sets(tree: Tree) -> Iterable[str]:
    """What is grouped by: each set's groups, what it is rolled up from, and what its queries take."""
    for place, each in enumerate(tree.sets):
        by = f"by {', '.join(each.keys)}" if each.keys else "all together"
        sum_ = []
        if each.source is not None:
            source = ", ".join(tree.sets[each.source].keys)
            sum_.append(f"{number(ROLL_UP)} x {number(each.read)} partials by {source} rolled up")
        if each.operations:
            sum_.append(
                f"{number(each.groups)} {'group' if each.groups == 1 else 'groups'} x {number(each.operations)}"
            )
        if not sum_:
            sum_.append(f"{number(each.groups)} groups with rows at an edge, that others are rolled up from")
        total = f" = {number(each.per_edge)}" if each.per_edge else ""
        if each.source is not None and not each.operations:
            total += ", a phantom that others are rolled up from"
        yield _line("" if place else "  groups", f"{by}: {' + '.join(sum_)}{total}")


def _filters(plan: Plan, tree: Tree) -> Iterable[str]:
    """What Omega is the sum of: each filter's shards, expected at an edge of a group, times what one of them takes."""
    dearest = sorted(tree.filters, key=lambda part: -part[1] * part[2])
    for place, (where, shards, each) in enumerate(dearest[:_SHOWN]):
        sum_ = f"{number(shards)} {'shard' if shards == 1 else 'shards'} x {number(each)} = {number(shards * each)}"
        passing = (
            f"where {where}, {number(100 * plan.stats.filters.get(where, Fraction(1)))} % of rows" if where else ""
        )
        yield _line("" if place else "  filters", f"{sum_}   {passing or 'every row'}")
    rest = sum((shards * each for _, shards, each in dearest[_SHOWN:]), Fraction(0))
    if rest:
        yield _line("", f"and {len(dearest) - _SHOWN:,} more = {number(rest)}")


def _slices(tree: Tree, unit: str) -> str:
    say = durations.short if unit == "time" else "{} rows".format
    cuts: dict[int, list[int]] = {}
    for modulus, residue in tree.slices:
        cuts.setdefault(modulus, []).append(residue)
    shown = []
    for modulus, residues in list(cuts.items())[:_SHOWN]:
        ats = [say(residue) for residue in residues[:_SHOWN] if residue]
        more = ["..."] if len(residues) > _SHOWN else []
        shown.append(
            f"every {say(modulus)}" + (f" at {', '.join(['0'] * (0 in residues) + ats + more)}" if ats else "")
        )
    if len(cuts) > _SHOWN:
        shown.append(f"and {len(cuts) - _SHOWN} more periods")
    return "cut " + "; ".join(shown)


def _query(query: Query, width: int) -> str:
    measures = ", ".join(ex.to_sql(measure.expression) for measure in query.measures)
    overlap = number(Fraction(query.window.range, query.window.slide))
    where = f"   where {ex.to_sql(query.where)}" if query.where is not None else ""
    return _line(f"  {query.id}", f"{measures}   {query.window}   overlap {overlap}{where}", width)


def _line(name: str, text: str, width: int = 12) -> str:
    return f"{name:<{width}}{text}"
