"""A master and a slave of one kind for the replication benchmark, with a name server of their own.

The slave finds its master by the name server, as any does. The ends of both logs are asked for by
GET_BROKER_RUNTIME_INFO: both brokers answer it alike.
"""

import json
import os
import socket
import struct
import time
from collections.abc import Mapping
from pathlib import Path

from aerobee.protocol.remoting.remoting_command import RemotingCommand, encode
from aerobee.protocol.request_codes import RequestCode
from bench.broker_cases import FREE, Placement
from bench.broker_load import Figures, run_load
from bench.broker_servers import SERVERS, NameServer, Server

TOPIC = "BenchTopic"
FOLLOW_SECONDS_MAX = 120
PAUSE_SECONDS = 0.005
COMMON: Mapping[str, object] = {
    "flushDiskType": "ASYNC_FLUSH",
    # A frozen pair must not take its link for dead when it goes on.
    "haHousekeepingInterval": 600_000,
    "slaveReadEnable": "true",
}


class PairError(Exception):
    """A slave does not follow its master."""


def log_end(port: int) -> int:
    """The end of a broker's log; 0 of one that does not answer with figures yet, as Apache's slave
    that has just started."""
    request = RemotingCommand(RequestCode.GET_BROKER_RUNTIME_INFO, opaque=1)
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(b"".join(encode(request)))
        with connection.makefile("rb") as stream:
            (size,) = struct.unpack(">i", stream.read(4))
            frame = stream.read(size)
    header_size = struct.unpack(">i", frame[:4])[0] & 0xFFFFFF
    body = frame[4 + header_size :]
    return int(json.loads(body)["table"]["commitLogMaxOffset"]) if body else 0


class Pair:
    """A master, and a slave while there is one."""

    def __init__(
        self, kind: str, program: Path, folder: Path, master: Mapping[str, object]
    ) -> None:
        self.kind = kind
        self._program = program
        self._folder = folder
        self._name_server = NameServer(folder / "nameserver", {})
        self._common = {**COMMON, "namesrvAddr": f"127.0.0.1:{self._name_server.port}"}
        self.master: Server = SERVERS[kind](folder / "master", {**self._common, **master})
        self.slave: Server | None = None
        self._must("create --queues 4", "--count 1")

    def start_slave(self) -> Server:
        """A slave in the folder that the last one has left."""
        settings = {**self._common, "brokerRole": "SLAVE", "brokerId": 1}
        self.slave = SERVERS[self.kind](self._folder / "slave", settings)
        return self.slave

    def end_slave(self) -> None:
        """Stop the slave, and keep what it has."""
        if self.slave is not None:
            self.slave.end()
            self.slave = None

    def servers(self) -> list[Server]:
        return [self.master] if self.slave is None else [self.master, self.slave]

    def stop(self) -> None:
        for server in (*self.servers(), self._name_server):
            server.stop()

    # Load.

    def load(self, arguments: str, ending: str, placement: Placement = FREE) -> Figures:
        words = [*arguments.split(), "--topic", TOPIC, *ending.split()]
        return run_load(self._program, self.master.port, words, placement.load)

    def _must(self, arguments: str, ending: str) -> Figures:
        figures = self.load(arguments, ending)
        if figures["errors"]:
            raise PairError(f"{self.kind}, {arguments}: {figures['error']}")
        return figures

    def fill(self, body: int, log_bytes: int) -> int:
        """Make the log longer by so many bytes or a little more; the number of messages."""
        end = log_end(self.master.port) + log_bytes
        arguments = f"batch --connections 4 --in-flight 16 --body {body}"
        ending = f"--count {64 + log_bytes // 32 // body // 20}"
        count = 0
        while log_end(self.master.port) < end:
            filled: int = self.load(arguments, ending)["count"]  # some are refused by a slow disk
            if not filled:
                raise PairError(f"{self.kind}: no batch is taken")
            count += filled
        return count

    # Following.

    def until_followed(self) -> None:
        """Wait until the slave has what the master has, and shows it to consumers."""
        if self.slave is None:
            return
        due = time.monotonic() + FOLLOW_SECONDS_MAX
        while not self._is_followed():
            if time.monotonic() > due:
                raise PairError(f"{self.kind}: the slave does not follow")
            time.sleep(PAUSE_SECONDS)

    def _is_followed(self) -> bool:
        assert self.slave is not None
        return log_end(self.slave.port) == log_end(self.master.port) > 0

    def until_ready(self) -> None:
        """Wait until sends are taken, followed, and can be read on the slave."""
        due = time.monotonic() + FOLLOW_SECONDS_MAX
        while self.load("send", "--count 400 --patience 4")["errors"] or not self._is_read():
            if time.monotonic() > due:
                raise PairError(f"{self.kind}: no sends, or the slave does not show them")
            time.sleep(0.5)

    def _is_read(self) -> bool:
        if self.slave is None:
            return True
        self.until_followed()
        words = f"pull --in-flight 4 --count 16 --topic {TOPIC}".split()
        return not run_load(self._program, self.slave.port, words, FREE.load)["errors"]

    # Measuring.

    def place(self, placement: Placement) -> None:
        """The master on the server's cores, the slave beside the generator."""
        self.master.place(placement.server)
        if self.slave is not None:
            self.slave.place(placement.load)

    def freeze(self) -> None:
        for server in self.servers():
            server.freeze()
        os.sync()  # what one wrote is not the next one's to wait for

    def thaw(self) -> None:
        for server in self.servers():
            server.thaw()
        self.until_followed()

    def cpu_seconds(self) -> list[float]:
        """Of the master, and of the slave if there is one."""
        return [server.cpu_seconds() for server in self.servers()]
