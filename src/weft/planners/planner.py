"""Planner: a way to put candidates together, as a card that people read and a function that runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from weft.errors import BadRequest
from weft.planners.candidates import Candidate
from weft.planners.prices import Price


def whole_number(option: str, value: object, least: int | None = None) -> int:
    """The value of an option that counts something."""
    if isinstance(value, bool) or not isinstance(value, int) or (least is not None and value < least):
        wanted = "a whole number" if least is None else f"a whole number from {least} on"
        raise BadRequest(f"{option} is {value!r}", field="planner", remedy=f"Give {wanted}")
    return value


@dataclass(frozen=True)
class Grouping:
    """What a planner decided: which candidates are a tree, and what any other decision would cost at least."""

    trees: Sequence[Candidate]
    bound: Fraction | None = None
    among: str = ""
    """The plans that the bound is on, where it is not on all."""


def _as_it_is(queries: Sequence[Candidate], price: Price) -> Price:
    return price


@dataclass(frozen=True, slots=True)
class Planner:
    """A planner. `group` takes candidates of one kin, a price and the planner's own options."""

    name: str
    title: str
    first_appeared: str
    group: Callable[..., Grouping]
    options: tuple[str, ...] = ()
    """The names of its own options."""
    alone: bool = False
    """Whether it starts from single queries; otherwise queries with the same edges come as one candidate."""
    few: int = 0
    """How many queries there may be for it to start from single ones all the same."""
    apart: int = 256
    """How many candidates there may be for queries with the same edges to come as one for each filter.

    So many take Weave Share ten seconds.
    """
    most: int | None = None
    """How many candidates it can take."""
    instead: str = ""
    """What to use where there are more."""
    feed: str = "events"
    """What its trees read: rows, or shared slices."""
    priced: Callable[[Sequence[Candidate], Price], Price] = _as_it_is
    """The price that it plans with, made from the one given."""
