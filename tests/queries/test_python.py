"""Queries, windows and workloads made in Python of wrong things: one message with the field and the remedy."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

import weft

HOUR = weft.Window("1 h")


def query(measures: Any = "count(*)", window: Any = HOUR, **more: Any) -> weft.Query:
    return weft.Query(more.pop("id", "mine"), measures, window, **more)


def windows(ranges: Any = (1, 2), slides: Any = 1, **more: Any) -> weft.Workload:
    return weft.Workload.windows(ranges, slides, **more)


WRONG: dict[str, tuple[Any, str, str]] = {
    "measures of a number": (lambda: query(3), "measures", "3 is no text"),
    "measures of nothing": (lambda: query(None), "measures", "None is no text"),
    "no measures": (lambda: query([]), "measures", "there is none"),
    "a measure of a number": (lambda: query({"a": 3}), "measures", "3 is no expression"),
    "keys of nothing": (lambda: query(group_by=None), "group_by", "None is no text"),
    "a key of a number": (lambda: query(group_by=[3]), "group_by", "3 is no expression"),
    "a filter of a number": (lambda: query(where=3), "where", "3 is no expression"),
    "a time that is no column": (lambda: query(time="a + b"), "time", "no column"),
    "columns of a number": (lambda: query(columns=3), "columns", "3 is no text"),
    "a window of text": (lambda: query(window="1 h"), "window", "'1 h' is no window"),
    "a name of nothing": (lambda: query(id=None), "id", "must be a name"),
    "a size of a number": (lambda: weft.Window(60), "range", "60 is no duration"),  # type: ignore[arg-type]
    "a size below zero": (lambda: weft.Window(timedelta(seconds=-1)), "range", "must be positive"),
    "a slide of zero": (lambda: weft.Window("1 h", "0 s"), "slide", "must be positive"),
    "months": (lambda: weft.Window("1 month"), "range", "no fixed length"),
    "half a row": (lambda: weft.Window.rows(1.5), "range", "1.5 is no whole number"),  # type: ignore[arg-type]
    "no rows": (lambda: weft.Window.rows(0), "range", "must be positive"),
    "a workload of text": (lambda: weft.Workload("SELECT 1"), "workload", "is no list of queries"),  # type: ignore[arg-type]
    "a workload of texts": (lambda: weft.Workload(["SELECT 1"]), "workload", "is no query"),  # type: ignore[list-item]
    "a workload of nothing": (lambda: weft.Workload(None), "workload", "is no list of queries"),  # type: ignore[arg-type]
    "a file of nothing": (lambda: weft.Workload.from_file(None), "file", "is no path"),  # type: ignore[arg-type]
    "SQL of bytes": (lambda: weft.Workload.from_sql(b"SELECT"), "SQL", "is no text"),  # type: ignore[arg-type]
    "no windows": (lambda: windows([]), "range", "the array is empty"),
    "a slide of zero among many": (lambda: windows([5, 6], [5, 0]), "slide", "element 1 is 0"),
    "windows of months": (lambda: windows(unit="month"), "unit", "no fixed length"),
    "windows of halves": (lambda: windows([1.5]), "range", "no whole number"),
    "arrays of different lengths": (lambda: windows([1, 2, 3], [1, 2]), "windows", "different lengths"),
    "too few names": (lambda: windows(ids=["a"]), "ids", "1 names for 2 windows"),
}


@pytest.mark.parametrize(("make", "field", "rule"), WRONG.values(), ids=WRONG)
def test_refused(make: Any, field: str, rule: str) -> None:
    with pytest.raises(weft.BadRequest) as caught:
        make()
    assert caught.value.field == field
    assert rule in caught.value.rule
    assert caught.value.remedy
