"""Brokers that are a Raft group, as real processes, under the load of a replicated broker.

Clients may ask any broker: those that do not lead forward. `master` is the one that they ask, which
is any that runs and is not stopped or cut off; `leader()` is the one that leads.
"""

import contextlib
import shutil
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from aerobee.app.chaos.log_check import Found, Queue
from aerobee.model.replica_status import MasterStatus
from tests.fault.replication.group import SECONDS_MAX, Broker, Group, Mode
from tests.fault.replication.network import Network
from tests.fault.replication.world import World
from tests.interop.features.waiting import until
from tests.score import show

READS_MAX = 3


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


def _has(broker: Broker, end: int) -> bool:
    try:
        return broker.log_end() >= end
    except (OSError, AssertionError):  # it is being built anew
        return False
