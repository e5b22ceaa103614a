"""Operators: how two partials become one.

Partials of one kind stand in a matrix, a row per slice and a column per component: one column for most sums and
extremes, three for moments, a few for exact sums of wide integers. In a kernel a partial is a tuple of its components,
read by `load` and written by `store`.

    combine(operator, older, newer)     what the operator does; associative, and `identity` changes nothing
    removed(operator, whole, prefix)    what is left of whole = prefix then rest; invertible operators have it
    is_newer(operator, older, newer)    whether combining gives the newer one; selective operators have it

An operator is a value of a type of its own: `Sum((0.0,))` adds one float. A kernel compiles for the types that it is
called with, so one source serves every operator, with the operator's code inlined (`jit.meaning`). The same functions
run as plain Python where Numba's compiler is switched off.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from weft.algebra.partials import Law
from weft.jit import meaning

Matrix = npt.NDArray[Any]
"""Of int64 or of float64."""
Components = tuple[Any, ...]


class Operator(Protocol):
    """What every operator has. Its functions are static methods, `removed` and `is_newer` where a law allows them."""

    @property
    def identity(self) -> Components:
        """Combined with anything, it gives that thing back."""

    @staticmethod
    def combine(operator: Any, older: Components, newer: Components) -> Components:
        """Two partials as one."""


class Sum(NamedTuple):
    """Addition."""

    identity: Components

    @staticmethod
    def combine(operator, older, newer):
        """Both."""
        return (older[0] + newer[0],)

    @staticmethod
    def removed(operator, whole, prefix):
        """Of integers the rest, which wrap around and come back; of floats not quite the rest."""
        return (whole[0] - prefix[0],)


class Sum2(NamedTuple):
    """Addition of two components."""

    identity: Components

    @staticmethod
    def combine(operator, older, newer):
        """Both."""
        return older[0] + newer[0], older[1] + newer[1]

    @staticmethod
    def removed(operator, whole, prefix):
        """The rest."""
        return whole[0] - prefix[0], whole[1] - prefix[1]


class Sum4(NamedTuple):
    """Addition of four components."""

    identity: Components

    @staticmethod
    def combine(operator, older, newer):
        """Both."""
        return older[0] + newer[0], older[1] + newer[1], older[2] + newer[2], older[3] + newer[3]

    @staticmethod
    def removed(operator, whole, prefix):
        """The rest."""
        return whole[0] - prefix[0], whole[1] - prefix[1], whole[2] - prefix[2], whole[3] - prefix[3]


class Min(NamedTuple):
    """The smaller one."""

    identity: Components = (np.iinfo(np.int64).max,)

    @staticmethod
    def combine(operator, older, newer):
        """One of the two."""
        return (newer[0] if newer[0] < older[0] else older[0],)

    @staticmethod
    def is_newer(operator, older, newer):
        """Of two that are equal the newer one, which stays longer."""
        return newer[0] <= older[0]


class Max(NamedTuple):
    """The larger one."""

    identity: Components = (np.iinfo(np.int64).min,)

    @staticmethod
    def combine(operator, older, newer):
        """One of the two."""
        return (newer[0] if newer[0] > older[0] else older[0],)

    @staticmethod
    def is_newer(operator, older, newer):
        """Of two that are equal the newer one, which stays longer."""
        return newer[0] >= older[0]


class ArgMax(NamedTuple):
    """The largest key and what came with it; of several that are equal, the oldest."""

    identity: Components = (np.iinfo(np.int64).min, 0)

    @staticmethod
    def combine(operator, older, newer):
        """One of the two, whole."""
        return newer if newer[0] > older[0] else older

    @staticmethod
    def is_newer(operator, older, newer):
        """Only where its key is larger."""
        return newer[0] > older[0]


class Moments(NamedTuple):
    """Count, mean and squared deviations from it, merged as Chan, Golub and LeVeque do (1979)."""

    identity: Components = (0.0, 0.0, 0.0)

    @staticmethod
    def combine(operator, older, newer):
        """Both, each weighing as much as it counts."""
        if newer[0] == 0:
            return older
        if older[0] == 0:
            return newer
        count = older[0] + newer[0]
        moved, share = newer[1] - older[1], newer[0] / count
        return count, older[1] + moved * share, older[2] + newer[2] + moved * moved * (older[0] * share)


MIN, MAX, ARG_MAX, MOMENTS = Min(), Max(), ArgMax(), Moments()


def sum_of(dtype: npt.DTypeLike, width: int) -> Operator:
    """Addition of so many components of a type."""
    zero = 0.0 if np.dtype(dtype).kind == "f" else 0
    kinds: dict[int, Callable[[Components], Operator]] = {1: Sum, 2: Sum2, 4: Sum4}
    return kinds[width]((zero,) * width)


def laws(operator: Operator) -> frozenset[Law]:
    """The laws that an operator obeys. No digit may be lost by taking a sum apart."""
    exact = not any(isinstance(component, float) for component in operator.identity)
    has = {
        Law.INVERTIBLE: exact and hasattr(operator, "removed"),
        Law.SELECTIVE: hasattr(operator, "is_newer"),
        Law.RANKED: not hasattr(operator, "combine"),
    }
    return frozenset(law for law, holds in has.items() if holds)


def cells(operator: Operator, count: int) -> Matrix:
    """Room for so many partials."""
    dtype = np.float64 if isinstance(operator.identity[0], float) else np.int64
    return np.zeros((count, len(operator.identity)), dtype)


def combine(operator, older, newer):
    """Two partials as one."""
    return type(operator).combine(operator, older, newer)


def removed(operator, whole, prefix):
    """A partial without its prefix."""
    return type(operator).removed(operator, whole, prefix)


def is_newer(operator, older, newer):
    """Whether two partials as one are the newer of them."""
    return type(operator).is_newer(operator, older, newer)


def load(operator, partials, i):
    """Row i of a matrix as a partial."""
    return tuple(partials[i].tolist())


def store(operator, partials, i, partial):
    """Write a partial to row i of a matrix."""
    partials[i] = partial


@meaning(combine)
def _combine(operator, older, newer):
    return getattr(operator.instance_class, "combine", None)


@meaning(removed)
def _removed(operator, whole, prefix):
    return getattr(operator.instance_class, "removed", None)


@meaning(is_newer)
def _is_newer(operator, older, newer):
    return getattr(operator.instance_class, "is_newer", None)


# a place that cannot be negative spares a kernel the question whether to count it from the end: a fifth of its time


@meaning(load)
def _load(operator, partials, i):
    def one(operator, partials, i):
        at = np.uintp(i)
        return (partials[at, 0],)

    def two(operator, partials, i):
        at = np.uintp(i)
        return partials[at, 0], partials[at, 1]

    def three(operator, partials, i):
        at = np.uintp(i)
        return partials[at, 0], partials[at, 1], partials[at, 2]

    def four(operator, partials, i):
        at = np.uintp(i)
        return partials[at, 0], partials[at, 1], partials[at, 2], partials[at, 3]

    return {1: one, 2: two, 3: three, 4: four}.get(_width(operator))


@meaning(store)
def _store(operator, partials, i, partial):
    def one(operator, partials, i, partial):
        partials[np.uintp(i), 0] = partial[0]

    def two(operator, partials, i, partial):
        at = np.uintp(i)
        partials[at, 0], partials[at, 1] = partial[0], partial[1]

    def three(operator, partials, i, partial):
        at = np.uintp(i)
        partials[at, 0], partials[at, 1], partials[at, 2] = partial[0], partial[1], partial[2]

    def four(operator, partials, i, partial):
        at = np.uintp(i)
        partials[at, 0], partials[at, 1], partials[at, 2], partials[at, 3] = (
            partial[0],
            partial[1],
            partial[2],
            partial[3],
        )

    return {1: one, 2: two, 3: three, 4: four}.get(_width(operator))


def _width(operator: Any) -> int:
    """How many components an operator's partials have, by its compiled type."""
    return len(operator.types[operator.fields.index("identity")])
