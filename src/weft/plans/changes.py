"""Changes: the difference of two plans as lines, in the manner of `explain`: one fact each, what it is about in front.

diff        weave_share, 2 trees -> shared, 1 tree
queries     3 -> 4: 1 added
cost        4.3 -> 4.4 operations/s, +2.3 %

kept        t1 -> t1: 2 queries stay, 2 come
  cost      2.7 -> 4.4 operations/s, +63 %

moved       t2 -> t1: qb
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TypeVar

from weft.plans.diff import Difference, Pair, tree_of
from weft.plans.explain import number, stream
from weft.plans.facts import NOTHING, Fact, as_html, as_text, listed
from weft.plans.picture import counted
from weft.plans.plan import Tree
from weft.queries import durations
from weft.queries import expressions as ex
from weft.queries.query import Measure, Query
from weft.queries.window import Window

_SHOWN = 8
"""Trees, queries and names listed of each kind before the rest is counted."""

_Listed = TypeVar("_Listed")


def text(difference: Difference) -> str:
    """The difference as text."""
    return as_text(facts(difference))


def html(difference: Difference) -> str:
    """The difference as an HTML fragment. Whatever comes from a query is escaped."""
    return as_html(facts(difference))


def facts(difference: Difference) -> Iterator[Fact]:
    """All lines of the difference."""
    for part in (_head, _trees, _queries):
        yield from part(difference)


def _head(difference: Difference) -> Iterator[Fact]:
    old, new = difference.old, difference.new
    yield "diff", _arrow(*(f"{plan.planner}, {counted(len(plan.trees), 'tree')}" for plan in (old, new)))
    changes = [
        f"{len(names):,} {word}"
        for word in ("added", "removed", "altered", "moved")
        if (names := getattr(difference, word))
    ]
    count = _arrow(f"{len(old.workload):,}", f"{len(new.workload):,}")
    yield "queries", f"{count}: {', '.join(changes) or 'the same in both'}"
    yield "stream", _arrow(stream(old.stats), stream(new.stats))
    yield "price", _arrow(old.price, new.price)
    yield "slicing", _arrow(*(f"{plan.slicing}, trees read {plan.feed}" for plan in (old, new)))
    yield "cost", _costs(difference, old.cost, new.cost)
    if difference.incomparable is not None:
        yield "", f"not comparable: {difference.incomparable}"
    before, after = (sum((tree.edge_rate for tree in plan.trees), Fraction(0)) for plan in (old, new))
    yield "edges", from_to(before, after, "edges/s")
    if old.workload.unnamed or new.workload.unnamed:
        yield "note", "windows given as arrays have no names: q1 is the first one, q2 the second"
    if difference.unchanged:
        yield "note", "the same queries in the same trees"


def _trees(difference: Difference) -> Iterator[Fact]:
    old, new = difference.old.trees, difference.new.trees
    workload, tree_now = difference.new.workload, tree_of(difference.new)
    touched = {int(tree_now[workload.position(id_)]) for id_ in difference.altered}
    alike = [
        pair
        for pair in difference.kept_trees
        if pair.new not in touched and _alike(pair, old[pair.old - 1], new[pair.new - 1])
    ]
    if alike:
        said = listed([f"t{pair.old} -> t{pair.new}" for pair in alike])
        yield from (NOTHING, ("same", f"{counted(len(alike), 'tree')}: {said}"))
    changed = sorted(set(difference.kept_trees) - set(alike), key=lambda pair: pair.old)

    def kept(pair: Pair) -> Iterator[Fact]:
        before, after = old[pair.old - 1], new[pair.new - 1]
        come, go = len(after.queries) - pair.common, len(before.queries) - pair.common
        parts = [f"{counted(pair.common, 'query')} {'stays' if pair.common == 1 else 'stay'}"]
        parts += [f"{come:,} {'comes' if come == 1 else 'come'}"] * bool(come)
        parts += [f"{go:,} {'goes' if go == 1 else 'go'}"] * bool(go)
        yield "kept", f"t{pair.old} -> t{pair.new}: {', '.join(parts)}"
        yield "  cost", _costs(difference, before.cost, after.cost)
        yield "  edges", from_to(before.edge_rate, after.edge_rate, "edges/s")
        yield "  final", _arrow(before.technique, after.technique)

    def costlier(pair: Pair) -> Fraction:
        return abs(new[pair.new - 1].cost - old[pair.old - 1].cost)

    if len(changed) > _SHOWN:
        changed.sort(key=costlier, reverse=True)
    yield from _each("kept", changed, kept)
    yield from _each("gone", difference.gone_trees, lambda place: _tree("gone", place, old[place - 1]))
    yield from _each("new", difference.new_trees, lambda place: _tree("new", place, new[place - 1]))


def _tree(word: str, place: int, tree: Tree) -> Iterator[Fact]:
    """A tree that only one of the plans has."""
    yield word, f"t{place}: {counted(len(tree.queries), 'query')}"
    yield "  cost", f"{number(tree.cost)} operations/s"
    yield "  edges", f"{number(tree.edge_rate)} edges/s"
    yield "  final", tree.technique


def _alike(pair: Pair, old: Tree, new: Tree) -> bool:
    left, right = ((len(t.queries), t.technique, t.slices, t.cost, t.edge_rate) for t in (old, new))
    return left == right and len(old.queries) == pair.common


def _each(word: str, things: Sequence[_Listed], tell: Callable[[_Listed], Iterable[Fact]]) -> Iterator[Fact]:
    for thing in things[:_SHOWN]:
        yield from (NOTHING, *tell(thing))
    if len(things) > _SHOWN:
        yield from (NOTHING, _more(word, things))


def _more(word: str, things: Sequence[object]) -> Fact:
    return word, f"and {len(things) - _SHOWN:,} more"


def _queries(difference: Difference) -> Iterator[Fact]:
    old, new = difference.old.workload, difference.new.workload
    before, after = tree_of(difference.old), tree_of(difference.new)
    routes: dict[str, list[str]] = {}
    for move in difference.moved:
        routes.setdefault(f"t{move.old} -> t{move.new}", []).append(move.query)
    kinds: dict[str, tuple[Sequence[str], Callable[[str], str]]] = {
        "added": (difference.added, lambda id_: f"{id_} to t{after[new.position(id_)]}: {_query(new[id_])}"),
        "removed": (difference.removed, lambda id_: f"{id_} from t{before[old.position(id_)]}: {_query(old[id_])}"),
        "altered": (difference.altered, lambda id_: f"{id_}: {'; '.join(_alterations(old[id_], new[id_]))}"),
        "moved": (
            sorted(routes, key=lambda route: -len(routes[route])),
            lambda route: f"{route}: {listed(routes[route])}",
        ),
    }
    for word, (things, say) in kinds.items():
        if things:
            yield NOTHING
        for thing in things[:_SHOWN]:
            yield word, say(thing)
        if len(things) > _SHOWN:
            yield _more(word, things)


def _query(query: Query) -> str:
    parts = [_measures(query.measures), str(query.window)]
    if query.where is not None:
        parts.append(f"where {ex.to_sql(query.where)}")
    if query.group_by:
        parts.append(f"by {_keys(query.group_by)}")
    if query.having is not None:
        parts.append(f"having {ex.to_sql(query.having)}")
    return ", ".join(parts)


def _alterations(old: Query, new: Query) -> Iterator[str]:
    """The fields in which two queries of one name differ, before and after."""
    if old.window != new.window:
        yield _windows(old.window, new.window)
    for field, say in _FIELDS.items():
        left, right = getattr(old, field), getattr(new, field)
        if left != right:
            yield f"{field} {say(left) if left else 'none'} -> {say(right) if right else 'none'}"


def _windows(old: Window, new: Window) -> str:
    if old.unit != new.unit:
        return f"{old} -> {new}"
    say = durations.short if old.unit == "time" else "{} rows".format
    pairs = {field: (getattr(old, field), getattr(new, field)) for field in ("range", "slide", "offset", "delay")}
    return "; ".join(f"{field} {say(a)} -> {say(b)}" for field, (a, b) in pairs.items() if a != b)


def _measures(measures: Iterable[Measure]) -> str:
    texts = [(measure.name, ex.to_sql(measure.expression)) for measure in measures]
    return ", ".join(text if name == text else f"{text} AS {name}" for name, text in texts)


def _keys(keys: Iterable[ex.Expression]) -> str:
    return ", ".join(map(ex.to_sql, keys))


_FIELDS: Mapping[str, Callable[..., str]] = {
    "measures": _measures,
    "where": ex.to_sql,
    "group_by": _keys,
    "having": ex.to_sql,
    "time": ex.to_sql,
    "source": str,
    "columns": _measures,
    "assumed": ", ".join,
}


def _arrow(old: str, new: str) -> str:
    return old if old == new else f"{old} -> {new}"


def _costs(difference: Difference, old: Fraction, new: Fraction) -> str:
    if difference.incomparable is None:
        return from_to(old, new, "operations/s")
    return f"{_arrow(number(old), number(new))} operations/s"


def from_to(old: Fraction, new: Fraction, unit: str) -> str:
    """Two numbers and the change.

    >>> from_to(Fraction(5), Fraction(4), "edges/s"), from_to(Fraction(5), Fraction(5), "edges/s")
    ('5 -> 4 edges/s, -20 %', '5 edges/s, unchanged')
    """
    if old == new:
        return f"{number(old)} {unit}, unchanged"
    shown = f"{number(old)} -> {number(new)} {unit}"
    if not old:
        return shown
    percent = 100 * (new - old) / old
    if abs(percent) < Fraction(1, 100):
        return f"{shown}, {'more' if percent > 0 else 'less'} by under 0.01 %"
    return f"{shown}, {'+' if percent > 0 else '-'}{number(float(f'{float(abs(percent)):.3g}'))} %"
