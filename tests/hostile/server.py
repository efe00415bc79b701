"""A name server and a broker in one real process, perhaps a proxy in another, somebody who uses
them properly all the while, and what is asked of the process when everything is over.
"""

import itertools
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from aerobee.protocol.message.stored_message import decode_records
from aerobee.protocol.remoting.remoting_command import RemotingCommand, encode
from tests.process_kit import PATIENT, SECONDS_MAX
from tests.wire_client import WireClient

MIB = 1 << 20
SMALL = {
    "AEROBEE_BROKER_MAPPED_FILE_SIZE_COMMIT_LOG": str(16 * MIB),
    "AEROBEE_BROKER_MAPPED_FILE_SIZE_CONSUME_QUEUE": "20000",
    "AEROBEE_BROKER_MAX_HASH_SLOT_NUM": "1000",
    "AEROBEE_BROKER_MAX_INDEX_NUM": "4000",
}
READY_LINE = re.compile(r"(\w+) [^ ,]+:(\d+)")


class Running:
    """One process; its log is a file, because a pipe that nobody reads would stop it."""

    broker: int
    nameserver: int
    grpc: int

    def __init__(self, folder: Path, *words: str, **environment: str) -> None:
        """`words` are those of the command line; any free port, unless they name one."""
        if "--port" not in words:
            words = (*words, "--port", "0")
        folder.mkdir(exist_ok=True)
        self._log = folder / "log"
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "aerobee.cli.main", *words],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env={**os.environ, **PATIENT, **SMALL, "HOME": str(folder), **environment},
            )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line.startswith("ready: "), self.log()
        self.ports = {name: int(port) for name, port in READY_LINE.findall(line)}

    def log(self) -> str:
        return self._log.read_text(errors="replace")

    def anonymous_bytes(self) -> int:
        """Memory that is its own: no mapped file counts."""
        text = Path(f"/proc/{self.process.pid}/smaps_rollup").read_text()
        found = re.search(r"^Anonymous: +(\d+) kB$", text, re.MULTILINE)
        assert found is not None
        return int(found[1]) * 1024

    def resident_bytes(self) -> int:
        """The same, near enough and quickly."""
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        found = re.search(r"^RssAnon:\s+(\d+) kB$", text, re.MULTILINE)
        assert found is not None
        return int(found[1]) * 1024

    def is_alive(self) -> bool:
        return self.process.poll() is None

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.communicate(timeout=SECONDS_MAX)
        finally:
            self.process.kill()
        return self.process.returncode


class Server(Running):
    """A name server and a broker."""

    def __init__(self, folder: Path, **environment: str) -> None:
        words = ("up", "--store", str(folder), "--nameserver-port", "0", "--verbose")
        super().__init__(folder, *words, **environment)
        self.broker, self.nameserver = self.ports["broker"], self.ports["nameserver"]
        self.grpc = self.ports["gRPC"]


class Proxy(Running):
    """A proxy in front of such a server."""

    def __init__(self, folder: Path, server: Server, **environment: str) -> None:
        words = ("proxy", "start", "-n", f"127.0.0.1:{server.nameserver}")
        super().__init__(folder, *words, **environment)
        self.broker, self.nameserver = server.broker, server.nameserver
        self.grpc = self.ports["proxy"]


class Citizen:
    """Sends, pulls what it sent, beats and asks for its route, over and over: whatever goes wrong
    for it is a fault of the server's, because it does nothing wrong itself."""

    TOPIC = "Citizen"

    def __init__(self, server: Running) -> None:
        self._server = server
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._live)
        self._rounded = threading.Condition()
        self.acknowledged: list[bytes] = []
        self.faults: list[str] = []
        self.busy = 0
        """How often it was told that the disk is behind."""
        self.longest_s = 0.0
        self.most_bytes = 0

    def __enter__(self) -> "Citizen":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()

    def rounds(self) -> int:
        return len(self.acknowledged)

    def await_rounds(self, count: int) -> None:
        """Until it was served so often again, or went wrong."""
        end = self.rounds() + count
        with self._rounded:
            self._rounded.wait_for(
                lambda: self.rounds() >= end or not self._thread.is_alive(), timeout=SECONDS_MAX
            )

    def stored(self) -> list[bytes]:
        """What the topic holds now, in order."""
        bodies: list[bytes] = []
        with WireClient(self._server.broker) as client:
            while True:
                pulled = client.ask(11, pull_fields(self.TOPIC, "citizens", len(bodies)))
                if pulled.code == 19:
                    return bodies
                assert pulled.code == 0, pulled.remark
                bodies += [message.body for message in decode_records(bytes(pulled.body))]

    def _live(self) -> None:
        try:
            with (
                WireClient(self._server.broker) as messages,
                WireClient(self._server.broker) as beats,
                WireClient(self._server.nameserver) as routes,
            ):
                for number in itertools.count():
                    self._round(number, messages, beats, routes)
                    if self._is_over.wait(0.01):
                        return
        except (OSError, AssertionError, LookupError) as error:
            self.faults.append(repr(error))

    def _round(
        self, number: int, messages: WireClient, beats: WireClient, routes: WireClient
    ) -> None:
        body = b"message %d" % number
        sent = self._ask(messages, 310, send_fields(self.TOPIC), body)
        if sent.code == BUSY:
            self.busy += 1
            return
        if sent.code == 0:
            self.acknowledged.append(body)
        offset = int(sent.ext_fields["queueOffset"])
        pulled = self._ask(messages, 11, pull_fields(self.TOPIC, "citizens", offset))
        if [message.body for message in decode_records(bytes(pulled.body))] != [body]:
            self.faults.append(f"{body!r} was not read again")
        if number % 20 == 0:
            self._ask(beats, 34, {}, heartbeat("citizen", "citizens", self.TOPIC))
            self._ask(routes, 105, {"topic": "TBW102"})
        self.most_bytes = max(self.most_bytes, self._server.resident_bytes())
        with self._rounded:
            self._rounded.notify_all()

    def _ask(
        self, client: WireClient, code: int, fields: dict[str, str], body: bytes = b""
    ) -> RemotingCommand:
        began = time.monotonic()
        command = RemotingCommand(code, opaque=code, ext_fields=fields, body=body)
        client.write(b"".join(encode(command)))
        answer = client.read()
        while answer is not None and not answer.is_response:  # news of its group
            answer = client.read()
        assert answer is not None, "the connection was closed"
        self.longest_s = max(self.longest_s, time.monotonic() - began)
        if answer.code not in (0, BUSY):
            self.faults.append(f"{code}: {answer.code} {answer.remark}")
        return answer


BUSY = 2
DELAY_S_MAX = 15.0
"""What a citizen may have to wait for an answer, on a machine that does other things as well."""


@contextmanager
def undisturbed(
    server: Running,
    *,
    grown_bytes_max: int,
    peak_bytes_max: int | None = None,
    is_disk_busy: bool = False,
) -> Iterator[Citizen]:
    """Whatever happens inside, a citizen has seen no error and no long delay of it, the store holds
    what it was promised, the process lives, says nothing of mistakes of its own and is not much
    larger than before; at no time was it larger than the peak says. Where tables of megabytes are
    written over and over the disk may be behind, and a citizen is told to try again."""
    before = server.anonymous_bytes()
    with Citizen(server) as citizen:
        yield citizen
        citizen.await_rounds(2)
    assert server.is_alive(), server.log()[-4000:]
    assert citizen.faults == [], citizen.faults[:5]
    assert is_disk_busy or citizen.busy == 0, f"told {citizen.busy} times that the disk is behind"
    assert citizen.longest_s < DELAY_S_MAX, f"{citizen.longest_s:.1f} s"
    stored = citizen.stored()
    assert stored[len(stored) - citizen.rounds() :] == citizen.acknowledged
    for complaint in ("Traceback", "a handler failed", "a tick failed", "internal error"):
        assert complaint not in server.log(), server.log()[-4000:]
    grown, peak = server.anonymous_bytes() - before, citizen.most_bytes - before
    assert grown < grown_bytes_max, f"{grown >> 20} MiB more than before"
    if peak_bytes_max is not None:
        assert peak < peak_bytes_max, f"{peak >> 20} MiB more for a while"


def send_fields(topic: str, **fields: object) -> dict[str, str]:
    said: dict[str, object] = {
        "a": "producers",
        "b": topic,
        "c": "TBW102",
        "d": 1,
        "e": 0,
        "f": 0,
        "g": 1_700_000_000_000,
        "h": 0,
        "i": "UNIQ_KEY\x010A\x02",
        "j": 0,
        "k": "false",
        "m": "false",
    }
    return {name: str(value) for name, value in (said | fields).items()}


def pull_fields(topic: str, group: str, offset: int, **fields: object) -> dict[str, str]:
    said: dict[str, object] = {
        "consumerGroup": group,
        "topic": topic,
        "queueId": 0,
        "queueOffset": offset,
        "maxMsgNums": 32,
        "sysFlag": 4,
        "commitOffset": 0,
        "suspendTimeoutMillis": 0,
        "subscription": "*",
        "subVersion": 0,
        "expressionType": "TAG",
    }
    return {name: str(value) for name, value in (said | fields).items()}


def heartbeat(client_id: str, group: str, *topics: str, expression: str = "*") -> bytes:
    subscriptions = [{"topic": topic, "subString": expression} for topic in topics]
    consumer = {"groupName": group, "subscriptionDataSet": subscriptions}
    return json.dumps({"clientID": client_id, "consumerDataSet": [consumer]}).encode()
