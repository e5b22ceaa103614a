"""Plans become DataFrames. The only room that imports PySpark, and only its public DataFrame API.

In: a DataFrame and a `Plan`. Out: a DataFrame of answers, and the view of each query on it.

    apply.py       the door: DataFrame in, DataFrame out
    binding.py     a plan meets a schema: types, columns and their checks
    roots.py       what reads the events, and what it has to make of them
    slices.py      the events' only pass: one row per key, slice and signature, aggregated in the JVM
    signatures.py  which filters an event passes
    constants.py   expressions alike but for their constants
    columns.py     expressions as Spark columns
    clock.py       the event time in microseconds, and the slice that it falls into
    jobs.py        a root's queries, spelled out for the workers
    answers.py     slices in, answers out: what runs in the Python workers, over Arrow
    chunks.py      a worker's input cut where no key is torn apart, or torn apart safely
    lanes.py       the queries of one filter over one chunk
    series.py      Arrow columns of partials as matrices, and combined partials as values
    keys.py        which rows are of one key, and a key's hash
    emitting.py    which answers go out: all, those that changed, wide rows, records of empty windows
    wide.py        one row for each group and instant, a column for each measure
    stream/        the same plan, micro-batch by micro-batch
    bundles.py     how the long form travels from the workers
    results.py     the long form, its columns and their types
    having.py      which answers are rows at all
    view.py        the rows that one query alone would have given
    native.py      the same query by Spark's own window(): the oracle
"""

from weft.spark.apply import apply
from weft.spark.native import native
from weft.spark.view import view

__all__ = ["apply", "native", "view"]
