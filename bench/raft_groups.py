"""Three brokers of one kind that elect their leader: our Raft group, or Apache's DLedger mode.

    group = Group("aerobee", program, folder)
    group.kill_leader(); …; group.start_missing()

All are processes on this machine, with a name server of ours. The leader is the one that the name
server has as master.
"""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from aerobee import connect_sync
from aerobee.errors import AerobeeError
from bench.broker_cases import FREE
from bench.broker_load import Figures, run_load
from bench.broker_servers import Aerobee, Apache, NameServer, Server, free_port
from bench.replication_pairs import log_end

MEMBERS = 3
NAME = "broker-a"
TOPIC = "BenchTopic"
LEADER_SECONDS_MAX = 120.0
_PAUSE_SECONDS = 0.05


class ApacheMember(Apache):
    """Three of them share a machine: each has a smaller heap than one alone."""

    title = "Apache 5.5.0, DLedger"
    jvm_options = (
        Apache.jvm_options.replace("-Xms4g -Xmx4g", "-Xms1g -Xmx1g")
        .replace("-XX:MaxDirectMemorySize=4g", "-XX:MaxDirectMemorySize=1g")
        .replace("-XX:+AlwaysPreTouch ", "")
    )


class AerobeeMember(Aerobee):
    title = "Aerobee, Raft"


KINDS: Mapping[str, type[Server]] = {"aerobee": AerobeeMember, "apache": ApacheMember}


class GroupError(Exception):
    """A group has no leader, or does not become whole."""


class Group:
    def __init__(
        self, kind: str, program: Path, folder: Path, *, absent: Sequence[int] = ()
    ) -> None:
        """`absent`: members that are not started before `start_missing` is called again."""
        self.kind = kind
        self._absent = absent
        self._program = program
        self._folder = folder
        self._name_server = NameServer(folder / "nameserver", {})
        self.name_server = f"127.0.0.1:{self._name_server.port}"
        self._peers = ";".join(f"n{node}-127.0.0.1:{free_port()}" for node in range(MEMBERS))
        self._ports = [free_port() for _ in range(MEMBERS)]
        self._running: dict[int, Server] = {}
        try:
            self.start_missing(but=absent)
            self.until_whole()
            for port in [self._ports[node] for node in self._running]:
                self._must(port, "create --queues 4", "--count 1")
            self.until_whole()
        except BaseException:
            self.stop()
            raise

    def start_missing(self, *, but: Sequence[int] = ()) -> None:
        self._absent = but
        for node in range(MEMBERS):
            if node not in self._running and node not in but:
                self._running[node] = self._start(node)

    def _start(self, node: int) -> Server:
        settings = {
            "brokerName": NAME,
            "namesrvAddr": self.name_server,
            "enableDLegerCommitLog": "true",
            "dLegerGroup": NAME,
            "dLegerPeers": self._peers,
            "dLegerSelfId": f"n{node}",
        }
        folder = self._folder / f"n{node}"
        return KINDS[self.kind](folder, settings, self._ports[node])

    def stop(self) -> None:
        for server in (*self._running.values(), self._name_server):
            server.stop()

    # Who leads.

    def find_leader(self) -> int | None:
        """The member that the name server has as master, if it runs."""
        try:
            with connect_sync(self.name_server, timeout=5) as client:
                brokers = client.admin.cluster().brokers
        except AerobeeError:
            return None
        for broker in brokers:
            address = broker.addresses.get(0, "")
            port = int(address.rpartition(":")[2] or 0)
            if broker.name == NAME and port in self._ports:
                node = self._ports.index(port)
                return node if node in self._running else None
        return None

    def leader(self) -> int:
        due = time.monotonic() + LEADER_SECONDS_MAX
        while (found := self.find_leader()) is None:
            if time.monotonic() > due:
                raise GroupError(f"{self.kind}: nobody leads")
            time.sleep(_PAUSE_SECONDS)
        return found

    def kill_leader(self) -> list[int]:
        """Kill the leader; returns the ports of the others."""
        node = self.leader()
        self._running.pop(node).kill()
        return [self._ports[one] for one in self._running]

    def until_whole(self) -> None:
        """Until all members have what the leader has: a kill before would leave no majority."""
        due = time.monotonic() + LEADER_SECONDS_MAX
        while not self._is_whole():
            if time.monotonic() > due:
                raise GroupError(f"{self.kind}: members do not follow")
            time.sleep(_PAUSE_SECONDS)

    def _is_whole(self) -> bool:
        if self.find_leader() is None:
            return False
        try:
            ends = {log_end(self._ports[node]) for node in self._running}
        except (OSError, ValueError, KeyError):
            return False
        return len(ends) == 1 and len(self._running) == MEMBERS - len(self._absent)

    def end(self) -> int:
        """The end of the leader's log."""
        return log_end(self._ports[self.leader()])

    def lag_bytes(self) -> int:
        """How far the member that is farthest behind is."""
        try:
            ends = [log_end(self._ports[node]) for node in self._running]
        except (OSError, ValueError, KeyError):
            return 1 << 62  # one is being built anew
        return max(ends) - min(ends)

    # Load.

    def load(self, arguments: str, ending: str) -> Figures:
        """Run the generator against the leader."""
        return self._load(self._ports[self.leader()], arguments, ending)

    def _must(self, port: int, arguments: str, ending: str) -> None:
        due = time.monotonic() + LEADER_SECONDS_MAX
        while (figures := self._load(port, arguments, ending))["errors"]:
            if time.monotonic() > due:
                raise GroupError(f"{self.kind}, {arguments}: {figures['error']}")
            time.sleep(_PAUSE_SECONDS)

    def _load(self, port: int, arguments: str, ending: str) -> Figures:
        words = [*arguments.split(), "--topic", TOPIC, *ending.split()]
        return run_load(self._program, port, words, FREE.load)

    def cpu_seconds(self) -> float:
        return sum(server.cpu_seconds() for server in self._running.values())
