"""YAML: a workload as a list of queries, for people who would rather not write SQL.

    source: trades                      # for all queries; may be left out, as may time and owner
    time: ts
    owner: trading desk
    queries:
      - id: high
        measures: {high: max(price)}    # or "max(price) AS high", or a list of such texts
        window: {range: 10 min, slide: 2 min}       # offset and delay too; or {rows: 100, slide: 10}
        where: price > 100
        group_by: [symbol]
        having: max(price) > 3
      - sql: SELECT max(price) FROM trades [RANGE 1 H]

Every field is known or refused with its line, and every value has the type that it must have: what YAML would make
of `1:30` or `yes` never gets in. A query may have `source`, `time` and `owner` of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

import yaml

from weft.errors import BadRequest, nearest
from weft.queries import durations, sql
from weft.queries import expressions as ex
from weft.queries.query import Measure, Query
from weft.queries.window import Window
from weft.queries.workload import Workload

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DEEPEST = 10
_SHARED = ("source", "time", "owner")
_TOP = (*_SHARED, "queries")
_QUERY = ("id", "measures", "window", "where", "group_by", "having", "columns", *_SHARED)
_SQL = ("sql", "id", "owner")
_TIME_WINDOW = ("range", "slide", "offset", "delay")
_ROW_WINDOW = ("rows", "slide", "offset", "delay")

Fields = dict[str, yaml.Node]


def queries(text: str) -> list[Query]:
    """All queries of a YAML text, in order."""
    top = _mapping(_root(text), _TOP, "the workload")
    if "queries" not in top:
        raise BadRequest("there are no queries", field="queries", remedy="Write a list of them under queries:")
    entries = top["queries"]
    if not isinstance(entries, yaml.SequenceNode) or not entries.value:
        _refuse(entries, "queries", "a list of queries is expected", "Begin each with a dash: - id: high")
    shared = {field: _text(top[field], field) for field in _SHARED if field in top}
    return [_entry(node, number, shared) for number, node in enumerate(entries.value, 1)]


def _root(text: str) -> yaml.Node:
    try:
        depth = 0
        for event in yaml.parse(text, Loader=_LOADER):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            # An alias may stand for a list of aliases and so on: nine lines can say a billion things.
            if isinstance(event, yaml.AliasEvent):
                _refuse(event, "YAML", "aliases (*name) are not supported", "Write the value out")
            if depth > _DEEPEST:
                _refuse(event, "YAML", f"the text is nested deeper than {_DEEPEST} levels", "Flatten it")
        root = yaml.compose(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as error:
        _refuse(error, "YAML", f"this is no YAML: {error.problem or error.context}", "Check indentation and quotes")
    except yaml.YAMLError as error:
        raise BadRequest(f"this is no YAML ({error})", field="YAML", remedy="Save it as plain UTF-8 text") from None
    if root is None:
        raise BadRequest("the text is empty", field="YAML", remedy="Write a list of queries under queries:")
    return root


def _entry(node: yaml.Node, number: int, shared: Mapping[str, str]) -> Query:
    name, lines = f"q{number}", {}
    try:
        spelled_in_sql = isinstance(node, yaml.MappingNode) and any(key.value == "sql" for key, _ in node.value)
        fields = _mapping(node, _SQL if spelled_in_sql else _QUERY, "a query")
        lines = {field: value.start_mark.line + 1 for field, value in fields.items()}
        if "id" in fields:
            name = _text(fields["id"], "id")
        if spelled_in_sql:
            return _sql(fields, number, name if "id" in fields else None, shared)
        return _query(fields, name, shared)
    except BadRequest as error:
        if error.field and ", line " in error.field:
            raise error.within(name) from None
        line = lines.get(error.field or "", node.start_mark.line + 1)
        raise BadRequest(
            error.rule, query=error.query or name, field=f"{error.field or 'query'}, line {line}", remedy=error.remedy
        ) from None


def _query(fields: Fields, name: str, shared: Mapping[str, str]) -> Query:
    for field in ("measures", "window"):
        if field not in fields:
            raise BadRequest("it is missing", field=field, remedy=f"Add {field}: to the query")
    own = dict(shared) | {field: _text(fields[field], field) for field in _SHARED if field in fields}
    return Query(
        name,
        _measures(fields["measures"]),
        _window(fields["window"]),
        where=_text(fields["where"], "where") if "where" in fields else None,
        group_by=_texts(fields["group_by"], "group_by") if "group_by" in fields else (),
        having=_text(fields["having"], "having") if "having" in fields else None,
        columns=_texts(fields["columns"], "columns") if "columns" in fields else (),
        **own,
    )


def _sql(fields: Fields, number: int, name: str | None, shared: Mapping[str, str]) -> Query:
    read = sql.queries(_text(fields["sql"], "sql"), number)
    if len(read) != 1:
        _refuse(fields["sql"], "sql", f"one statement is expected, not {len(read)}", "Make an entry for each")
    query, source = read[0], shared.get("source")
    named = Query("time", "count(*)", Window("1 s"), time=shared.get("time")).time
    owner = _text(fields["owner"], "owner") if "owner" in fields else query.owner or shared.get("owner")
    if source is not None and query.source not in (None, source):
        _refuse(fields["sql"], "sql", f"it reads {query.source}, the workload {source}", "Read the same stream")
    kept = (query.measures, query.window, query.where, query.group_by, query.having)
    own = (query.time or named, query.source or source, query.columns)
    return Query(name or query.id, *kept, *own, owner=owner)


def _measures(node: yaml.Node) -> dict[str, str] | list[str]:
    if isinstance(node, yaml.MappingNode):
        return {name: _text(value, "measures") for name, value in _mapping(node, None, "measures").items()}
    return _texts(node, "measures")


def _window(node: yaml.Node) -> Window:
    by_rows = isinstance(node, yaml.MappingNode) and any(key.value == "rows" for key, _ in node.value)
    fields = _mapping(node, _ROW_WINDOW if by_rows else _TIME_WINDOW, "window")
    if by_rows:
        sizes = {field: _number(value, field) for field, value in fields.items()}
        rows = sizes.pop("rows")
        return Window.of(rows, sizes.pop("slide", rows), unit="rows", **sizes)
    if "range" not in fields:
        _refuse(node, "window", "the range is missing", "Write {range: 10 min, slide: 2 min}")
    spans = {field: _text(value, field) for field, value in fields.items()}
    try:
        return Window(**spans)
    except BadRequest as error:
        field = error.field or "range"
        return _refuse(fields.get(field, node), field, error.rule, error.remedy or "Mend it")


def _mapping(node: yaml.Node, allowed: Iterable[str] | None, what: str) -> Fields:
    if not isinstance(node, yaml.MappingNode):
        _refuse(node, what, "fields and values are expected", "Write them as field: value")
    fields: Fields = {}
    for key, value in node.value:
        name = _text(key, what)
        if allowed is not None and name not in allowed:
            near = nearest(name, allowed)
            known = f"Did you mean {near}" if near else f"There are {', '.join(allowed)}"
            _refuse(key, what, f"there is no field '{name[:60]}'", known)
        if name in fields:
            _refuse(key, what, f"'{name}' is there twice", "Leave one out")
        fields[name] = value
    return fields


def _text(node: yaml.Node, field: str) -> str:
    if not isinstance(node, yaml.ScalarNode) or node.tag != "tag:yaml.org,2002:str":
        kind = "nothing" if node.tag.endswith(":null") else node.tag.rpartition(":")[2]
        _refuse(node, field, f"text is expected, not {kind[:60]}", "Put it into quotes, or leave the field out")
    value: str = node.value
    return value


def _texts(node: yaml.Node, field: str) -> list[str]:
    if isinstance(node, yaml.SequenceNode):
        return [_text(value, field) for value in node.value]
    return [_text(node, field)]


def _number(node: yaml.Node, field: str) -> int:
    if not isinstance(node, yaml.ScalarNode) or not re.fullmatch(r"0|-?[1-9][0-9]{0,17}", node.value):
        _refuse(node, field, "a whole number of rows is expected", "Write {rows: 100, slide: 10}")
    return int(node.value)


def _refuse(at: Any, field: str, rule: str, remedy: str) -> NoReturn:
    mark = getattr(at, "start_mark", None) or getattr(at, "problem_mark", None) or getattr(at, "context_mark", None)
    place = f"{field}, line {mark.line + 1}" if mark is not None else field
    raise BadRequest(rule, field=place, remedy=remedy)


def text(workload: Workload) -> str:
    """A workload as YAML that `queries` reads back to the same queries."""
    everything = list(workload)
    shared = {}
    for field in _SHARED:
        values = {getattr(query, field) for query in everything}
        if len(values) == 1:
            shared[field] = values.pop()
    top: dict[str, Any] = {}
    if shared.get("source") is not None:
        top["source"] = shared["source"]
    if shared.get("time") is not None:
        top["time"] = ex.to_sql(shared["time"])
    if shared.get("owner") is not None:
        top["owner"] = shared["owner"]
    top["queries"] = [_plain(query, shared) for query in everything]
    said: str = yaml.safe_dump(top, sort_keys=False, allow_unicode=True, width=120)
    if re.search("[\\x85\\u2028\\u2029]", said):  # PyYAML folds these line breaks away unless they are escaped
        said = yaml.safe_dump(top, sort_keys=False, width=120)
    return said


def _plain(query: Query, shared: dict[str, Any]) -> dict[str, Any]:
    window, rows = query.window, query.window.unit == "rows"
    sizes = {"rows" if rows else "range": window.range, "slide": window.slide}
    sizes |= {field: size for field, size in (("offset", window.offset), ("delay", window.delay)) if size}
    plain: dict[str, Any] = {
        "id": query.id,
        "measures": {measure.name: ex.to_sql(measure.expression) for measure in query.measures},
        "window": {field: size if rows else durations.text(size) for field, size in sizes.items()},
    }
    if query.where is not None:
        plain["where"] = ex.to_sql(query.where)
    if query.group_by:
        plain["group_by"] = [ex.to_sql(key) for key in query.group_by]
    if query.having is not None:
        plain["having"] = ex.to_sql(query.having)
    if query.columns:
        plain["columns"] = [_said(column) for column in query.columns]
    if query.source is not None and "source" not in shared:
        plain["source"] = query.source
    if query.time is not None and "time" not in shared:
        plain["time"] = ex.to_sql(query.time)
    if query.owner is not None and "owner" not in shared:
        plain["owner"] = query.owner
    return plain


def _said(column: Measure) -> str:
    said = ex.to_sql(column.expression)
    return said if column.name == ex.label(column.expression) else f"{said} AS {ex.plain(column.name)}"
