"""Brokers that are a Raft group, as real processes, under the load of a replicated broker.

Clients may ask any broker: those that do not lead forward. `master` is the one that they ask, which
is any that runs and is not stopped or cut off; `leader()` is the one that leads.
"""

import contextlib
import shutil
import socket
import ssl
import time
from collections.abc import Mapping
from functools import cached_property, partial
from pathlib import Path
from urllib.parse import quote

from aerobee.app.authority import Authority
from aerobee.app.chaos.log_check import Found, Queue
from aerobee.model.access import Credentials
from aerobee.model.replica_status import MasterStatus
from aerobee.net.tls_context import client_context
from aerobee.protocol.request_codes import RequestCode
from tests.fault.replication.group import SECONDS_MAX, Broker, Group, Mode
from tests.fault.replication.network import Network, Place
from tests.fault.replication.world import World
from tests.interop.features.waiting import until
from tests.score import show
from tests.tls_kit import Pair, certificates
from tests.wire_client import WireClient

READS_MAX = 3
FORWARDING_QUIET_MS = 500
"""A planned stop is over so soon after the last client has gone: tests need not wait longer."""


class RaftBroker(Broker):
    _group: "RaftGroup"
    joins = False
    """Whether it waits to be added, instead of being one of the first members."""

    def role_settings(self, *, is_master: bool) -> dict[str, object]:
        mode = self._group.mode
        count = 1 + mode.slaves + (mode.spares if self.joins else 0)
        return {
            "enableDLegerCommitLog": "true",
            "dLegerPeers": ";".join(map(self._group.peer, range(count))),
            "dLegerSelfId": f"n{self.number}",
            "raftJoin": str(self.joins).lower(),
            "raftForwardingQuiet": FORWARDING_QUIET_MS,
        }

    def forget(self) -> None:
        """Be another broker from now on, without a store."""
        shutil.rmtree(self.store, ignore_errors=True)
        self.joins = True

    def leads(self) -> bool:
        """Whether it leads, and a majority follows it."""
        try:
            status = self.status()
        except (OSError, AssertionError):  # it is being built anew
            return False
        return isinstance(status, MasterStatus) and status.in_sync + 1 >= status.copies_wanted


class RaftGroup(Group):
    def __init__(
        self, folder: Path, network: Network, mode: Mode, stores: Mapping[int, Path] | None = None
    ) -> None:
        self._gone: list[RaftBroker] = []
        super().__init__(folder, network, mode, stores)

    def peer(self, number: int) -> str:
        """A member, as settings and commands name it."""
        place = self.network.place(number)
        return f"n{number}-{place.host}:{place.port + 1}"

    def start_spare(self) -> RaftBroker:
        """Start a broker that waits to be added: a new one, or one that has left before."""
        if self._gone:
            broker = self._gone.pop()
        else:
            number = len(self.brokers)
            broker = RaftBroker(number, self, self.folder / f"store-{number}")
        broker.forget()
        self.brokers.append(broker)
        broker.start(is_master=False)
        return broker

    def end(self, broker: RaftBroker) -> None:
        """A broker that is no member any more ends."""
        broker.kill()
        self.brokers.remove(broker)
        self._gone.append(broker)

    def made_broker(self, number: int, store: Path) -> Broker:
        return RaftBroker(number, self, store)

    def find_leader(self, *but: Broker) -> RaftBroker | None:
        for broker in self.brokers:
            assert isinstance(broker, RaftBroker)
            if broker not in but and broker.is_running and broker.leads():
                return broker
        return None

    def leader(self, *but: Broker) -> RaftBroker:
        """The leader, once there is one that is none of these."""
        found = until(lambda: self.find_leader(*but), SECONDS_MAX, "there is a leader")
        assert found is not None
        return found

    def until_followed(self) -> None:
        """Until every running broker follows the leader."""
        leader = self.leader()
        running = sum(one.is_running for one in self.brokers)

        def is_followed() -> bool:
            status = leader.status()
            return isinstance(status, MasterStatus) and status.in_sync + 1 >= running

        until(is_followed, SECONDS_MAX, "all followers count")

    def ask(self, broker: Broker) -> None:
        """Have clients ask this broker from now on."""
        self.master = broker


class GuardedRaftGroup(RaftGroup):
    """All servers ask for users, and speak TLS only, on every port."""

    @cached_property
    def _pair(self) -> Pair:
        places = range(1 + self.mode.slaves + self.mode.spares)
        hosts = {self.network.clients, *(self.network.place(number).host for number in places)}
        own = Authority(str(Path(certificates().authority).parent))
        return Pair(*own.issue("raft", sorted(hosts)))

    @cached_property
    def _trust(self) -> ssl.SSLContext:
        return client_context(certificates().authority)

    def guards(self) -> Mapping[str, object]:
        return {
            "authenticationEnabled": "true",
            "authorizationEnabled": "true",
            "initAuthenticationUser": '{"username":"root","password":"root-secret"}',
            "innerClientAuthenticationCredentials": (
                '{"accessKey":"inner","secretKey":"inner-secret"}'
            ),
            "tlsMode": "enforcing",
            "tlsCertificate": self._pair.certificate,
            "tlsKey": self._pair.key,
            "tlsAuthority": certificates().authority,
        }

    @property
    def target(self) -> str:
        ca = quote(certificates().authority)
        return f"rmqs://root:root-secret@{self.name_server}?ca={ca}"

    def client(self, place: Place, seconds_max: float) -> WireClient:
        return WireClient(
            place.port,
            place.host,
            seconds_max,
            login=Credentials("root", "root-secret"),
            tls=self._trust,
        )


class RaftWorld(World):
    def made_group(self, folder: Path, stores: dict[int, Path] | None) -> Group:
        return RaftGroup(folder, self.network, self.mode, stores)

    @property
    def raft(self) -> RaftGroup:
        assert isinstance(self.group, RaftGroup)
        return self.group

    def others(self, *but: Broker) -> list[Broker]:
        return [one for one in self.group.brokers if one not in but]

    def found_on(self, broker: Broker) -> dict[Queue, list[Found]]:
        """A member that is elected or deposed meanwhile closes its connections, and is read again.
        That is told: on a machine that is not overloaded nobody should be."""
        for _ in range(READS_MAX):
            with contextlib.suppress(OSError, AssertionError):
                return super().found_on(broker)
            show(f"broker {broker.number} was built anew while it was read")
            self.until_caught_up()
        return super().found_on(broker)

    def until_caught_up(self) -> None:
        """Until every broker has what the leader has now."""
        end = self.raft.leader().log_end()
        for broker in self.group.brokers:
            until(partial(_has, broker, end), SECONDS_MAX, f"broker {broker.number} catches up")
        self.group.until_followed()


class GuardedRaftWorld(RaftWorld):
    @cached_property
    def _users(self) -> dict[str, str]:
        """The passwords of the users that were made."""
        return {}

    def made_group(self, folder: Path, stores: dict[int, Path] | None) -> Group:
        return GuardedRaftGroup(folder, self.network, self.mode, stores)

    def until_nobody_else_gets_in(self) -> None:
        """Nobody without a signature is served, nobody without a certificate is a member, and every
        user that a leader has ever made is one on every member."""
        name = f"user-{time.monotonic_ns()}"
        said = self.group.run("auth", "create-user", name)
        assert said.status == 0, said.error
        self._users[name] = said.out.rpartition(": ")[2].strip()
        for broker in self.group.brokers:
            host, port = broker.place.host, broker.place.port
            for user, password in self._users.items():
                knows = partial(self._knows, broker, user, password)
                until(knows, SECONDS_MAX, f"{host} has {user}")
            with WireClient(port, host, tls=client_context(certificates().authority)) as nobody:
                assert nobody.ask(RequestCode.GET_BROKER_HA_STATUS).code == 16
            with (
                contextlib.suppress(ConnectionError),
                socket.create_connection((host, port + 1), SECONDS_MAX) as plain,
            ):
                plain.sendall(bytes(8))
                assert plain.recv(1) == b""

    def _knows(self, broker: Broker, name: str, password: str) -> bool:
        """Whether a user without rights is told that, and not that it is nobody."""
        tls = client_context(certificates().authority)
        place = broker.place
        login = Credentials(name, password)
        with WireClient(place.port, place.host, login=login, tls=tls) as client:
            remark = client.ask(RequestCode.GET_BROKER_HA_STATUS).remark
        return "has no permission" in remark


def _has(broker: Broker, end: int) -> bool:
    try:
        return broker.log_end() >= end
    except (OSError, AssertionError):  # it is being built anew
        return False
