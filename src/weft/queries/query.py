"""Query: one sliding-window aggregate query, frozen and checked when it is made.

    weft.Query("high", "max(price) AS high", weft.Window("10 min", "2 min"), where="price > 100", group_by="symbol")

Strings are parsed at once into `expressions`; what cannot be held there is refused with the query and the field.
A query's answer has the columns in `columns` where the query names them (as a SELECT list does), and otherwise the
window, the group keys and the measures, in that order. A query may have an owner: who asks, and is told what sharing
saves. That is no part of what it asks: two queries that differ in their owners are the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from weft.errors import BadRequest
from weft.queries import expressions as ex
from weft.queries.window import Window

AGGREGATES = ("count", "sum", "min", "max", "avg", "var_pop", "var_samp", "stddev_pop", "stddev_samp")
AGGREGATE_SYNONYMS = {"mean": "avg", "stddev": "stddev_samp", "std": "stddev_samp", "variance": "var_samp"}


@dataclass(frozen=True, slots=True)
class Measure:
    """A named column of an answer: an expression over aggregates, group keys and the window."""

    name: str
    expression: ex.Expression


@dataclass(frozen=True, slots=True)
class Query:
    """One sliding-window aggregate query over one stream.

    `measures`, `where`, `group_by` and `having` may be given as text; `time` names the event-time column and
    `source` the stream, where the query says so.
    """

    id: str
    measures: tuple[Measure, ...]
    window: Window
    where: ex.Expression | None = None
    group_by: tuple[ex.Expression, ...] = ()
    having: ex.Expression | None = None
    time: ex.Column | None = None
    source: str | None = None
    columns: tuple[Measure, ...] = ()
    assumed: tuple[str, ...] = field(default=(), compare=False)
    """Names that GROUP BY takes from the SELECT list: Spark would take a column of the stream that is called so."""
    owner: str | None = field(default=None, compare=False)

    def __init__(
        self,
        id: str,
        measures: str | Measure | Mapping[str, str] | Iterable[str | Measure],
        window: Window,
        where: str | ex.Expression | None = None,
        group_by: str | Iterable[str | ex.Expression] = (),
        having: str | ex.Expression | None = None,
        time: str | ex.Column | None = None,
        source: str | None = None,
        columns: Iterable[str | Measure] = (),
        assumed: Iterable[str] = (),
        owner: str | None = None,
    ) -> None:
        from weft.queries import parse  # sqlglot is only needed once there is text to read

        def read(place: str, value: str | ex.Expression) -> ex.Expression:
            try:
                if not isinstance(value, (str, *ex.Expression.__args__)):
                    raise BadRequest(f"{value!r} is no expression", remedy='Give it as text, as "price > 100"')
                return parse.expression(value) if isinstance(value, str) else value
            except BadRequest as error:
                raise error.within(id, place) from None

        def name(place: str, value: str | Measure) -> Measure:
            try:
                return parse.measure(value) if isinstance(value, str) else value
            except BadRequest as error:
                raise error.within(id, place) from None

        if isinstance(measures, Mapping):
            measures = [Measure(alias, read("measures", text)) for alias, text in measures.items()]
        keys: Iterable[str | ex.Expression] = (
            [group_by] if isinstance(group_by, (str, *ex.Expression.__args__)) else group_by  # type: ignore[list-item]  # one key
        )
        for place, several in (("measures", measures), ("group_by", keys), ("columns", columns)):
            if not isinstance(several, (Measure, Iterable)):
                raise BadRequest(
                    f"{several!r} is no text", query=id, field=place, remedy='Give texts, as ["max(price)"]'
                )
        asked = [name("measures", m) for m in ([measures] if isinstance(measures, (str, Measure)) else measures)]
        listed = [name("columns", column) for column in columns]
        if listed:  # one query, one spelling: the measures come in the order of the columns
            asked.sort(key=lambda measure: listed.index(measure) if measure in listed else len(listed))
        values = {
            "id": id,
            "measures": tuple(asked),
            "window": window,
            "where": None if where is None else read("where", where),
            "group_by": tuple(dict.fromkeys(read("group_by", key) for key in keys)),
            "having": None if having is None else read("having", having),
            "time": None if time is None else read("time", time),
            "source": source,
            "columns": tuple(listed),
            "assumed": tuple(assumed),
            "owner": owner,
        }
        for name_, value in values.items():
            object.__setattr__(self, name_, value)
        _check(self)

    @property
    def output(self) -> tuple[Measure, ...]:
        """The columns of the query's answer, in order."""
        keys = tuple(Measure(ex.label(key), key) for key in self.group_by)
        return self.columns or (Measure("window", ex.WINDOW), *keys, *self.measures)

    @property
    def aggregates(self) -> tuple[ex.Aggregate, ...]:
        """Every different aggregate that the answer or HAVING needs, in order of first use."""
        needed = [measure.expression for measure in self.measures]
        if self.having is not None:
            needed.append(self.having)
        return tuple(dict.fromkeys(node for expression in needed for node in ex.aggregates(expression)))

    def to_sql(self) -> str:
        """The query as text that `Workload.from_sql` reads back to the same query."""
        from weft.queries import render

        return render.query_sql(self)


def moved(query: Query, id: str, window: Window, owner: str | None = None) -> Query:
    """The same query under another name over another window, of somebody, without checking the rest of it again."""
    copy = object.__new__(Query)
    for slot in Query.__slots__:
        object.__setattr__(copy, slot, getattr(query, slot))
    object.__setattr__(copy, "id", id)
    object.__setattr__(copy, "window", window)
    object.__setattr__(copy, "owner", owner)
    return copy


def _check(query: Query) -> None:
    """Refuse what cannot be a query, naming the query, the field and the remedy."""

    def refuse(field: str, rule: str, remedy: str) -> None:
        raise BadRequest(rule, query=query.id or "?", field=field, remedy=remedy)

    if not isinstance(query.id, str) or not query.id.strip():
        refuse("id", "must be a name", "Give the query a name of its own")
    if query.owner is not None and (not isinstance(query.owner, str) or not query.owner.strip()):
        refuse("owner", "must be a name", "Name a team or a person, or leave it out")
    if not isinstance(query.window, Window):
        refuse("window", f"{query.window!r} is no window", 'Give weft.Window("10 min", "2 min")')
    if not query.measures:
        refuse("measures", "there is none", "Ask for at least one aggregate, as count(*)")
    for measure in query.measures:
        if not any(True for _ in ex.aggregates(measure.expression)):
            refuse("measures", f"'{measure.name}' has no aggregate", f"Use one of {', '.join(AGGREGATES)}")
    for key in query.group_by:
        if any(isinstance(node, (ex.Aggregate, ex.WindowField)) for node in ex.walk(key)):
            refuse("group_by", "a group key cannot hold an aggregate or the window", "Group by columns of the stream")
    if query.time is not None and not isinstance(query.time, ex.Column):
        refuse("time", f"'{ex.to_sql(query.time)}' is no column", "Name a timestamp column of the stream")
    if query.where is not None and any(isinstance(n, (ex.Aggregate, ex.WindowField)) for n in ex.walk(query.where)):
        refuse("where", "a filter on rows cannot hold an aggregate or the window", "Move it to HAVING")
    for place, expression in (*((m.name, m.expression) for m in query.output), ("having", query.having)):
        if expression is not None:
            _check_grouped(query, place, expression)
    names = [column.name.lower() for column in query.output]
    if "" in names:
        refuse("measures", "a column has an empty name", "Name it with AS")
    for name in names:
        if names.count(name) > 1:
            refuse("measures", f"two columns are called '{name}'", "Give one of them another name with AS")
    if query.columns:
        missing = [measure.name for measure in query.measures if measure not in query.columns]
        if missing:
            refuse("columns", f"measure '{missing[0]}' is not among them", "List every measure")
        for column in query.columns:
            if column not in query.measures and any(True for _ in ex.aggregates(column.expression)):
                refuse("columns", f"'{column.name}' has an aggregate but is no measure", "Add it to the measures")


def _check_grouped(query: Query, field: str, expression: ex.Expression) -> None:
    """Every column outside an aggregate must be a group key."""
    if expression in query.group_by:
        return
    match expression:
        case ex.Column(path):
            raise BadRequest(
                f"column '{'.'.join(path)}' is neither aggregated nor a group key",
                query=query.id,
                field=field,
                remedy="Add it to GROUP BY or put it into an aggregate",
            )
        case ex.Aggregate(function, argument):
            if argument is not None and any(
                isinstance(node, (ex.Aggregate, ex.WindowField)) for node in ex.walk(argument)
            ):
                raise BadRequest(
                    f"{function} cannot hold another aggregate or the window",
                    query=query.id,
                    field=field,
                    remedy="Aggregate columns of the stream",
                )
        case _:
            for child in ex.children(expression):
                _check_grouped(query, field, child)
