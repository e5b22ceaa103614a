"""Roll-ups: slices by all keys of a root become slices by each set of keys that its queries group by.

    key_0   key_1   slice   partial        keys   key_0   key_1   slice   partial   rank
    AAPL    X       8:00    3              0      AAPL            8:00    8         1       {key_0}
    AAPL    Y       8:00    5        -->   0      MSFT            8:00    4         1
    MSFT    X       8:00    4              1              X       8:00    7         1       {key_1}
                                           1              Y       8:00    5         1

Every slice is repeated for the sets that are made of it, with the other keys null, and added up again in the JVM: no
event is read twice. Sets that are made of others take another round each. The partials are merged by what the same
partials of the rows would have been: the table in `series.py`. A set's number stands in `keys`, so that a group whose
key is null is not taken for one that does not group by it.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import Window as Over
from pyspark.sql import functions as F

from weft.algebra.partials import Partial
from weft.queries import expressions as ex
from weft.spark.roots import Root
from weft.spark.series import columns_of, may_overflow


def rolled_up(slices: DataFrame, root: Root, types: Mapping[ex.Expression, str]) -> DataFrame:
    """The slices of every set of keys that is asked for, ranked within their key."""
    names = [f"key_{number}" for number in range(len(root.keys))]
    marks = [name for name in slices.columns if name.startswith("signature_")]
    made = slices.withColumn("keys", F.lit(0))
    depth = [0]
    for each in root.sets[1:]:
        assert each.source is not None
        depth.append(depth[each.source] + 1)
    for level in range(max(depth)):
        made = made.withColumn("keys", F.explode(_targets(root, depth, level)))
        kept = made.select(
            "keys",
            *(_where_grouped_by(root, number, name).alias(name) for number, name in enumerate(names)),
            *(name for name in slices.columns if name not in names),
        )
        by_type = [
            (partial, None if partial.argument is None else types[partial.argument]) for partial in root.partials
        ]
        made = kept.groupBy("keys", *names, "slice", *marks).agg(*_merged(by_type, slices))
    return made.withColumn("rank", F.row_number().over(Over.partitionBy("keys", *names).orderBy("slice")))


def _targets(root: Root, depth: list[int], level: int) -> Column:
    """The sets that a row goes to: its own where that is asked for, and those made of it."""

    def going(number: int) -> Column:
        children = [child for child, each in enumerate(root.sets) if each.source == number and depth[number] == level]
        return F.array(*map(F.lit, [*([number] if root.sets[number].asked else []), *children]))

    present = [number for number in range(len(root.sets)) if depth[number] <= level]
    if len(present) == 1:
        return going(0)
    targets = F.when(F.col("keys") == present[0], going(present[0]))
    for number in present[1:]:
        targets = targets.when(F.col("keys") == number, going(number))
    return targets


def _where_grouped_by(root: Root, place: int, name: str) -> Column:
    """The key where the row's set has it, else null."""
    having = [number for number, each in enumerate(root.sets) if place in each.keys]
    return F.when(F.col("keys").isin(having), F.col(name))


def _merged(partials: list[tuple[Partial, str | None]], slices: DataFrame) -> list[Column]:
    """Partials of partials, of the types that they had."""
    found, at = [], 0
    for partial, type_ in partials:
        count = columns_of(partial.kind, type_)
        names = [f"partial_{number}" for number in range(at, at + count)]
        for name, column in zip(names, _combined(partial.kind, type_, names), strict=True):
            found.append(column.cast(slices.schema[name].dataType).alias(name))
        at += count
    return found


def _combined(kind: str, type_: str | None, names: list[str]) -> list[Column]:
    first = F.col(names[0])
    match kind:
        case "min":
            return [F.min(first)]
        case "max":
            return [F.max(first)]
        case "moments":
            return _moments(*(F.col(name) for name in names))
        case "sum" if may_overflow(kind, type_):
            # a slice that has overflowed is a null of so many values
            spoiled = F.max(first.isNull() & (F.col(names[1]) > 0))
            return [F.when(~spoiled, F.sum(first)), F.sum(names[1])]
        case _:
            return [F.sum(name) for name in names]


def _moments(count: Column, mean: Column, variance: Column) -> list[Column]:
    """Counts, means and variances merged pair by pair (Chan, Golub and LeVeque, 1983); sums of squares would cancel."""
    each = F.struct(count.cast("double").alias("n"), mean.alias("mean"), (variance * count).alias("squares"))
    some = F.collect_list(F.when(count > 0, each))
    nothing = F.struct(F.lit(0.0).alias("n"), F.lit(0.0).alias("mean"), F.lit(0.0).alias("squares"))

    def merge(left: Column, right: Column) -> Column:
        n, apart = left["n"] + right["n"], right["mean"] - left["mean"]
        return F.when(left["n"] == 0, right).otherwise(
            F.struct(
                n.alias("n"),
                (left["mean"] + apart * right["n"] / n).alias("mean"),
                (left["squares"] + right["squares"] + apart * apart * left["n"] * right["n"] / n).alias("squares"),
            )
        )

    found = F.aggregate(some, nothing, merge)
    n = found["n"]
    return [n, F.when(n > 0, found["mean"]), F.when(n > 0, found["squares"] / n)]
