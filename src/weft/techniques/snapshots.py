"""Snapshots: a structure as bytes, and back.

A structure is arrays and nothing else, so its snapshot is those arrays and a line that says whose they are. Bytes of
another technique, another operator or another version of either are refused; the structure is then built again from
the slices, which are what a state store keeps.
"""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import numpy as np

from weft.algebra.operators import Operator
from weft.errors import BadRequest
from weft.techniques.technique import Shape, State, Technique

FORMAT = 1


def packed(technique: Technique, operator: Operator, state: State) -> bytes:
    """A structure as bytes."""
    header = np.frombuffer(json.dumps(_header(technique, operator, state)).encode(), np.uint8)
    written = io.BytesIO()
    np.savez(written, header, *state)
    return written.getvalue()


def unpacked(technique: Technique, operator: Operator, snapshot: bytes) -> State:
    """The structure of such bytes, for the technique and the operator that it was made for."""
    try:
        with np.load(io.BytesIO(snapshot), allow_pickle=False) as read:
            header, *arrays = (read[name] for name in read.files)
            found = json.loads(header.tobytes())
    except (ValueError, KeyError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise BadRequest(f"this is no snapshot ({error})", field=technique.name, remedy=_REMEDY) from None
    empty = technique.start(operator, Shape(1))
    expected = _header(technique, operator, empty)
    for name, value in expected.items():
        if found.get(name) != value:
            raise BadRequest(
                f"the snapshot is of {name} {found.get(name)!r}, and this is {value!r}",
                field=technique.name,
                remedy=_REMEDY,
            )
    return type(empty)(*arrays)


_REMEDY = "Build the structure again from its slices"


def _header(technique: Technique, operator: Operator, state: Any) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "technique": technique.name,
        "operator": type(operator).__name__.lower(),
        "components": len(operator.identity),
        "arrays": list(state._fields),
        "dtypes": [array.dtype.str for array in state],
    }
