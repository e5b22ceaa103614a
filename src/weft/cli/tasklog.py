"""Tasklog: how many tasks Spark has finished, read from its event log while it is being written.

The log is a documented file of one JSON object per line (`spark.eventLog.*`), so it says the truth about a local
session without any way into the JVM.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

_BEGUN = '{"Event":"SparkListenerJobStart"'
_SUBMITTED = '{"Event":"SparkListenerStageSubmitted"'
_FINISHED = '{"Event":"SparkListenerTaskEnd"'


@dataclass
class TaskLog:
    """The event log of one session. `read` goes on where it left off."""

    folder: Path
    finished: int = 0
    _stages: dict[int, int] = field(default_factory=dict)
    _file: IO[str] | None = None
    _rest: str = ""

    @property
    def known(self) -> int:
        """Tasks of all stages that have been submitted."""
        return sum(self._stages.values())

    def restart(self) -> None:
        """Forget what has been counted so far."""
        self.read()
        self._stages, self.finished = {}, 0

    def read(self) -> None:
        """Count what has been written since."""
        if self._file is None:
            found = [path for path in self.folder.iterdir() if path.is_file() and not path.name.startswith(".")]
            if not found:
                return
            self._file = found[0].open(encoding="utf-8", errors="replace")
        *lines, self._rest = (self._rest + self._file.read()).split("\n")
        for line in lines:
            if line.startswith(_FINISHED):
                self.finished += 1
            elif line.startswith((_BEGUN, _SUBMITTED)):
                self._stages |= _submitted(line)

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()


def _submitted(line: str) -> dict[int, int]:
    """The tasks of a stage that is going to run, by its number.

    Spark flushes the log when a job starts, and not when a stage does. Of a job's stages the last one always runs;
    those before it may have been run by an earlier job.
    """
    try:
        event = json.loads(line)
        stages = [event["Stage Info"]] if "Stage Info" in event else event["Stage Infos"]
        last = max(stages, key=lambda stage: int(stage["Stage ID"]))
        return {int(last["Stage ID"]): int(last["Number of Tasks"])}
    except (ValueError, KeyError):
        return {}
