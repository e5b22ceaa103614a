"""Checkpoint: what `weft run --stream` leaves beside Spark's own files, so that it goes on with what it began with.

    CHECKPOINT/_weft_stream.json    the plan, the events' schema, the number of shards, and what goes out where

A plan depends on rates that were measured at the start, and a folder's schema on the files that were there: a stream
that is started again takes both from here. What would make the state another one is refused before anything starts.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import weft
from weft.cli.events import is_local, local
from weft.errors import BadRequest, RunFailed

STREAM = "_weft_stream.json"
FORMAT = 1
_SAME = {
    "to": "--to", "to_format": "--to-format", "output": "--output", "emit": "--emit", "empty": "--empty",
    "time": "--time", "idle": "--idle",
}  # fmt: skip


@dataclass(frozen=True)
class Begun:
    """How a stream was begun."""

    plan: str
    schema: str | None
    """Of the events, as JSON; None where the source has its own."""
    shards: int
    to: str
    to_format: str
    output: str
    emit: str
    empty: bool
    time: str | None
    idle: str | None
    planned: Mapping[str, Any]
    """The planner, its options, rate and keys, where they were given."""
    registry: str | None = None
    """The registry that the stream follows, whose queries may be others every time."""

    def write(self, checkpoint: str) -> None:
        """Leave it in the checkpoint, whole or not at all."""
        folder = local(checkpoint)
        folder.mkdir(parents=True, exist_ok=True)
        scratch = folder / f"{STREAM}.new"
        scratch.write_text(json.dumps({"format": FORMAT, **asdict(self)}), encoding="utf-8")
        os.replace(scratch, folder / STREAM)


def check(checkpoint: str | None, others: Mapping[str, str]) -> str:
    """The checkpoint's folder, if it may be one: `others` are folders that it must not hold, by option."""
    if checkpoint is None:
        raise BadRequest(
            "a stream that is stopped goes on from its checkpoint, so it needs one",
            field="--checkpoint",
            remedy="Give a folder, empty or the one that the stream was begun with",
        )
    if not is_local(checkpoint):
        return checkpoint
    folder = local(checkpoint).absolute()
    if folder.exists() and not folder.is_dir():
        raise BadRequest(f"'{checkpoint}' is no folder", field="--checkpoint", remedy="Give another one")
    for option, other in others.items():
        if is_local(other):
            theirs = local(other).absolute()
            if folder == theirs or folder in theirs.parents or theirs in folder.parents:
                raise BadRequest(
                    f"'{checkpoint}' and {option} '{other}' hold each other",
                    field="--checkpoint",
                    remedy="Give another folder",
                )
    if folder.is_dir() and any(folder.iterdir()) and not (folder / "metadata").exists() and not _file(folder).exists():
        raise BadRequest(f"'{checkpoint}' holds something else", field="--checkpoint", remedy="Give an empty folder")
    if not os.access(_existing(folder), os.W_OK):
        raise BadRequest(f"'{checkpoint}' cannot be written to", field="--checkpoint", remedy="Give another folder")
    return checkpoint


def _existing(folder: Path) -> Path:
    return next(place for place in (folder, *folder.parents) if place.exists())


def _file(folder: Path) -> Path:
    return folder / STREAM


def begun(checkpoint: str) -> Begun | None:
    """How the stream of a checkpoint was begun; None where it was not, or not by `weft run`."""
    if not is_local(checkpoint) or not has_run(checkpoint) or not _file(local(checkpoint)).is_file():
        return None
    try:
        told = json.loads(_file(local(checkpoint)).read_text(encoding="utf-8"))
        version = told.pop("format")
        if version == FORMAT:
            return Begun(**told)
        rule = f"'{STREAM}' has format {version}, and this Weft reads format {FORMAT}"
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        rule = f"'{STREAM}' cannot be read ({error})"
    raise BadRequest(rule, field="--checkpoint", remedy="Start with a new checkpoint folder, and a new --to")


def has_run(checkpoint: str) -> bool:
    """Whether a micro-batch has been begun: Spark has written down which events are in it."""
    offsets = local(checkpoint) / "offsets" if is_local(checkpoint) else None
    return offsets is None or (offsets.is_dir() and any(file.name.isdigit() for file in offsets.iterdir()))


def sound(checkpoint: str) -> None:
    """Refuse to start where Spark's own log of micro-batches is damaged, which it would tell as a parser's error."""
    if not is_local(checkpoint):
        return
    folder = local(checkpoint)
    for kind in ("commits", "offsets"):
        last = _last(folder / kind)
        if last is None or _whole(folder / kind / str(last)):
            continue
        if kind == "commits":
            remedy = f"Remove {_files(folder / kind / str(last))}: micro-batch {last} is then done again"
        else:
            remedy = "Start with a copy of the checkpoint, or with a new one and a new --to"
        raise RunFailed(f"'{kind}/{last}' is damaged", field="--checkpoint", remedy=remedy)


def _last(log: Path) -> int | None:
    return (
        max((int(file.name) for file in log.iterdir() if file.name.isdigit()), default=None) if log.is_dir() else None
    )


def _files(file: Path) -> str:
    """A file of Spark's log and its checksum, without which the file cannot be written again."""
    sum_ = file.with_name(f".{file.name}.crc")
    return f"{file} and {sum_}" if sum_.exists() else str(file)


def _whole(file: Path) -> bool:
    """Whether a file of Spark's log is a version and lines of JSON; a dash stands for a source without an offset."""
    try:
        version, *lines = file.read_text(encoding="utf-8").splitlines()
        for line in lines:
            if line != "-":
                json.loads(line)
    except (OSError, ValueError):
        return False
    return version.startswith("v") and bool(lines)


def unreadable(error: Exception, checkpoint: str) -> RunFailed | None:
    """What to say where Spark could not load the state that a checkpoint has; None of other failures.

    There is no way back by one micro-batch: a file sink that has a micro-batch's answers does not have them made again,
    and so the state is not made again either.
    """
    if "CANNOT_LOAD_STATE_STORE" not in str(error):
        return None
    last = _last(local(checkpoint) / "commits") if is_local(checkpoint) else None
    return RunFailed(
        f"the state after micro-batch {last} cannot be read" if last is not None else "its state cannot be read",
        field="--checkpoint",
        remedy=f"Start with a copy of '{checkpoint}', or with a new checkpoint folder and a new --to",
    )


def refuse(before: Begun, now: Mapping[str, Any], workload: weft.Workload, given: weft.Plan | None) -> weft.Plan:
    """The plan to go on with, if the stream asked for is the one that was begun."""
    plan = weft.Plan.from_json(before.plan)
    if before.registry != now["registry"]:
        raise BadRequest(
            f"it was begun with {_following(before.registry)}, and not with {_following(now['registry'])}",
            field="--checkpoint",
            remedy="Give that, or start with a new checkpoint folder and a new --to",
        )
    if before.registry is None and plan.workload.fingerprint() != workload.fingerprint():
        raise BadRequest(
            f"it was begun with other queries ({plan.workload!r}, {plan.workload.fingerprint()}) than these "
            f"({workload!r}, {workload.fingerprint()})",
            field="--checkpoint",
            remedy="Start with a new checkpoint folder and a new --to, or with the queries that it was begun with",
        )
    for name, option in _SAME.items():
        was, wanted = getattr(before, name), now[name]
        if was != wanted:
            raise BadRequest(
                f"the stream of this checkpoint was begun with {option} {was}, and not with {wanted}",
                field=option,
                remedy="Leave it as it was, or start with a new checkpoint folder",
            )
    if before.registry is not None:
        return plan
    if given not in (None, plan) or {**before.planned} != now["planned"]:
        raise BadRequest(
            "the stream of this checkpoint was begun with another plan",
            field="--plan" if given is not None else "--checkpoint",
            remedy="Give the planner's options, --rate, --keys and --plan as they were, or a new checkpoint folder",
        )
    return plan


def _following(registry: str | None) -> str:
    return "a file of queries" if registry is None else f"the registry '{registry}'"
