"""Events: a folder of rows to a DataFrame, and the little of it that a plan wants to know beforehand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

from pyspark.errors import AnalysisException, ParseException, PySparkException
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

import weft
from weft.errors import BadRequest
from weft.plans.stats import in_lower_case
from weft.queries import expressions as ex
from weft.spark import clock, columns
from weft.spark.binding import first_line

FORMATS = ("parquet", "csv", "json", "orc")
READING = {"csv": {"header": "true", "inferSchema": "true"}, "json": {"inferTimestamp": "true"}}
_ENDINGS = {".parquet": "parquet", ".csv": "csv", ".json": "json", ".jsonl": "json", ".ndjson": "json", ".orc": "orc"}
_PACKED = (".gz", ".bz2", ".zst", ".snappy", ".lz4", ".deflate")


def read(spark: SparkSession, path: str, format: str | None, types: Mapping[str, str]) -> DataFrame:
    """The rows in a file or folder, some columns cast to other types."""
    format = format or guessed(path)
    if format not in FORMATS:
        raise BadRequest(f"'{format}' is no format", field="--format", remedy=f"Use one of {', '.join(FORMATS)}")
    if is_local(path) and not local(path).exists():
        raise BadRequest(f"there is nothing at '{path}'", field="--from", remedy="Check the path")
    try:
        df = spark.read.options(**READING.get(format, {})).format(format).load(path)
    except AnalysisException as error:
        raise BadRequest(
            f"Spark cannot read '{path}' as {format} ({first_line(error)})",
            field="--from",
            remedy="Check the path and --format",
        ) from None
    return cast(df, types)


def cast(df: DataFrame, types: Mapping[str, str]) -> DataFrame:
    """The rows with some columns cast to other types."""
    for name, type_ in types.items():
        if name.lower() not in {column.lower() for column in df.columns}:
            raise BadRequest(
                f"there is no column '{name}'", field="--types", remedy=f"There are {', '.join(df.columns[:8])}"
            )
        try:
            df = df.withColumn(name, columns.column(ex.Column((name,))).cast(type_))
            df.schema  # noqa: B018 - asks Spark whether it can
        except (AnalysisException, ParseException) as error:
            raise BadRequest(first_line(error), field=f"--types {name}={type_}", remedy="Give another type") from None
    return df


def guessed(path: str) -> str:
    """The format that the names of the files tell."""
    if not is_local(path):
        raise BadRequest(
            f"'{path}' is not on this machine, so nobody looks inside", field="--from", remedy="Add --format parquet"
        )
    place = local(path)
    if not place.exists():
        raise BadRequest(f"there is nothing at '{path}'", field="--from", remedy="Check the path")
    files = [place] if place.is_file() else [p for p in place.rglob("*") if p.is_file() and _counts(p, place)]
    endings = Counter(format for file in files if (format := _format(file)))
    if len(endings) == 1:
        return next(iter(endings))
    rule = f"holds files of {len(endings)} formats" if endings else "holds no file whose name tells its format"
    raise BadRequest(f"'{path}' {rule}", field="--from", remedy=f"Add --format, one of {', '.join(FORMATS)}")


def _counts(file: Path, root: Path) -> bool:
    return not any(part.startswith(("_", ".")) for part in file.relative_to(root).parts)


def _format(file: Path) -> str | None:
    name = file.name.lower()
    for packed in _PACKED:
        name = name.removesuffix(packed)
    return next((kind for ending, kind in _ENDINGS.items() if name.endswith(ending)), None)


def is_local(path: str) -> bool:
    """Whether a path is one of this machine's file system."""
    return ("://" not in path and not path.startswith("file:")) or path.startswith("file:/")


def local(path: str) -> Path:
    """A local path, also when it is written as a URI."""
    return Path("/" + path.removeprefix("file:").lstrip("/") if path.startswith("file:") else path)


def types(df: DataFrame) -> dict[str, str]:
    """The Spark types of all columns, by name."""
    return {field.name: field.dataType.simpleString() for field in df.schema.fields}


def measured(
    df: DataFrame, workload: weft.Workload, time: str | None
) -> tuple[Fraction | None, int | dict[str, int] | None]:
    """Rows per second of event time and distinct keys, roughly, from one small job.

    Where there are several GROUP BYs, or some and none, the keys are those of each, and of all together. What cannot be
    known is None: an empty stream has no rate. A column that is not there, or of a wrong type, is none of our business
    here: `weft.apply` says so better.
    """
    at = workload.time or next((q.time for q in workload.prototypes if q.time is not None), None)
    at = at or clock.named(time)
    groups = list({in_lower_case(q.group_by): q.group_by for q in workload.prototypes if q.group_by}.values())
    if at is None:
        return None, None
    try:
        if not isinstance(df.select(columns.column(at)).schema[0].dataType, _TIMES):
            return None, None
        together = tuple({in_lower_case([key]): key for keys in groups for key in keys}.values())
        asked = groups if len(together) == max(map(len, groups), default=0) else [*groups, together]
        rows, micros, *distinct = _counted(df, at, asked)
    except AnalysisException:
        return None, None
    except PySparkException:  # a key that raises for rows which its query's own filter keeps away
        asked = [keys for keys in groups if all(isinstance(key, ex.Column) for key in keys)]
        rows, micros, *distinct = _counted(df, at, asked)
    rate = Fraction(rows * 1_000_000, micros).limit_denominator(1000) if rows and micros else None
    several = len({in_lower_case(prototype.group_by) for prototype in workload.prototypes}) > 1
    if several and len(asked) >= len(groups) and all(distinct):
        return rate or None, {
            ", ".join(map(ex.to_sql, keys)): count for keys, count in zip(asked, distinct, strict=True)
        }
    return rate or None, max(distinct, default=1) or None


def _counted(df: DataFrame, at: ex.Column, groups: list[tuple[ex.Expression, ...]]) -> Row:
    """Rows, the microseconds that they span, and how many different keys each GROUP BY finds."""
    moment = columns.column(at).cast("timestamp")
    found: Row = df.agg(
        F.count(moment),
        (F.unix_micros(F.max(moment)) - F.unix_micros(F.min(moment))),
        *(F.approx_count_distinct(F.struct(*map(columns.column, keys))) for keys in groups),
    ).collect()[0]
    return found


_TIMES = (T.TimestampType, T.TimestampNTZType, T.DateType)
