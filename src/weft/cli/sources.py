"""Sources: where a stream's events come from: a folder that files appear in, Kafka, or Spark's own clock.

    a folder   files in one of the formats of `weft run`, with the columns of --schema, or of the files that are there
    kafka      the columns of --schema out of the JSON in each record's value, and Kafka's own as kafka_key,
               kafka_timestamp, kafka_topic, kafka_partition and kafka_offset
    rate       timestamp and value, made up at so many rows per second

Options go to Spark's source as they are.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

import pyspark
from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from weft.cli import events
from weft.cli.stream import KAFKA, RATE
from weft.errors import BadRequest
from weft.spark.binding import first_line

_SERVERS = "kafka.bootstrap.servers"
_TOPICS = ("subscribe", "subscribePattern", "assign")
_OWN = ("timestamp", "topic", "partition", "offset")


def check(source: str, options: Mapping[str, str], schema: str | None, format: str | None) -> None:
    """Refuse what cannot work, before Spark takes its time to start."""
    if source == KAFKA:
        need(KAFKA, "--from-option", options, (_SERVERS,), "localhost:9092")
        need(KAFKA, "--from-option", options, _TOPICS, "trades")
        if schema is None:
            raise BadRequest(
                "a record's value is text, and nobody says which columns are in it",
                field="--schema",
                remedy="Write --schema 'ts timestamp, symbol string, price double'",
            )
    if source == RATE and schema is not None:
        raise BadRequest("the rate source has its own columns", field="--schema", remedy="Leave it out")
    if source in (KAFKA, RATE):
        if format is not None:
            raise BadRequest(f"{source} has no files", field="--format", remedy="Leave it out")
    elif events.is_local(source) and not events.local(source).is_dir():
        raise BadRequest(
            f"there is no folder '{source}'",
            field="--from",
            remedy="Give a folder that files appear in, kafka or rate",
        )
    elif format is None:
        events.guessed(source)
    elif format not in events.FORMATS:
        raise BadRequest(f"'{format}' is no format", field="--format", remedy=f"Use one of {', '.join(events.FORMATS)}")


def need(kind: str, option: str, given: Mapping[str, str], names: tuple[str, ...], example: str) -> None:
    """Refuse options that lack what Kafka cannot do without. Spark takes their names in any case."""
    if not {name.lower() for name in names} & {name.lower() for name in given}:
        raise BadRequest(
            f"{kind} needs {' or '.join(names)}", field=option, remedy=f"Write {option} {names[0]}={example}"
        )


def columns(spark: SparkSession, source: str, told: str | None, format: str | None) -> T.StructType | None:
    """The events' columns: as told, in DDL or as a schema's JSON, or of the files there; None for the rate's own."""
    if source == RATE:
        return None
    if told is None:
        return events.read(spark, source, format, {}).schema
    if told.startswith("{"):
        return T.StructType.fromJson(json.loads(told))
    try:
        return spark.createDataFrame([], told).schema
    except (ParseException, AnalysisException) as error:
        raise BadRequest(
            f"'{told}' is no list of columns ({first_line(error)})",
            field="--schema",
            remedy="Write --schema 'ts timestamp, symbol string, price double'",
        ) from None


def read(
    spark: SparkSession,
    source: str,
    options: Mapping[str, str],
    columns: T.StructType | None,
    format: str | None,
    types: Mapping[str, str],
) -> DataFrame:
    """The stream of events."""
    if columns is None or source == KAFKA:
        df = _loaded(spark.readStream.format(source).options(**options), source)
        if columns is not None:
            df = _values(df, columns)
    else:
        format = format or events.guessed(source)
        reader = spark.readStream.format(format).options(**{**events.READING.get(format, {}), **options})
        df = _loaded(reader.schema(columns).option("path", source), source)
    return events.cast(df, types)


def files(
    spark: SparkSession, source: str, columns: T.StructType | None, format: str | None, types: Mapping[str, str]
) -> DataFrame | None:
    """What is in the folder now, to be measured; None where there is no folder."""
    if columns is None or source == KAFKA:
        return None
    format = format or events.guessed(source)
    reader = spark.read.format(format).options(**events.READING.get(format, {}))
    return events.cast(reader.schema(columns).load(source), types)


def _loaded(reader: object, source: str) -> DataFrame:
    try:
        return reader.load()  # type: ignore[attr-defined, no-any-return]
    except Exception as error:  # of many types: Spark asks the source, and that asks Kafka's own classes
        raise told(error, source, "--from-option") from None


def told(error: Exception, kind: str, field: str) -> Exception:
    """What to raise where Spark cannot load a source or a sink: for Kafka, which package is missing."""
    text = str(error)
    if kind == KAFKA and ("DATA_SOURCE_NOT_FOUND" in text or "Failed to find" in text or "ClassNotFound" in text):
        return missing_connector()
    if isinstance(error, (AnalysisException, ParseException)) or "IllegalArgument" in type(error).__name__:
        said = text.strip().splitlines()[0].split(" SQLSTATE")[0].rstrip(".")
        return BadRequest(said, field=field, remedy=f"Look it up in Spark's documentation of {kind}")
    return error


def missing_connector() -> BadRequest:
    """Spark comes without Kafka."""
    package = f"org.apache.spark:spark-sql-kafka-0-10_2.13:{pyspark.__version__}"
    return BadRequest(
        "Spark's Kafka connector is not on the class path",
        field=KAFKA,
        remedy=f"Add --conf spark.jars.packages={package}, or --conf spark.jars= and its jars",
    )


def _values(records: DataFrame, columns: T.StructType) -> DataFrame:
    event = F.from_json(F.col("value").cast("string"), columns)
    own = [F.col("key").cast("string").alias("kafka_key"), *(F.col(n).alias(f"kafka_{n}") for n in _OWN)]
    mine = records.select(event.alias("event"), *own)
    taken = {name.lower() for name in columns.names}
    return mine.select("event.*", *(name for name in mine.columns[1:] if name.lower() not in taken))
