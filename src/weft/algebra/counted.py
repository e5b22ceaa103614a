"""Counted: an operator that counts how often it is used. Kernels compile for it as for any other.

So what is counted is the very code that runs. Combining with the identity costs nothing in the papers and is not
counted here.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from weft.algebra.operators import Components, Operator, combine, is_newer, removed


class Counted(NamedTuple):
    """Another operator, and how many times it has combined and removed."""

    of: Any
    counts: npt.NDArray[np.int64]
    identity: Components

    @staticmethod
    def combine(operator, older, newer):
        """What the other one does, counted."""
        if older != operator.identity and newer != operator.identity:
            operator.counts[0] += 1
        return combine(operator.of, older, newer)

    @staticmethod
    def removed(operator, whole, prefix):
        """What the other one does, counted."""
        if prefix != operator.identity:
            operator.counts[1] += 1
        return removed(operator.of, whole, prefix)

    @staticmethod
    def is_newer(operator, older, newer):
        """A comparison of two partials costs as much as combining them."""
        operator.counts[0] += 1
        return is_newer(operator.of, older, newer)


def counted(operator: Operator) -> Counted:
    """The operator, counting from zero."""
    return Counted(operator, np.zeros(2, np.int64), operator.identity)
