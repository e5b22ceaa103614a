"""Functions: which names a call may have, and what to write instead of those that it may not.

    std(price)      is stddev_samp(price), under the name that Spark would give to the column
    isnull(price)   is not supported: write price IS NULL

A name that is nearly one of ours is taken for a slip of the pen, unless Spark has a function of just that name: whoever
writes `median` does not mean `mean`.
"""

from __future__ import annotations

import difflib

from weft.queries import expressions as ex
from weft.queries.query import AGGREGATE_SYNONYMS, AGGREGATES

SYNONYMS = {"ucase": "upper", "lcase": "lower", "len": "length", "char_length": "length", "character_length": "length",
            "nvl": "coalesce", "ifnull": "coalesce", "mod": "%"}  # fmt: skip
"""Scalar functions that are another spelling of a white-listed operation."""
KNOWN = (*AGGREGATES, *AGGREGATE_SYNONYMS, *ex.FUNCTIONS, "coalesce", *SYNONYMS)
OFFER = f"Use one of {', '.join((*AGGREGATES, *ex.FUNCTIONS, 'coalesce', 'cast'))}"

_CONDITION = "Write CASE WHEN condition THEN value ELSE value END"
_INSTEAD = {
    "if": _CONDITION, "iff": _CONDITION, "nvl2": _CONDITION, "nullif": _CONDITION, "decode": _CONDITION,
    "greatest": _CONDITION, "least": _CONDITION,
    "isnull": "Write value IS NULL", "isnotnull": "Write value IS NOT NULL",
    "isnan": "Write value = CAST('NaN' AS DOUBLE)",
    "zeroifnull": "Write coalesce(value, 0)", "nullifzero": _CONDITION,
    "try_cast": "Use CAST", "try_sum": "Use sum", "try_avg": "Use avg", "pmod": "Use %", "contains": "Use LIKE",
    "startswith": "Use LIKE", "endswith": "Use LIKE", "count_if": "Write count(CASE WHEN condition THEN 1 END)",
    "pow": "Multiply: value * value", "power": "Multiply: value * value",
    **dict.fromkeys(("bool_and", "every"), "Use min: it is true where every value is"),
    **dict.fromkeys(("bool_or", "some", "any"), "Use max: it is true where some value is"),
    "tumble": "Write window(ts, '10 minutes') in GROUP BY, or FROM TABLE(TUMBLE(...))",
    "hop": "Write window(ts, '10 minutes', '2 minutes') in GROUP BY, or FROM TABLE(HOP(...))",
}  # fmt: skip
_NO_SLIPS = ("bit_length", "cot", "covar_pop", "covar_samp", "ln", "median", "mode", "nanvl")
"""Spark's functions that are called nearly like one of ours."""


def arity(name: str) -> tuple[int, int | None]:
    """The fewest and the most arguments of a function; None means any number."""
    return (2, 2) if name in ("nvl", "ifnull", "mod") else (1, None if name == "coalesce" else 1)


def instead(name: str) -> str:
    """What to write instead of a call to a function that there is not.

    >>> instead("maxx"), instead("isnull")
    ('Did you mean max', 'Write value IS NULL')
    """
    near = [] if name in _NO_SLIPS else difflib.get_close_matches(name, KNOWN, 1, 0.75)
    return _INSTEAD.get(name) or (f"Did you mean {near[0]}" if near else OFFER)
