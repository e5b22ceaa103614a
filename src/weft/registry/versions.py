"""Versions: the files of a registry. Each holds a whole query set, with its plan, and what was changed to come to it.

    PATH/versions/00000007.json     a line that says what was changed, when and why; then the plan, or null for no query
    PATH/stream.json                what the stream makes that was last started on it (`grain.py`)

A version is written beside its place and linked there, which fails where there is one of that number: so a file is
whole or it is not there, and of two writers that go on from the same version only one gets the next number. Nothing is
ever changed in place, and a file that is damaged is passed over: the newest sound version is the one that counts.
"""

from __future__ import annotations

import json
import os
import re
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from weft.errors import BadRequest, RunFailed
from weft.planners.curve import Curve
from weft.plans.codec import decode, encode
from weft.plans.plan import Plan
from weft.queries import expressions as ex
from weft.registry.grain import Grain
from weft.registry.places import Places, begun

FORMAT = 1
_KEPT = 8
_places: dict[tuple[str, int, str], Places] = {}
"""Of a few streams, as of the newest version that was asked for."""
_NAME = re.compile(r"(\d{8})\.json")


@dataclass(frozen=True)
class Line:
    """A line of the audit: what happened to a query, what it did to the plan, and why."""

    query: str
    what: str
    """added, altered or removed."""
    owner: str | None
    at: str
    """When, in UTC."""
    reason: str
    """Why, as whoever asked for it said."""
    before: int
    """The version whose plan it was woven into; 0 is the empty one."""
    after: int
    cost_before: Fraction
    cost: Fraction
    trees_before: int
    trees: int
    woven: str
    """How it was woven in, in words."""
    restart: str | None
    """Why the stream that runs cannot take it in before it is started again; None if it can."""

    def __str__(self) -> str:
        said = f"{self.at}  {self.before} -> {self.after}  {self.woven}"
        said += f"; because: {self.reason}" if self.reason else ""
        waits = f"; waits for a restart: {self.restart}, and its history will begin then"
        return said + (waits if self.restart else "")


@dataclass(frozen=True)
class Version:
    """A query set as it is from some change on, and the changes that made it."""

    number: int
    lines: tuple[Line, ...]
    plan: Plan | None
    """None where there is no query."""
    curve: Curve
    """What plans from scratch have cost; see `Weaver`."""

    @property
    def filters(self) -> list[str]:
        """The different filters of its queries, as text."""
        prototypes = () if self.plan is None else self.plan.workload.prototypes
        return sorted({ex.to_sql(prototype.where) for prototype in prototypes if prototype.where is not None})

    def to_bytes(self) -> bytes:
        """As two lines of JSON."""
        lines = [{**asdict(line), "cost_before": str(line.cost_before), "cost": str(line.cost)} for line in self.lines]
        curve = [[queries, str(cost)] for queries, cost in self.curve.points]
        head = {
            "format": FORMAT, "version": self.number, "filters": self.filters, "changes": lines, "curve": curve,
        }  # fmt: skip
        plan = "null" if self.plan is None else json.dumps(json.loads(encode(self.plan)))
        return f"{json.dumps(head)}\n{plan}\n".encode()

    @staticmethod
    def from_bytes(data: bytes, number: int | None = None) -> Version:
        """Read what `to_bytes` wrote; with a `number`, which the file's name says, it has to be of that."""
        try:
            first, second, *rest = data.decode().splitlines()
            if rest:
                raise ValueError("it has more than two lines")
            head = _head(first)
            if number not in (None, head["version"]):
                raise ValueError(f"it is version {head['version']}")
            plan = None if second == "null" else decode(second)
            points = tuple((int(queries), Fraction(cost)) for queries, cost in head["curve"])
            least = Fraction(0) if plan is None else plan.stats.rate
            return Version(int(head["version"]), _lines(head), plan, Curve(points, least))
        except (ValueError, KeyError, TypeError, AttributeError, ArithmeticError, BadRequest) as error:
            raise RunFailed(f"it cannot be read ({error})", field="version") from None


def _head(line: str) -> dict[str, Any]:
    head: dict[str, Any] = json.loads(line)
    if head["format"] != FORMAT:
        raise ValueError(f"format {head['format']!r} is not {FORMAT}")
    return head


def _lines(head: Mapping[str, Any]) -> tuple[Line, ...]:
    return tuple(
        Line(**{**line, "cost_before": Fraction(line["cost_before"]), "cost": Fraction(line["cost"])})
        for line in head["changes"]
    )


def number_of(name: str) -> int | None:
    """The number of the version in a file of this name; None where it is none."""
    match = _NAME.fullmatch(name)
    return int(match[1]) if match else None


class Folder:
    """Where versions are."""

    def __init__(self, path: Path) -> None:
        self.path, self.versions = path, path / "versions"

    def numbers(self) -> list[int]:
        """The numbers of all files, the newest last."""
        names = os.listdir(self.versions) if self.versions.is_dir() else []
        return sorted(number for name in names if (number := number_of(name)) is not None)

    def file(self, number: int) -> Path:
        """Where a version is."""
        return self.versions / f"{number:08}.json"

    def read(self, number: int) -> Version:
        """The version of this number."""
        try:
            return Version.from_bytes(self.file(number).read_bytes(), number)
        except FileNotFoundError:
            remedy = "Use one of those that weft list --history shows"
            raise BadRequest(f"there is no version {number}", field="registry", remedy=remedy) from None
        except (RunFailed, OSError) as error:
            rule = error.rule if isinstance(error, RunFailed) else str(error)
            remedy = "Remove the file; the version before it counts meanwhile"
            raise RunFailed(f"{rule}", field=str(self.file(number)), remedy=remedy) from None

    def lines(self, number: int) -> tuple[Line, ...]:
        """What was changed to come to a version, without reading its plan."""
        try:
            with self.file(number).open(encoding="utf-8") as file:
                return _lines(_head(file.readline()))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise RunFailed(f"it cannot be read ({error})", field=str(self.file(number))) from None

    def places(self, grain: Grain, base: int, upto: int | None = None) -> Places:
        """The bits of filters that came after a stream with this grain was started on a version.

        Versions that have been read are not read again, up to the first damaged one: that may still be mended.
        """
        key = (str(self.path), base, grain.to_json())
        last = _places.get(key, begun(base))
        if upto is not None and upto < last.version:
            last = begun(base)
        for at, sound in self._placed(grain, last, upto):
            last = at
            if sound and upto is None:
                _places[key] = at
        while len(_places) > _KEPT:
            _places.pop(next(iter(_places)))
        return last

    def all_places(self, grain: Grain, base: int) -> list[Places]:
        """The same as of each version, the newest last."""
        return [at for at, _ in self._placed(grain, begun(base), None)]

    def _placed(self, grain: Grain, at: Places, upto: int | None) -> Iterator[tuple[Places, bool]]:
        """As of each version after one; and whether there was no damaged one on the way."""
        sound = True
        for number in self.numbers():
            if at.version < number and (upto is None or number <= upto):
                try:
                    with self.file(number).open(encoding="utf-8") as file:
                        at = at.then(number, _head(file.readline())["filters"], grain.comes_late)
                except (OSError, ValueError, KeyError, TypeError):
                    sound = False
                else:
                    yield at, sound

    def newest(self) -> tuple[Version | None, dict[str, str]]:
        """The newest sound version, and what is wrong with those that are newer, by file."""
        broken: dict[str, str] = {}
        for number in reversed(self.numbers()):
            try:
                return self.read(number), broken
            except RunFailed as error:
                broken[str(self.file(number))] = error.rule
        return None, broken

    def write(self, version: Version) -> bool:
        """Write a version; False where somebody else has written one of that number meanwhile."""
        with self._beside(version.to_bytes()) as beside:
            try:
                os.link(beside, self.file(version.number))
            except FileExistsError:
                return False
        return True

    @contextmanager
    def _beside(self, data: bytes) -> Iterator[Path]:
        """A file to put in its place, which is gone afterwards, whatever happened."""
        beside = self.path / f".{uuid.uuid4().hex}.json"
        try:
            self.versions.mkdir(parents=True, exist_ok=True)
            with beside.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            yield beside
        except OSError as error:
            remedy = "Give a folder with room and rights, on a file system that has hard links"
            raise RunFailed(f"it cannot be written to ({error})", field=str(self.path), remedy=remedy) from None
        finally:
            beside.unlink(missing_ok=True)

    def tell(self, grain: Grain, base: int) -> None:
        """Say what the stream makes that is started now, on a version."""
        told = json.dumps({"version": base, "grain": json.loads(grain.to_json())})
        with self._beside(told.encode()) as beside:
            os.replace(beside, self.path / "stream.json")

    def told(self) -> tuple[Grain, int] | None:
        """What the stream makes that was last started, and on which version; None where none was."""
        try:
            told = json.loads((self.path / "stream.json").read_text(encoding="utf-8"))
            return Grain.from_json(json.dumps(told["grain"])), int(told["version"])
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise BadRequest(
                f"it cannot be read ({error})", field=str(self.path / "stream.json"), remedy="Start the stream again"
            ) from None
