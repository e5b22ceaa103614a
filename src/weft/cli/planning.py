"""Planning: from the options of a verb to a plan, made or read back."""

from __future__ import annotations

import re
from pathlib import Path

import weft
from weft.errors import BadRequest


def pairs(given: str | None, option: str) -> dict[str, str]:
    """`price=double,volume=decimal(10,2)` as names and values; commas inside brackets belong to a value.

    >>> pairs("price=double, volume=decimal(10,2)", "--types")
    {'price': 'double', 'volume': 'decimal(10,2)'}
    """
    found = {}
    for part in re.split(r",(?![^(<]*[)>])", given or ""):
        name, equals, value = part.partition("=")
        if not part.strip():
            continue
        if not equals or not name.strip() or not value.strip():
            raise BadRequest(
                f"'{part.strip()}' is no name=value", field=option, remedy="Write --types price=double,volume=bigint"
            )
        found[name.strip()] = value.strip()
    return found


def settings(given: list[str], option: str = "--conf", example: str = "spark.driver.memory=4g") -> dict[str, str]:
    """Spark's settings from any number of `--conf key=value`, or the options of a source."""
    found = {}
    for entry in given:
        key, equals, value = entry.partition("=")
        if not equals or not key.strip():
            raise BadRequest(f"'{entry}' is no key=value", field=option, remedy=f"Write {option} {example}")
        found[key.strip()] = value.strip()
    return found


def options(given: list[str]) -> dict[str, object]:
    """Planners' own options from any number of `--option name=value`: numbers, true and false, and words.

    >>> options(["steps=500", "guard=true", "start=random"])
    {'steps': 500, 'guard': True, 'start': 'random'}
    """
    from weft.planners import PLANNERS

    known = sorted({option for planner in PLANNERS.values() for option in planner.options})
    found: dict[str, object] = {}
    for entry in given:
        name, equals, value = (part.strip() for part in entry.partition("="))
        if not equals or not name or not value:
            raise BadRequest(f"'{entry}' is no name=value", field="--option", remedy="Write --option steps=500")
        if name not in known:
            raise BadRequest(
                f"no planner has an option '{name}'", field="--option", remedy=f"There are {', '.join(known)}"
            )
        words = {"true": True, "false": False}
        found[name] = int(value) if re.fullmatch(r"-?\d{1,18}", value) else words.get(value.lower(), value)
    return found


def shares(given: list[str]) -> dict[str, float]:
    """The shares of rows that pass filters, from any number of `--filters "price > 100 = 0.2"`.

    >>> shares(["price > 100 = 0.2", "venue = 'X' = 0.5"])
    {'price > 100': 0.2, "venue = 'X'": 0.5}
    """
    found = {}
    for entry in given:
        where, _, share = entry.rpartition("=")
        try:
            if not where.strip() or where.rstrip()[-1] in "<>!=":
                raise ValueError
            found[where.strip()] = float(share)
        except ValueError:
            raise BadRequest(
                f"'{entry}' does not end in a share of the rows",
                field="--filters",
                remedy="Write --filters 'price > 100 = 0.2', for every fifth row",
            ) from None
    return found


def keys(given: list[str]) -> int | dict[str, int]:
    """How many keys there are, from `--keys 1000` or any number of `--keys "symbol, venue = 9000"`.

    >>> keys(["1000"]), keys(["symbol = 1000", "symbol, venue = 9000"])
    (1000, {'symbol': 1000, 'symbol, venue': 9000})
    """
    found: dict[str, int] = {}
    for entry in given:
        names, equals, count = entry.rpartition("=")
        if not re.fullmatch(r"\s*-?\d{1,18}\s*", count) or bool(equals) != bool(names.strip()):
            raise BadRequest(
                f"'{entry}' does not end in a number of keys",
                field="--keys",
                remedy="Write --keys 1000, or --keys 'symbol, venue = 9000'",
            )
        if not equals and len(given) > 1:
            raise BadRequest(
                f"'{entry}' is a number for every GROUP BY, and there are others",
                field="--keys",
                remedy="Give one number, or name what each is of, as --keys symbol=1000",
            )
        if not equals:
            return int(count)
        if names.strip() in found:
            raise BadRequest(f"'{names.strip()}' is there twice", field="--keys", remedy="Give one number of them")
        found[names.strip()] = int(count)
    return found


def saved(path: Path, workload: weft.Workload | None = None, queries: Path | None = None) -> weft.Plan:
    """A plan from a file; with a workload, it has to be a plan of just that."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise BadRequest(f"there is no file '{path}'", field="--plan", remedy="Check the path") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadRequest(f"'{path}' cannot be read ({error})", field="--plan", remedy="Give a plan's JSON") from None
    try:
        plan = weft.Plan.from_json(text)
    except BadRequest as error:
        raise error.within(field="--plan") from None
    if workload is not None and plan.workload.fingerprint() != workload.fingerprint():
        raise BadRequest(
            f"'{path}' plans another workload ({plan.workload!r}, {plan.workload.fingerprint()}) than '{queries}' "
            f"holds ({workload!r}, {workload.fingerprint()})",
            field="--plan",
            remedy="Leave --plan out to plan anew, or give the queries that the plan was made for",
        )
    return plan


def brief(plan: weft.Plan) -> str:
    """The head of the explanation: the plan as a whole, without its trees."""
    return plan.explain().split("\n\n", 1)[0]
