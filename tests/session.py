"""The Spark that tests run on: small, quiet and in UTC."""

from __future__ import annotations

import os
import sys
from typing import Any

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.session.timeZone": "UTC",
}


def started(master: str = "local[2]", *, remote: bool = False) -> Any:
    """A session inside this process, or one over Spark Connect with a server that it starts."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    builder = SparkSession.builder
    builder = builder.remote(master) if remote else builder.master(master)
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()
