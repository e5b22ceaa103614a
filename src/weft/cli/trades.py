"""Trades: the demo's stream and the demo's workload. One seed gives one stream and one workload.

An hour of trades of some symbols at three venues, a few of them out of order; and queries as a trading desk piles them
up over the years: the same few questions, over whatever range and slide somebody thought right.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import weft

SECONDS = 3600
_BEGIN = 1_735_804_800_000_000  # 2025-01-02 08:00 UTC
_FILES = 4
_VENUES = ("XLON", "XNAS", "XNYS")
_MEASURES = {
    "high": "max(price) AS high",
    "low": "min(price) AS low",
    "mean": "avg(price) AS mean",
    "swing": "max(price) - min(price) AS swing",
    "vwap": "sum(price * volume) / sum(volume) AS vwap",
    "spread": "stddev_samp(price) AS spread",
    "volume": "sum(volume) AS volume",
    "size": "avg(volume) AS size",
    "trades": "count(*) AS trades",
}
_FILTERS = {"": None, "large": "volume >= 500", "nasdaq": "venue = 'XNAS'", "cheap": "price < 100 AND volume < 300"}
_SLIDES = (10, 15, 20, 30, 45, 60, 90, 120)
_RATIOS = (1, 1.5, 2, 2.5, 3, 4, 5, 8)  # a range need not be a multiple of its slide


def write(folder: Path, rows: int, keys: int, seed: int) -> None:
    """The stream, as Parquet."""
    random = np.random.default_rng(seed)
    symbols = pa.array([f"S{number:04d}" for number in range(keys)])
    base = random.uniform(20, 400, keys)
    folder.mkdir(parents=True)
    for number, part in enumerate(np.array_split(np.arange(rows, dtype=np.int64), _FILES)):
        symbol = (random.random(len(part)) ** 1.5 * keys).astype(np.int64)
        at = part * (SECONDS * 1_000_000) // max(rows, 1) - random.integers(0, 2_000_000, len(part))
        price = base[symbol] * (1 + 0.02 * np.sin(at / 3e8 + symbol) + random.normal(0, 0.002, len(part)))
        pq.write_table(
            pa.table(
                {
                    "ts": pa.array(np.maximum(at, 0) + _BEGIN).cast(pa.timestamp("us", "UTC")),
                    "symbol": symbols.take(pa.array(symbol)),
                    "venue": pa.array(_VENUES).take(pa.array(random.integers(0, len(_VENUES), len(part)))),
                    "price": np.round(price, 2),
                    "volume": random.integers(1, 1000, len(part)),
                }
            ),
            folder / f"part-{number}.parquet",
        )


def workload(count: int, seed: int) -> weft.Workload:
    """So many different queries."""
    random = np.random.default_rng(seed)
    queries: dict[str, weft.Query] = {}
    while len(queries) < count:
        name, measure = list(_MEASURES.items())[random.integers(len(_MEASURES))]
        slide = int(random.choice(_SLIDES))
        size = int(slide * random.choice(_RATIOS))
        label, where = list(_FILTERS.items())[random.choice(len(_FILTERS), p=(0.55, 0.15, 0.15, 0.15))]
        whole, busy, offset = (bool(drawn) for drawn in random.random(3) < (0.15, 0.1, 0.1))
        shift = slide // 5 if offset else 0
        parts = [name, label, whole and "all", busy and "busy", f"{size}s_every_{slide}s", shift and f"at_{shift}s"]
        id_ = "_".join(str(part) for part in parts if part)
        if id_ in queries:  # after the different ones, the same again under another name, as in any old workload
            id_ = f"{id_}_{len(queries)}"
        queries[id_] = weft.Query(
            id_,
            measure,
            weft.Window(f"{size} s", f"{slide} s", f"{shift} s"),
            where=where,
            group_by=() if whole else "symbol",
            having="count(*) >= 5" if busy else None,
            time="ts",
            source="trades",
        )
    return weft.Workload(queries.values())
