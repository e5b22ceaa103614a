"""A broker: Kafka in one process (KRaft), on loopback, with a folder of its own; what `make kafka` has brought."""

from __future__ import annotations

import base64
import socket
import subprocess
import time
import uuid
from pathlib import Path

JARS = Path(__file__).parents[2] / ".kafka"
CONNECTOR = ",".join(map(str, sorted((JARS / "connector").glob("*.jar"))))
MISSING = None if CONNECTOR and (JARS / "broker").is_dir() else "Kafka is not here: run make kafka, which needs mvn"
_SETTINGS = """
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs={data}
num.partitions=2
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
"""


class Broker:
    """It runs for as long as the block does."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.port, controller = _free_ports()
        self.servers = f"127.0.0.1:{self.port}"
        self._properties = folder / "server.properties"
        folder.mkdir(parents=True)
        said = _SETTINGS.format(port=self.port, controller=controller, data=folder / "data")
        self._properties.write_text(said)

    def __enter__(self) -> Broker:
        cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        java = ["java", "-Xmx384m", "-cp", f"{JARS / 'broker'}/*"]
        format_ = [*java, "kafka.tools.StorageTool", "format", "-t", cluster, "-c", str(self._properties)]
        subprocess.run(format_, check=True, capture_output=True)
        with (self._folder / "log").open("wb") as log:
            self._process = subprocess.Popen(
                [*java, "kafka.Kafka", str(self._properties)], stdout=log, stderr=log, start_new_session=True
            )
        try:
            self._wait()
        except BaseException:
            self._process.kill()
            raise
        return self

    def _wait(self) -> None:
        until = time.monotonic() + 60
        while time.monotonic() < until:
            if self._process.poll() is not None:
                raise RuntimeError((self._folder / "log").read_text()[-2000:])
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.2)
        raise TimeoutError("the broker does not listen")

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _free_ports() -> tuple[int, int]:
    with socket.socket() as one, socket.socket() as other:
        one.bind(("127.0.0.1", 0))
        other.bind(("127.0.0.1", 0))
        return one.getsockname()[1], other.getsockname()[1]
