"""Picture: a plan drawn, as a self-contained SVG.

    weave_share: 4 queries on trades in 3 trees           legend
    this plan   ====--     17,140
    no_share    =========  22,140

    t1  2 queries, disjoint_table                         cost ==-
    high                 |-----------|
    10 min every 2 min        |-----------|               the first windows of a query, where they cover the stream
    odd                   |------|
    slices               [   ][ ][  ][   ][ ]             from each edge to the next, exact
                         0      5 min     10 min

What is drawn is decided in `lanes`; here it gets its place on paper. Nothing in it varies between runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import accumulate, count

from weft.plans import explain, svg
from weft.plans.lanes import Block, Lane, Row, lanes
from weft.plans.plan import Plan
from weft.queries import durations
from weft.queries import expressions as ex
from weft.queries.query import Query
from weft.queries.window import Window

_WIDTH, _MARGIN = 960, 16
_LEFT, _RIGHT = 268, _WIDTH - _MARGIN
_LABELS = _LEFT - _MARGIN - 14
_ROW, _SLICES, _BAR = 33, 18, 6
_FAINT = 0.14
_SHADES = (0.52, 0.92)
_BETWEEN = 0.16
_FADING = (1, 0.7, 0.42)
_NARROWEST = 1.5
_RULED = 90
"""Slices up to which their edges are ruled through the rows above."""

Piece = tuple[str, float]
"""A part of the picture and its height."""


def picture(plan: Plan, ink: str = "#1f2933", paper: str = "#ffffff") -> str:
    """The plan as SVG: each tree's windows, the slices that they share, and what it costs.

    `ink` and `paper` are CSS colours; `currentColor` and `none` take those of the page around it.
    """
    y, parts = 0.0, []
    for part, height in _pieces(plan, lanes(plan)):
        parts.append(f'<g transform="translate(0 {svg.number(y)})">{part}</g>')
        y += height
    return svg.document(_WIDTH, y, f"{summary(plan)}, {explain.number(plan.cost)} operations/s", ink, paper, parts)


def summary(plan: Plan) -> str:
    """Who planned how many queries into how many trees."""
    source = next((f" on {p.source}" for p in plan.workload.prototypes if p.source), "")
    return f"{plan.planner}: {counted(len(plan.workload), 'query')}{source} in {counted(len(plan.trees), 'tree')}"


def counted(number: int, noun: str) -> str:
    """A number of things in words.

    >>> counted(1, "tree"), counted(2000, "query")
    ('1 tree', '2,000 queries')
    """
    many = f"{noun[:-1]}ies" if noun.endswith("ry") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else many}"


def _pieces(plan: Plan, drawn: list[Lane]) -> Iterator[Piece]:
    """The parts of the picture from top to bottom."""
    yield _head(plan, drawn)
    dearest = max((lane.tree.cost for lane in drawn), default=Fraction(0))
    units = [lane.unit for lane in drawn]
    for place, lane in enumerate(drawn):
        if len(set(units)) > 1 and lane.unit not in units[:place]:
            said = "Windows over time" if lane.unit == "time" else "Windows over rows, numbered within each group"
            yield svg.text(_MARGIN, 20, said, size=13, bold=True, opacity=svg.QUIET), 28
        yield _lane(plan, lane, dearest)
    left = len(plan.trees) - len(drawn)
    if left:
        rest = sum((tree.cost for tree in plan.trees), Fraction(0)) - sum(lane.tree.cost for lane in drawn)
        said = f"and {counted(left, 'tree')} more, none of them dearer: {explain.number(rest)} operations/s"
        yield svg.text(_MARGIN, 18, said, opacity=svg.QUIET), 30


def _head(plan: Plan, drawn: list[Lane]) -> Piece:
    stream = f"{explain.stream(plan.stats)}, slices by {plan.slicing}"
    if plan.feed == "slices":
        stream += f", shared slices for all trees at {explain.number(plan.feeding_cost)} operations/s"
    body = [
        svg.text(_MARGIN, 30, summary(plan), size=16, bold=True, room=640),
        svg.text(_MARGIN, 50, stream, opacity=svg.QUIET, room=640),
    ]
    legend = list(_legend(drawn))
    for line, (symbol, said) in enumerate(legend):
        y = 22 + 19 * line
        body.append(f'<g transform="translate({_WIDTH - 282} {y})">{symbol}</g>')
        body.append(svg.text(_WIDTH - 250, y + 9.5, said, opacity=svg.QUIET))
    others = [*plan.alternatives, *([("lower bound", plan.bound)] if plan.bound is not None else [])]
    most = max(plan.cost, *(cost for _, cost in others), Fraction(1, 10**9))
    body.append(_bill(66, "this plan", plan.cost, most, plan.cost - sum(tree.final_cost for tree in plan.trees)))
    for line, (name, cost) in enumerate(others, 1):
        body.append(_bill(66 + 19 * line, name, cost, most))
    return "".join(body), max(66 + 19 * (1 + len(others)), 22 + 19 * len(legend)) + 12


def _bill(y: float, name: str, cost: Fraction, most: Fraction, slicing: Fraction | None = None) -> str:
    """A line that says what a plan costs; where it is known, what of it goes into making slices."""
    x, width, quiet = _MARGIN + 90, float(cost / most) * 260, 1 if slicing is not None else svg.QUIET
    said = f"{explain.number(cost)} operations/s"
    if slicing is None:
        bar = svg.rect(x, y, width, 10, title=f"{name}: {said}", opacity=0.28)
    else:
        bar = _cost_bar(x, y, width, slicing, cost - slicing)
    return (
        svg.text(_MARGIN, y + 9.5, name, bold=quiet == 1, opacity=quiet, room=84)
        + bar
        + svg.text(x + width + 8, y + 9.5, said, bold=quiet == 1, opacity=quiet)
    )


def _cost_bar(x: float, y: float, width: float, slicing: Fraction, final: Fraction) -> str:
    part = width * float(slicing / ((slicing + final) or 1))
    making = svg.rect(x, y, part, 10, title=f"making slices: {explain.number(slicing)} operations/s")
    answering = svg.rect(
        x + part, y, width - part, 10, title=f"final aggregation: {explain.number(final)} operations/s"
    )
    return svg.group([making], svg.BLUE) + svg.group([answering], svg.ORANGE)


def _legend(drawn: list[Lane]) -> Iterator[tuple[str, str]]:
    """The symbols that occur in the picture, 24 by 10, and what they mean."""
    if any(lane.rows for lane in drawn):
        bars = [svg.rect(4 * i, 4 * i - 1, 16, 3, title="window", opacity=_FADING[i]) for i in range(3)]
        yield svg.group(bars, svg.ORANGE), "the first windows of a query"
    if any(lane.blocks for lane in drawn):
        halves = [svg.rect(12 * i, 0, 12, 10, title="slice", opacity=_SHADES[i]) for i in range(2)]
        yield svg.group(halves, svg.BLUE), "slices, from each edge to the next"
    if any(not block.covered for lane in drawn for block in lane.blocks):
        yield svg.group([svg.rect(0, 0, 24, 10, title="slice", opacity=_BETWEEN)], svg.BLUE), "covered by no window"
    if drawn:
        yield _cost_bar(0, 0, 24, Fraction(1), Fraction(1)), "cost: making slices, final aggregation"


def _lane(plan: Plan, lane: Lane, dearest: Fraction) -> Piece:
    body = [svg.line(_MARGIN, 0, _RIGHT, 0, _FAINT), _lane_head(plan, lane, dearest)]
    top = y = 36.0
    for row in lane.rows:
        body.append(_row(row, lane, y))
        y += _ROW
    more = len(lane.tree.queries) - len(lane.rows)
    if more:
        body.append(svg.text(_MARGIN, y + 12, f"and {more:,} more", opacity=svg.QUIET))
        y += 20
    edges = f"{explain.number(lane.tree.edge_rate * 60)} {'edge' if lane.tree.edge_rate * 60 == 1 else 'edges'}/min"
    body.append(svg.text(_MARGIN, y + 13, "slices", rest=edges, bold=True))
    if lane.blocks:
        if len(lane.blocks) <= _RULED:
            ruled = "".join(f"M{svg.number(_x(b.start, lane))} {top:g}V{y:g}" for b in lane.blocks if b.start >= 0)
            body.insert(0, svg.path(ruled, opacity=_FAINT, stroke=True))
        shades = accumulate(block.covered for block in lane.blocks)
        blocks = [_block(block, lane, y, shade % 2) for block, shade in zip(lane.blocks, shades, strict=True)]
        body.append(svg.group(blocks, svg.BLUE))
    else:
        said = _crowd(lane)
        band = svg.rect(_LEFT, y, _RIGHT - _LEFT, _SLICES, title=f"too many slices to draw: {said}", opacity=0.4)
        body.append(svg.group([band], svg.BLUE))
        body.append(svg.text((_LEFT + _RIGHT) / 2, y + 13, said, anchor="middle"))
    body.append(_axis(lane, y + _SLICES))
    return "".join(body), y + _SLICES + 32


def _lane_head(plan: Plan, lane: Lane, dearest: Fraction) -> str:
    tree = lane.tree
    cost, name = tree.cost, f"t{lane.number}"
    keys = ", ".join(ex.to_sql(key) for key in plan.group_by(tree))
    facts = [counted(len(tree.queries), "query"), tree.technique, f"by {keys}" if keys else "one answer for all"]
    share = f"{explain.number(cost)} operations/s, {float(100 * cost / (plan.cost or 1)):.3g} %"
    return (
        svg.text(
            _MARGIN, 22, name, rest=" · ".join(facts), size=13, bold=True, room=520, title=f"{name}: {', '.join(facts)}"
        )
        + svg.text(_RIGHT - 168, 22, share, anchor="end", opacity=svg.QUIET)
        + _cost_bar(_RIGHT - 160, 12.5, float(cost / (dearest or 1)) * 160, tree.input_rate, tree.final_cost)
    )


def _row(row: Row, lane: Lane, y: float) -> str:
    query, window = row.query, row.query.window
    levels = min(len(row.windows), -(-window.range // window.slide))
    bars = []
    for number, (start, end) in enumerate(row.windows):
        if start < lane.stretch:
            height = y + _ROW / 2 - _BAR / 2 + 8 * (number % levels - (levels - 1) / 2) - 2
            title = f"{query.id}: {_interval(start, end, window)}"
            bars.append(_bar(_x(start, lane), _x(end, lane), height, end > lane.stretch, title, _FADING[number]))
    title = _whole(query)
    return (
        svg.text(_MARGIN, y + 11, query.id, rest=_measures(query), bold=True, room=_LABELS, title=title)
        + svg.text(_MARGIN, y + 25, _every(window), size=11, opacity=svg.QUIET, room=_LABELS, title=title)
        + svg.group(bars, svg.ORANGE)
    )


def _bar(x1: float, x2: float, y: float, goes_on: bool, title: str, opacity: float) -> str:
    """A window; one that goes on beyond the picture ends in an arrow."""
    width = max(x2 - x1, _NARROWEST)
    if not goes_on or width < _BAR:
        return svg.rect(x1, y, width, _BAR, title=title, opacity=opacity)
    half = _BAR / 2
    arrow = f"H{svg.number(x2 - half)}l{half:g} {half:g}l-{half:g} {half:g}H{svg.number(x1)}Z"
    return svg.path(f"M{svg.number(x1)} {svg.number(y)}{arrow}", title=title, opacity=opacity)


def _block(block: Block, lane: Lane, y: float, shade: int) -> str:
    start, end = _x(block.start, lane), _x(block.end, lane)
    title = f"slice from {amount(block.start, lane.unit)} to {amount(block.end, lane.unit)}"
    if not block.covered:
        title += ", covered by no window"
    opacity = _SHADES[shade] if block.covered else _BETWEEN
    return svg.rect(start, y, end - start, _SLICES, title=title, opacity=opacity)


def _crowd(lane: Lane) -> str:
    """How often there is an edge, where there are too many to draw."""
    if len(lane.tree.slices) == 1:
        return f"an edge every {amount(lane.tree.slices[0][0], lane.unit)}"
    name, size = "rows", 1
    if lane.unit == "time":
        name = next(name for name in ("d", "h", "min", "s", "ms", "us") if lane.gap >= _size(name))
        size = _size(name)
    return f"about an edge every {explain.number(lane.gap / size)} {name}"


def _axis(lane: Lane, y: float) -> str:
    step = _step(lane.stretch, lane.unit)
    unit = "rows" if lane.unit == "rows" else durations.short(step).split()[1]
    size = 1 if unit == "rows" else _size(unit)
    reach = f"0 to {explain.number(lane.stretch / size)} {unit}" + (", on a scale of its own" if lane.alone else "")
    body = [svg.text(_MARGIN, y + 15, reach, size=11, opacity=svg.QUIET, room=_LABELS)]
    for at in range(0, lane.stretch + 1, step):
        x = _x(at, lane)
        anchor = "end" if x > _RIGHT - 24 else "middle"
        body.append(svg.line(x, y, x, y + 4, 0.5))
        body.append(
            svg.text(x, y + 15, f"{at // size:,} {unit}" if at else "0", size=11, anchor=anchor, opacity=svg.QUIET)
        )
    return "".join(body)


def _step(stretch: int, unit: str) -> int:
    """The distance of the ticks of an axis: a round one, with at most nine ticks.

    >>> _step(70 * 60_000_000, "time") // 60_000_000, _step(130, "rows")
    (10, 20)
    """
    return next(step for step in _round_steps(unit) if stretch <= 8 * step)


def _round_steps(unit: str) -> Iterator[int]:
    decimal = (digit * 10**power for power in count() for digit in (1, 2, 5))
    if unit == "rows":
        yield from decimal
    yield from (step for step, _ in zip(decimal, range(18), strict=False))
    yield from (step * _size(name) for name in ("s", "min") for step in (1, 2, 5, 10, 15, 30))
    yield from (step * _size("h") for step in (1, 2, 3, 6, 12))
    yield from (digit * 10**power * _size("d") for power in count() for digit in (1, 2, 5))


def _size(name: str) -> int:
    return durations.unit_microseconds(name)


def amount(ticks: int, unit: str) -> str:
    """A duration or a number of rows.

    >>> amount(90_000_000, "time"), amount(7, "rows")
    ('90 s', '7 rows')
    """
    if unit == "rows":
        return f"{ticks} rows"
    return durations.short(ticks) if ticks >= 0 else f"-{durations.short(-ticks)}"


def _interval(start: int, end: int, window: Window) -> str:
    covered = f"[{amount(start, window.unit)}, {amount(end, window.unit)})"
    if not window.delay:
        return covered
    label = f"[{amount(start + window.delay, window.unit)}, {amount(end + window.delay, window.unit)})"
    return f"window {label} covers {covered}"


def _measures(query: Query) -> str:
    return ", ".join(ex.to_sql(measure.expression) for measure in query.measures)


def _every(window: Window) -> str:
    moved = [f"{name} {amount(size, window.unit)}" for name in ("offset", "delay") if (size := getattr(window, name))]
    return ", ".join([f"{amount(window.range, window.unit)} every {amount(window.slide, window.unit)}", *moved])


def _whole(query: Query) -> str:
    where = "" if query.where is None else f", where {ex.to_sql(query.where)}"
    return f"{query.id}: {_measures(query)}, {query.window}{where}"


def _x(ticks: int, lane: Lane) -> float:
    """Where an instant is, in whole hundredths of a pixel: what begins where another ends meets it exactly."""
    inside = min(max(ticks, 0), lane.stretch)
    return _LEFT + (200 * inside * (_RIGHT - _LEFT) + lane.stretch) // (2 * lane.stretch) / 100
