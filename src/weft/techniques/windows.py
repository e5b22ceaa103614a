"""Windows over slices: which run of slices each due window covers.

The slices of a shard stand sorted by key and start; `bounds` says where each key begins. A key's windows are walked in
order with two pointers, so a key costs as much as it has slices and answers: windows without a row are jumped over,
however long the gap.

    slices of a key     |a |b    |c |   ......   |d |
    window k                [----------)             covers b, c
    window k + 1                 [----------)        covers c; the next one to hold a row is the first to hold d

Nothing here knows whether positions are microseconds or row numbers, a batch or a stream: a window is due when
`after < end <= upto`, and the walk can stop when the output is full and go on from the same cursor.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from weft.jit import kernel

ALWAYS, NEVER = -(2**62), 2**62
"""Bounds on a window's end that hold nothing back."""


def new_cursor() -> npt.NDArray[np.int64]:
    """Where a walk stands: key, whether inside it, next window's start, first slice, end of slices."""
    return np.zeros(5, np.int64)


@kernel
def walk(bounds, starts, size, slide, offset, after, upto, cursor, key, start, lo, hi, at):
    """Write the due windows from `at` on, and return where it stopped; cursor[0] == number of keys when done.

    `size`, `slide` and `offset` are those of the covered intervals; a window's covered interval begins at `start`.
    """
    keys, room = len(bounds) - 1, len(key)
    while cursor[0] < keys:
        k = cursor[0]
        first, last = bounds[k], bounds[k + 1]
        if cursor[1]:
            begin, head, tail = cursor[2], cursor[3], cursor[4]
        else:
            # the first window that ends after the key's first slice begins, and after `after`
            earliest = max(starts[first], after) - size if first < last else np.int64(0)
            begin, head, tail = (earliest - offset) // slide * slide + slide + offset, first, first
        while True:
            while head < last and starts[head] < begin:
                head += 1
            if head == last or begin + size > upto:
                break
            if starts[head] >= begin + size:
                begin = (starts[head] - size - offset) // slide * slide + slide + offset
                continue
            tail = max(tail, head)
            while tail < last and starts[tail] < begin + size:
                tail += 1
            if at == room:
                cursor[1], cursor[2], cursor[3], cursor[4] = 1, begin, head, tail
                return at
            key[at], start[at], lo[at], hi[at] = k, begin, head, tail
            at += 1
            begin += slide
        cursor[0], cursor[1] = k + 1, 0
    return at


@kernel
def widest(bounds, starts, size):
    """The most slices of one key that begin within `size` of each other."""
    most = 0
    for k in range(len(bounds) - 1):
        head = bounds[k]
        for tail in range(bounds[k], bounds[k + 1]):
            while starts[head] <= starts[tail] - size:
                head += 1
            most = max(most, tail + 1 - head)
    return most
