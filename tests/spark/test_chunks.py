"""However a worker's input is cut, the answers are those of the input in one piece.

Batches of any size, empty ones among them; pieces so small that keys are cut through; several rows of one slice, as
filters make them, on either side of a cut.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from weft.spark.chunks import ENOUGH, Piece, pieces
from weft.techniques import windows
from weft.techniques.windows import ALWAYS, NEVER

Answer = tuple[int, int, int]


@dataclass(frozen=True)
class Input:
    """Keys' slice starts, and where the batches are cut."""

    keys: list[list[int]]
    cuts: list[int]
    grouped: bool

    def rows(self) -> pa.RecordBatch:
        starts = [start for key in self.keys for start in key]
        ranks = [rank for key in self.keys for rank in range(1, len(key) + 1)]
        columns = {
            "key_0": [number for number, key in enumerate(self.keys) for _ in key],
            "slice": starts,
            "value": [position * 7919 % 1009 for position in range(len(starts))],
        }
        arrays = [pa.array(column, pa.int64()) for column in columns.values()]
        rank = pa.array(ranks if self.grouped else [2] * len(starts), pa.int32())
        return pa.RecordBatch.from_arrays([*arrays, rank], [*columns, "rank"])

    def batches(self) -> list[pa.RecordBatch]:
        rows = self.rows()
        ends = [0, *sorted(min(cut, rows.num_rows) for cut in self.cuts), rows.num_rows]
        return [rows.slice(begin, end - begin) for begin, end in pairwise(ends)]


def answered(piece: Piece, size: int, slide: int, offset: int) -> list[Answer]:
    """Key, start and sum of the due windows of a piece."""
    starts = piece.rows["slice"].to_numpy()
    keys, values = (piece.rows[name].to_pylist() for name in ("key_0", "value"))
    cursor, found = windows.new_cursor(), []
    room = [np.empty(16, np.int64) for _ in range(4)]
    while cursor[0] < len(piece.bounds) - 1:
        count = windows.walk(
            piece.bounds, np.ascontiguousarray(starts), size, slide, offset, piece.after, piece.upto, cursor, *room, 0
        )
        for _, begin, lo, hi in zip(*(column[:count].tolist() for column in room), strict=True):
            found.append((keys[lo], begin, sum(values[lo:hi])))
    return found


@st.composite
def inputs(draw: st.DrawFn, longest_key: int = 40) -> Input:
    grouped = draw(st.integers(0, 3)) > 0
    key = st.lists(st.integers(-20, 60) | st.sampled_from((0, 0, 1_000_000)), min_size=1, max_size=longest_key)
    keys = draw(st.lists(key.map(sorted), max_size=6 if grouped else 1))
    return Input(keys, draw(st.lists(st.integers(0, 120), max_size=8)), grouped)


@given(
    given_=inputs(),
    enough=st.integers(1, 30),
    size=st.integers(1, 25),
    slide=st.integers(1, 25),
    offset=st.integers(-30, 30),
)
def test_pieces_answer_as_one(given_: Input, enough: int, size: int, slide: int, offset: int) -> None:
    found = [
        answer for piece in pieces(given_.batches(), size, enough) for answer in answered(piece, size, slide, offset)
    ]
    rows = given_.rows()
    bounds = np.cumsum([0, *map(len, given_.keys)])
    whole = answered(Piece(rows, bounds, ALWAYS, NEVER), size, slide, offset) if rows.num_rows else []
    assert sorted(found) == sorted(whole)


@given(given_=inputs(), enough=st.integers(1, 30), size=st.integers(1, 25))
def test_keys_are_never_mixed(given_: Input, enough: int, size: int) -> None:
    for piece in pieces(given_.batches(), size, enough):
        keys = piece.rows["key_0"].to_numpy()
        assert piece.bounds[0] == 0
        assert piece.bounds[-1] == len(keys)
        for begin, end in zip(piece.bounds[:-1], piece.bounds[1:], strict=True):
            assert end > begin
            assert len(set(keys[begin:end].tolist())) == 1
        if (piece.after, piece.upto) != (ALWAYS, NEVER):
            assert len(piece.bounds) == 2


def test_a_key_of_very_many_slices_is_cut() -> None:
    """A long stream of one key is answered as it comes, and only what a later window reaches is kept."""
    count, size = 6_000, 40
    rows = Input([list(range(count))], list(range(100, count, 100)), True)
    found = list(pieces(rows.batches(), size, 250))
    assert len(found) > 20
    assert max(piece.rows.num_rows for piece in found) <= 600
    assert all(later.after == earlier.upto for earlier, later in pairwise(found))
    assert sum(len(answered(piece, size, 10, 0)) for piece in found) == (count + size - 10) // 10


def test_whole_keys_stay_together_where_there_is_room() -> None:
    rows = Input([[1, 2, 3]] * 10, list(range(5, 30, 5)), True)
    assert [piece.rows.num_rows for piece in pieces(rows.batches(), 5, ENOUGH)] == [30]


def test_no_rows_are_no_pieces() -> None:
    assert list(pieces([], 5)) == []
    assert list(pieces(Input([], [], True).batches(), 5)) == []
