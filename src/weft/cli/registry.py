"""weft register, remove and list: the query set in a folder, which a running stream follows."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

import weft
from weft.cli import console
from weft.cli.view import shown
from weft.errors import BadRequest
from weft.registry.versions import Line


@dataclass(frozen=True)
class Request:
    """The options of `weft register`."""

    path: Path
    queries: Path
    owner: str | None
    reason: str
    rate: float | None
    keys: int | dict[str, int] | None
    types: dict[str, str]


def register(asked: Request) -> None:
    """Weave in the queries of a file: new ones are added, others altered where they are defined in another way."""
    workload = weft.Workload.from_file(asked.queries)
    registry = weft.Registry(asked.path, _stats(asked, opened(asked.path)))
    lines = registry.put(workload, owner=asked.owner, reason=asked.reason)
    _say(lines)
    if not lines:
        console.say(f"Nothing to do: all of it is in {asked.path} already.")


def remove(path: Path, ids: list[str], reason: str) -> None:
    """Take queries out."""
    _say(_there(path).remove(ids, reason=reason))


def list_(path: Path, history: bool, as_json: bool) -> None:
    """The queries that there are, or what has become of them."""
    registry = _there(path)
    if history:
        lines = registry.history()
        if as_json:
            said = [{**asdict(line), "cost_before": str(line.cost_before), "cost": str(line.cost)} for line in lines]
            console.say(json.dumps(said, indent=1))
        else:
            _say(lines)
        return
    found = registry.list()
    if as_json:
        told = [{"id": e.query.id, "owner": e.query.owner, "sql": shown(e.query), "restart": e.restart} for e in found]
        console.say(json.dumps({"version": registry.version, "queries": told}, indent=1))
        return
    console.say(f"version {registry.version}, {len(found)} {'query' if len(found) == 1 else 'queries'}")
    if found:
        rows: list[tuple[str, ...]] = [(*_label(e.query), shown(e.query), e.restart or "") for e in found]
        console.grid(rows, ("query", "owner", "asks", "waits for a restart because"))


def _label(query: weft.Query) -> tuple[str, str]:
    return query.id, query.owner or ""


def _there(path: Path) -> weft.Registry:
    if not path.is_dir():
        raise BadRequest(f"there is no folder '{path}'", field="PATH", remedy="Begin one with weft register")
    return opened(path)


def opened(path: Path) -> weft.Registry:
    """The registry in a folder; what is broken in it is told."""
    registry = weft.Registry(path)
    for file, why in registry.broken.items():
        console.note(f"{file}: {why}. The version before it counts. Change the queries again, which makes another.")
    return registry


def _stats(asked: Request, registry: weft.Registry) -> weft.Stats:
    """What is known of the stream: what is given now, and else what was."""
    known = registry.stats
    return weft.Stats(
        known.rate if asked.rate is None else asked.rate,
        known.known_keys if asked.keys is None else asked.keys,
        {**known.types, **asked.types},
        known.filters,
    )


def _say(lines: Iterable[Line]) -> None:
    for line in lines:
        console.say(str(line))
