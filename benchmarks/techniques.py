"""The techniques benchmark: nanoseconds per slide beside each other, in one run, on one core.

    single     one query, sum and max of doubles, windows of 16 to 1,048,576 slices, 65,536 slides at a time
    multi      all ranges 1..n at every slide, as Figures 11 to 14 of Shein and Chrysanthis, TKDE 2020; bytes as Table 2
    latency    one slide at a time, the call's own cost taken off: the 50th, 99th and 99.9th percentile and the slowest
    guard      floats without subtraction against plain subtraction, which is wrong once an outlier has come
    quantiles  B-INT-QNT against sorting every window
    keys       10,000 keys with 50 live slices each against one dense key
    operators  what it costs to compile, and to load what has been compiled

The compiled loop of a structure is timed as the runtime calls it, checks included. Every timed answer is compared with
numpy's, or with folding the window from scratch.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from statistics import median
from typing import Any

import numpy as np

import measure
from weft.algebra import ordering
from weft.algebra.operators import MAX, Matrix, Operator, laws, sum_of
from weft.techniques import BY_NAME, TECHNIQUES
from weft.techniques.b_int_qnt import quantile
from weft.techniques.technique import Shape, State, Technique

WINDOWS = (16, 1_024, 65_536, 1_048_576)
RANGES = (64, 1_024, 8_192)
FOLDING = [technique for technique in TECHNIQUES if technique.name != "b_int_qnt"]
VECTOR = 65_536
_ENOUGH_WORK = 400_000_000
"""Operations beyond which a technique is given fewer slides, or left out where even those are too many."""


def doubles(count: int) -> np.ndarray[Any, Any]:
    """The stream."""
    return np.random.default_rng(1).random(count)


def inputs(function: str, values: np.ndarray[Any, Any]) -> tuple[Operator, Matrix]:
    """An operator and its partials; maxima are taken over integers that sort as the doubles do."""
    if function == "sum":
        return sum_of(float, 1), values.reshape(-1, 1)
    if function == "integers":
        return sum_of(int, 1), (values * 1e6).astype(np.int64).reshape(-1, 1)
    return MAX, ordering.from_floats(values).reshape(-1, 1)


def seconds(job: Callable[[], object]) -> float:
    """How long it takes."""
    begin = time.perf_counter()
    job()
    return time.perf_counter() - begin


def best_of(jobs: dict[str, Callable[[], float]], runs: int) -> dict[str, float]:
    """The quickest of each job's times, taken in turns: what disturbs a loop that never waits only slows it down."""
    samples: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(runs):
        for name, job in jobs.items():
            samples[name].append(job())
    return {name: min(times) for name, times in samples.items()}


def windows(count: int, widths: Iterable[int]) -> tuple[np.ndarray[Any, Any], ...]:
    """The windows of all widths at every slide, once the widest is full, the widest first."""
    ordered = np.array(sorted(widths, reverse=True))
    ends = np.arange(ordered[0], count + 1)
    hi = np.repeat(ends, len(ordered))
    return hi - np.tile(ordered, len(ends)), hi, np.tile(np.arange(len(ordered)), len(ends))


def slides(technique: Technique, operator: Operator, partials: Matrix, width: int) -> Callable[[], float]:
    """A job: nanoseconds per slide of one query, from a full window on, a vector of slides at a time."""
    shape, nothing = Shape(width, widths=(width,)), np.empty(0, np.int64)
    lo, hi, of = np.arange(VECTOR), np.arange(VECTOR) + width, np.zeros(VECTOR, np.int64)
    out = np.empty((VECTOR, 1), partials.dtype)

    def job(check: bool = False) -> float:
        state, took = technique.start(operator, shape), 0.0
        technique.advance(operator, state, partials[: width - 1], nothing, nothing)
        lo[:], hi[:] = np.arange(VECTOR), np.arange(VECTOR) + width
        count = (len(partials) - width + 1) // VECTOR
        for number in range(count):
            part = partials[width - 1 + number * VECTOR :][:VECTOR]
            begin = time.perf_counter()
            technique.advance(operator, state, part, lo, hi, of, out)
            took += time.perf_counter() - begin
            if check:
                checked(operator, partials, lo, hi, out)
            lo[:] += VECTOR
            hi[:] += VECTOR
        return took / count / VECTOR * 1e9

    job(check=True)
    return job


def checked(operator: Operator, partials: Matrix, lo: Any, hi: Any, out: Matrix) -> None:
    """Some answers, against numpy's."""
    rng = np.random.default_rng(2)
    for j in rng.integers(0, len(lo), 20).tolist():
        run = partials[lo[j] : hi[j], 0]
        right = run.max() if operator is MAX else run.sum()
        assert abs(float(out[j, 0]) - float(right)) <= 1e-9 * abs(float(right)), (j, out[j, 0], right)


def serves(technique: Technique, operator: Operator) -> bool:
    """Whether it serves the operator."""
    return technique.needs <= laws(operator)


def single(runs: int, say: Callable[[str], None]) -> dict[str, dict[str, dict[int, float]]]:
    """One query."""
    found: dict[str, dict[str, dict[int, float]]] = {}
    for function in ("sum", "max", "integers"):
        said = {"sum": "sum of doubles", "max": "max of doubles", "integers": "sum of integers"}[function]
        say(f"\nsingle query, {said}: nanoseconds per slide")
        say(f"  {'window':<20}" + "".join(f"{size:>12,}" for size in WINDOWS))
        rows: dict[str, dict[int, float]] = {}
        for size in WINDOWS:
            count = max(2_000_000, 2 * size) + size
            operator, partials = inputs(function, doubles(count))
            jobs = {
                technique.name: slides(technique, operator, partials, size)
                for technique in FOLDING
                if serves(technique, operator) and (technique.name != "panes" or size == WINDOWS[0])
            }
            for name, nanoseconds in best_of(jobs, runs).items():
                rows.setdefault(name, {})[size] = nanoseconds
        for name in sorted(rows, key=lambda name: rows[name].get(1_024, 1e9)):
            say(f"  {name:<20}" + "".join(f"{rows[name].get(size, float('nan')):>12.2f}" for size in WINDOWS))
        found[function] = rows
    return found


def multi(runs: int, say: Callable[[str], None]) -> dict[str, dict[str, dict[int, Any]]]:
    """All ranges 1..n, every slide."""
    found: dict[str, dict[str, dict[int, Any]]] = {}
    for function in ("integers", "max"):
        rows: dict[str, dict[int, Any]] = {}
        for count in RANGES:
            operator, _ = inputs(function, doubles(1))
            jobs, bytes_ = {}, {}
            for technique in FOLDING:
                if not serves(technique, operator) or technique.one_range:
                    continue
                slower = {"panes": count / 2, "l_int": 3.0, "psoup": 12.0, "flatfat": 6.0, "b_int": 6.0}
                room = int(min(_ENOUGH_WORK / 4 / count / slower.get(technique.name, 1.0), 3_000_000 / count))
                if room < 20:
                    continue
                _, partials = inputs(function, doubles(count + room))
                jobs[technique.name] = slides_of_many(technique, operator, partials, count)
                state = technique.start(operator, Shape(count, 0, count))
                bytes_[technique.name] = int(sum(array.nbytes for array in state))
            for name, nanoseconds in best_of(jobs, runs).items():
                rows.setdefault(name, {})[count] = {"ns per answer": nanoseconds, "bytes": bytes_[name]}
        say(f"\nall ranges 1..n, {'sums of integers' if function == 'integers' else 'max'}: ns per answer (bytes kept)")
        say(f"  {'n':<20}" + "".join(f"{count:>24,}" for count in RANGES))
        for name in sorted(rows, key=lambda name: rows[name][64]["ns per answer"]):
            cells = (rows[name].get(count) for count in RANGES)
            shown = (f"{c['ns per answer']:>12.2f} ({c['bytes']:>9,})" if c else f"{'-':>24}" for c in cells)
            say(f"  {name:<20}" + "".join(shown))
        found[function] = rows
    return found


def slides_of_many(technique: Technique, operator: Operator, partials: Matrix, count: int) -> Callable[[], float]:
    """A job: nanoseconds per answer, once the structure is full."""
    lo, hi, of = windows(len(partials), range(1, count + 1))
    out = np.empty((len(lo), 1), partials.dtype)
    nothing = np.empty(0, np.int64)
    shape = Shape(count, 0, count)

    def job() -> float:
        state = technique.start(operator, shape)
        technique.advance(operator, state, partials[: count - 1], nothing, nothing)
        rest = partials[count - 1 :]
        return seconds(lambda: technique.advance(operator, state, rest, lo, hi, of, out)) / len(lo) * 1e9

    job()
    checked(operator, partials, lo, hi, out)
    return job


def latency(say: Callable[[str], None]) -> dict[str, dict[str, float]]:
    """One slide at a time over a window of 4,096."""
    size, count = 4_096, 40_000
    say(f"\nlatency of one slide and answer, max, window of {size:,}: microseconds, the empty call taken off")
    say(f"  {'':<20}{'p50':>10}{'p99':>10}{'p99.9':>10}{'slowest':>10}")
    operator, partials = inputs("max", doubles(count))
    found = {}
    for technique in FOLDING:
        if serves(technique, operator) and technique.name != "panes":
            net = one_by_one(technique, operator, partials, size)
            row = {name: float(np.percentile(net, q)) for name, q in (("p50", 50), ("p99", 99), ("p99.9", 99.9))}
            found[technique.name] = {**row, "slowest": float(net.max())}
            say(f"  {technique.name:<20}" + "".join(f"{value:>10.2f}" for value in found[technique.name].values()))
    return found


def one_by_one(technique: Technique, operator: Operator, partials: Matrix, size: int) -> np.ndarray[Any, Any]:
    """Microseconds of every slide, without what it costs to call a kernel that has nothing to do."""
    lo, hi, of = windows(len(partials), (size,))
    nothing, empty, out = np.empty(0, np.int64), partials[:0], np.empty((1, 1), np.int64)
    state: State = technique.start(operator, Shape(size, widths=(size,)))
    technique.advance(operator, state, partials[: size - 1], nothing, nothing)
    took, idle = [], []
    for j in range(len(lo)):
        part = partials[size - 1 + j : size + j], lo[j : j + 1], hi[j : j + 1], of[j : j + 1]
        begin = time.perf_counter_ns()
        technique.slide(operator, state, *part, out)
        took.append(time.perf_counter_ns() - begin)
    for _ in range(2_000):
        begin = time.perf_counter_ns()
        technique.slide(operator, state, empty, nothing, nothing, nothing, out[:0])
        idle.append(time.perf_counter_ns() - begin)
    net: np.ndarray[Any, Any] = (np.array(took) - median(idle)) / 1e3
    return net


def guard(runs: int, say: Callable[[str], None]) -> dict[str, float]:
    """What it costs not to subtract floats."""
    operator, partials = inputs("sum", doubles(2_000_000))
    unguarded = replace(BY_NAME["subtract_on_evict"], needs=frozenset())
    jobs = {"plain subtraction": slides(unguarded, operator, partials, 1_024)}
    for name in ("two_stacks_lite", "disjoint_table", "daba_lite"):
        jobs[name] = slides(BY_NAME[name], operator, partials, 1_024)
    found = best_of(jobs, runs)
    say("\nsum of doubles, window of 1,024: what it costs not to subtract (nanoseconds per slide)")
    for name, nanoseconds in found.items():
        say(f"  {name:<20}{nanoseconds:>10.2f}   {nanoseconds / found['plain subtraction']:.2f} x plain subtraction")
    return found


def quantiles(runs: int, say: Callable[[str], None]) -> dict[int, dict[str, float]]:
    """The median of every window, each slide."""
    say("\nmedian of a window at every slide: microseconds per answer")
    found = {}
    for size in (100, 1_000, 10_000, 100_000):
        found[size] = best_of(medians(size), runs)
        kept, sorting = found[size]["b_int_qnt"], found[size]["sorting"]
        say(f"  window {size:>9,}   b_int_qnt {kept:>9.2f}   sorting {sorting:>9.2f}   {sorting / kept:,.1f} x")
    return found


def medians(size: int) -> dict[str, Callable[[], float]]:
    """Two jobs: microseconds per median, kept up and sorted anew."""
    technique, operator, nothing = BY_NAME["b_int_qnt"], quantile(["1/2"]), np.empty(0, np.int64)
    _, partials = inputs("max", doubles(size + max(20, 200_000 // size)))
    lo, hi, of = windows(len(partials), (size,))
    out, wanted = np.empty((len(lo), 1), np.int64), np.empty(len(lo), np.int64)

    def keep() -> float:
        state = technique.start(operator, Shape(size))
        technique.advance(operator, state, partials[: size - 1], nothing, nothing)
        rest = partials[size - 1 :]
        return seconds(lambda: technique.advance(operator, state, rest, lo, hi, of, out)) / len(lo) * 1e6

    def sort_each() -> None:
        for j, first in enumerate(lo.tolist()):
            wanted[j] = np.sort(partials[first : first + size, 0])[max(size // 2, 1) - 1]

    def sort() -> float:
        took = seconds(sort_each) / len(lo) * 1e6
        assert (wanted == out[:, 0]).all(), "a quantile differs from that of the sorted window"
        return took

    keep()
    return {"b_int_qnt": keep, "sorting": sort}


def many_keys(runs: int, say: Callable[[str], None]) -> dict[str, float]:
    """10,000 keys of 50 slices, against one key of as many slices."""
    keys, each = 10_000, 50
    say(f"\n{keys:,} keys of {each} slices each against one key of {keys * each:,}: throughput, many over one")
    found = {}
    for technique in FOLDING:
        took = best_of(dense_and_sparse(technique, keys, each), runs)
        found[technique.name] = took["one"] / took["many"]
        say(f"  {technique.name:<20}{found[technique.name]:>6.2f}")
    return found


def dense_and_sparse(technique: Technique, keys: int, each: int, size: int = 20) -> dict[str, Callable[[], float]]:
    """Two jobs over the same slices: windows of one key, and windows that end where their key begins."""
    operator, partials = inputs("integers" if serves(technique, sum_of(int, 1)) else "max", doubles(keys * each))
    hi = np.arange(1, keys * each + 1)
    begins = {"many": (hi - 1) // each * each, "one": np.zeros_like(hi)}
    out = np.empty((len(hi), 1), np.int64)

    def job(of_key: Any) -> Callable[[], float]:
        lo = np.maximum(hi - size, of_key)

        def run() -> float:
            state = technique.start(operator, Shape(size))
            return seconds(lambda: technique.advance(operator, state, partials, lo, hi, out=out))

        run()
        checked(operator, partials, lo, hi, out)
        return run

    return {name: job(of_key) for name, of_key in begins.items()}


_COMPILES = """
import sys, time
import numpy as np
from weft.algebra.operators import MAX, sum_of
from weft.techniques import BY_NAME
from weft.techniques.technique import Shape
begin = time.perf_counter()
for name in ("r_int", "disjoint_table", "two_stacks_lite"):
    for operator in (sum_of(int, 1), sum_of(int, 2), MAX):
        if BY_NAME[name].needs and operator is MAX:
            continue
        state = BY_NAME[name].start(operator, Shape(3))
        one = np.ones((3, len(operator.identity)), np.int64)
        BY_NAME[name].advance(operator, state, one, np.array([0]), np.array([3]))
print(time.perf_counter() - begin)
"""


def compiling(say: Callable[[str], None]) -> dict[str, float]:
    """Eight kernels, compiled, and found on disk by another process."""
    with tempfile.TemporaryDirectory() as cache:
        run = [sys.executable, "-c", _COMPILES]
        environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
        took = [
            float(subprocess.run(run, env=environment, capture_output=True, text=True, check=True).stdout)
            for _ in range(3)
        ]
    found = {"compiled": took[0], "found on disk": median(took[1:])}
    say(f"\neight kernels: compiled in {took[0]:.2f} s, found on disk in {found['found on disk']:.2f} s")
    return found


def main(runs: int = 3, say: Callable[[str], None] = print) -> dict[str, Any]:
    """Run it all and return the numbers."""
    result = {
        "single": single(runs, say),
        "multi": multi(runs, say),
        "latency": latency(say),
        "guard": guard(runs, say),
        "quantiles": quantiles(runs, say),
        "keys": many_keys(runs, say),
        "compiling": compiling(say),
    }
    best = {
        function: {size: min(row[size] for row in rows.values() if size in row) for size in WINDOWS}
        for function, rows in result["single"].items()
    }
    for function in ("sum", "max"):
        shown = ", ".join(f"{best[function][size]:.2f}" for size in WINDOWS)
        say(f"best technique, {function}: {shown} ns per slide")
    say(f"kept in {measure.save('techniques', result, runs >= 3).relative_to(measure.ROOT)}")
    return result
