"""Workload: the queries that a team runs over one stream, as one value.

A workload may hold a million windows, so the windows are kept as arrays and the rest of a query (measures, filter,
keys) once per different one, its *prototype*. `workload[i]` puts a `Query` together when somebody asks for it. Names
are part of a workload; owners are a note on it, which neither equality nor the fingerprint minds.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from weft.errors import BadRequest, nearest, shown
from weft.queries import durations
from weft.queries import expressions as ex
from weft.queries.query import Measure, Query, moved
from weft.queries.window import LONGEST, Window

Sizes = npt.NDArray[np.int64]
_ANY_WINDOW = Window.of(1, 1)


class Workload(Sequence[Query]):
    """A fixed set of queries with different names over one stream."""

    prototypes: tuple[Query, ...]
    """The different queries, windows and names aside."""
    prototype: Sizes
    """Which prototype each query is made from."""
    ranges: Sizes
    slides: Sizes
    offsets: Sizes
    delays: Sizes
    counts_rows: npt.NDArray[np.bool_]
    """Which windows count rows instead of microseconds."""

    def __init__(self, queries: Iterable[Query]):
        if isinstance(queries, str) or not isinstance(queries, Iterable):
            raise BadRequest(
                f"{shown(queries)} is no list of queries",
                field="workload",
                remedy="Give weft.Query objects, or text to Workload.from_sql",
            )
        queries = list(queries)
        for query in queries:
            if not isinstance(query, Query):
                raise BadRequest(f"{shown(query)} is no query", field="workload", remedy="Give weft.Query objects")
        known: dict[tuple[Query, tuple[str, ...]], int] = {}
        prototype = [known.setdefault((moved(query, "", _ANY_WINDOW), query.assumed), len(known)) for query in queries]
        windows = [query.window for query in queries]
        self._fill(
            tuple(query for query, _ in known),
            np.array(prototype, np.int64),
            {field: [getattr(window, field) for window in windows] for field in ("range", "slide", "offset", "delay")},
            [window.unit == "rows" for window in windows],
            tuple(query.id for query in queries),
            tuple(query.owner for query in queries),
        )

    def _fill(
        self,
        prototypes: tuple[Query, ...],
        prototype: Sizes,
        sizes: Mapping[str, npt.ArrayLike],
        rows: npt.ArrayLike,
        ids: tuple[str, ...] | None,
        owners: tuple[str | None, ...] | None,
    ) -> None:
        self.prototypes, self.prototype = prototypes, np.ascontiguousarray(prototype, np.int64)
        self.ranges, self.slides, self.offsets, self.delays = (
            np.ascontiguousarray(sizes[field], dtype=np.int64) for field in ("range", "slide", "offset", "delay")
        )
        self.counts_rows = np.ascontiguousarray(rows, dtype=bool)
        self._ids = ids
        self._owners = owners if owners and any(owner is not None for owner in owners) else None
        for array in (self.prototype, self.ranges, self.slides, self.offsets, self.delays, self.counts_rows):
            array.setflags(write=False)
        self._positions: dict[str, int] | None = None
        if ids is not None:
            self._check_names(ids)
        sources = sorted({query.source for query in prototypes if query.source is not None})
        if len({source.lower() for source in sources}) > 1:
            raise BadRequest(
                f"the queries read {len(sources)} streams ({', '.join(sources[:5])}), a workload reads one",
                field="FROM",
                remedy="Make one workload for each stream",
            )

    @staticmethod
    def _check_names(ids: Sequence[str]) -> None:
        seen: set[str] = set()
        for id_ in ids:
            if id_ in seen:
                raise BadRequest("two queries have this name", query=id_, field="id", remedy="Rename one of them")
            seen.add(id_)

    @classmethod
    def windows(
        cls,
        ranges: npt.ArrayLike,
        slides: npt.ArrayLike,
        *,
        offsets: npt.ArrayLike = 0,
        delays: npt.ArrayLike = 0,
        unit: str = "seconds",
        measures: str | Measure | Mapping[str, str] | Iterable[str | Measure] = "count(*)",
        where: str | ex.Expression | None = None,
        group_by: str | Iterable[str | ex.Expression] = (),
        having: str | ex.Expression | None = None,
        time: str | ex.Column | None = None,
        ids: Iterable[str] | None = None,
        owners: Iterable[str | None] | None = None,
    ) -> Workload:
        """One query per element of the arrays, all asking for the same measures.

        `unit` is that of the arrays: a unit of time, or `"rows"`.
        """
        try:
            scale = 1 if unit == "rows" else durations.unit_microseconds(unit)
        except BadRequest as error:
            raise error.within(field="unit") from None
        given = {"range": ranges, "slide": slides, "offset": offsets, "delay": delays}
        arrays = {}
        for field, values in given.items():
            array = np.asarray(values)
            if not array.size:
                raise BadRequest("the array is empty", field=field, remedy="Give at least one window")
            if not np.issubdtype(array.dtype, np.integer):
                raise BadRequest(f"{array.dtype} is no whole number", field=field, remedy="Give an array of integers")
            arrays[field] = array
        try:
            broad = np.broadcast_arrays(*arrays.values())
        except ValueError:
            shapes = ", ".join(f"{field} {array.shape}" for field, array in arrays.items())
            raise BadRequest(
                f"the arrays have different lengths ({shapes})",
                field="windows",
                remedy="Give one length to all, or one number instead of an array",
            ) from None
        sizes = {field: array.reshape(-1) for field, array in zip(given, broad, strict=True)}
        for field, array in sizes.items():
            fewest = 1 if field in ("range", "slide") else 0 if field == "delay" else -LONGEST // scale
            bad = np.flatnonzero((array < fewest) | (array >= LONGEST // scale))
            if len(bad):
                rule = f"must be at least {fewest}" if array[bad[0]] < fewest else "does not fit 64-bit microseconds"
                raise BadRequest(
                    f"element {bad[0]} is {array[bad[0]]}: {rule}", field=field, remedy="Leave it out or mend it"
                )
        names = None if ids is None else tuple(ids)
        who = None if owners is None else tuple(owners)
        labels: tuple[str | None, ...] | None
        for field, labels in (("ids", names), ("owners", who)):
            if labels is not None and len(labels) != len(sizes["range"]):
                rule = f"{len(labels)} names for {len(sizes['range'])} windows"
                raise BadRequest(rule, field=field, remedy=f"Give a name for each, or leave {field} out")
        for owner in set(who or ()):
            Query("windows", "count(*)", _ANY_WINDOW, owner=owner)  # checks the name
        prototype = moved(Query("windows", measures, _ANY_WINDOW, where, group_by, having, time), "", _ANY_WINDOW)
        count = len(sizes["range"])
        return cls.of(
            (prototype,),
            np.zeros(count),
            {field: array.astype(np.int64) * scale for field, array in sizes.items()},
            np.full(count, unit == "rows"),
            names,
            who,
        )

    @classmethod
    def of(
        cls,
        prototypes: tuple[Query, ...],
        prototype: npt.ArrayLike,
        sizes: Mapping[str, npt.ArrayLike],
        counts_rows: npt.ArrayLike,
        ids: Iterable[str] | None,
        owners: Iterable[str | None] | None = None,
    ) -> Workload:
        """A workload from its parts, as they stand in a saved plan; the windows have been checked."""
        workload = cls.__new__(cls)
        numbers = np.asarray(prototype, np.int64)
        names, who = None if ids is None else tuple(ids), None if owners is None else tuple(owners)
        workload._fill(prototypes, numbers, sizes, counts_rows, names, who)
        return workload

    @property
    def unnamed(self) -> bool:
        """Whether the queries have no names of their own, as windows given in arrays."""
        return self._ids is None

    @classmethod
    def from_sql(cls, text: str) -> Workload:
        """Read SQL: Spark's `window()`, the papers' `[RANGE 10 MIN SLIDE 2 MIN]`, Flink's `HOP`, one or many."""
        from weft.queries import sql

        return cls(sql.queries(text))

    @classmethod
    def from_yaml(cls, text: str) -> Workload:
        """Read YAML: a list of queries under `queries:`."""
        from weft.queries import yaml_form

        return cls(yaml_form.queries(text))

    @classmethod
    def from_file(cls, path: str | Path) -> Workload:
        """Read `queries.sql` or `queries.yaml`."""
        if not isinstance(path, (str, Path)):
            raise BadRequest(f"{path!r} is no path", field="file", remedy='Give one, as "queries.sql"')
        path = Path(path)
        readers = {".sql": cls.from_sql, ".yaml": cls.from_yaml, ".yml": cls.from_yaml}
        if path.suffix.lower() not in readers:
            raise BadRequest(f"'{path}' is neither .sql nor .yaml", field="file", remedy="Name it after what it holds")
        try:
            text = path.read_text(encoding="utf-8-sig")
        except FileNotFoundError:
            raise BadRequest(f"there is no file '{path}'", field="file", remedy="Check the path") from None
        except (OSError, UnicodeDecodeError) as error:
            raise BadRequest(f"'{path}' cannot be read ({error})", field="file", remedy="Save it as UTF-8") from None
        return readers[path.suffix.lower()](text)

    def to_sql(self) -> str:
        """All queries as text that `from_sql` reads back to the same workload."""
        from weft.queries import render

        return render.workload_sql(self)

    def to_yaml(self) -> str:
        """All queries as YAML that `from_yaml` reads back to the same workload."""
        from weft.queries import yaml_form

        return yaml_form.text(self)

    def __len__(self) -> int:
        return len(self.ranges)

    def id(self, position: int) -> str:
        """The name of the query at a position: its own, or `q1`, `q2`, ... for windows given as arrays."""
        return self._ids[position] if self._ids is not None else f"q{position + 1}"

    @property
    def ids(self) -> tuple[str, ...]:
        """The names of all queries, in order."""
        return tuple(self.id(position) for position in range(len(self)))

    def owner(self, position: int) -> str | None:
        """Who owns the query at a position, where that is known."""
        return None if self._owners is None else self._owners[position]

    @property
    def owners(self) -> tuple[str | None, ...] | None:
        """Who owns the queries, in order; None where no query has an owner."""
        return self._owners

    def position(self, id_: str) -> int:
        """Where the query of this name is."""
        if self._positions is None:
            self._positions = {name: position for position, name in enumerate(self.ids)}
        try:
            return self._positions[id_]
        except KeyError:
            near = nearest(id_, self._positions)
            known = f"Did you mean '{near}'" if near else f"There are {', '.join(list(self._positions)[:5])}"
            raise BadRequest("there is no query of this name", query=id_, remedy=known) from None

    def window(self, position: int) -> Window:
        """The window of the query at a position."""
        return Window.of(
            int(self.ranges[position]),
            int(self.slides[position]),
            int(self.offsets[position]),
            int(self.delays[position]),
            "rows" if self.counts_rows[position] else "time",
        )

    def __getitem__(self, key: int | str) -> Query:  # type: ignore[override]  # a workload is not sliced
        position = self.position(key) if isinstance(key, str) else range(len(self))[key]
        prototype = self.prototypes[self.prototype[position]]
        return moved(prototype, self.id(position), self.window(position), self.owner(position))

    def __iter__(self) -> Iterator[Query]:
        return (self[position] for position in range(len(self)))

    def _parts(self) -> tuple[object, ...]:
        arrays = (self.prototype, self.ranges, self.slides, self.offsets, self.delays, self.counts_rows)
        return (self.prototypes, self._ids, *(array.tobytes() for array in arrays))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Workload) and self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash(self._parts())

    @property
    def time(self) -> ex.Column | None:
        """The event-time column, where the queries that name one name the same."""
        times = {query.time for query in self.prototypes if query.time is not None}
        return next(iter(times)) if len(times) == 1 else None

    def fingerprint(self) -> str:
        """Twelve letters that two workloads share only if their queries are the same."""
        digest = hashlib.sha256()
        for part in self._parts():
            digest.update(part if isinstance(part, bytes) else repr(part).encode())
        return digest.hexdigest()[:12]

    def __repr__(self) -> str:
        few = ", ".join(self.id(position) for position in range(min(3, len(self))))
        return f"Workload({len(self)} queries: {few}{', ...' if len(self) > 3 else ''})"
