"""Three brokers that are a Raft group, as real processes, under the load of a replicated broker.

Clients may ask any broker: those that do not lead forward. `master` is the one that they ask, which
is any that runs and is not stopped or cut off; `leader()` is the one that leads.
"""

from pathlib import Path

from aerobee.model.replica_status import MasterStatus
from tests.fault.replication.group import SECONDS_MAX, Broker, Group
from tests.fault.replication.world import World
from tests.interop.features.waiting import until


class RaftBroker(Broker):
    def role_settings(self, *, is_master: bool) -> dict[str, object]:
        network, count = self._group.network, 1 + self._group.mode.slaves
        places = [network.place(number) for number in range(count)]
        peers = (f"n{i}-{one.host}:{one.port + 1}" for i, one in enumerate(places))
        return {
            "enableDLegerCommitLog": "true",
            "dLegerPeers": ";".join(peers),
            "dLegerSelfId": f"n{self.number}",
        }

    def leads(self) -> bool:
        """Whether it leads, and a majority follows it."""
        try:
            status = self.status()
        except (OSError, AssertionError):  # it is being built anew
            return False
        return isinstance(status, MasterStatus) and status.in_sync + 1 >= status.copies_wanted


class RaftGroup(Group):
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

    def until_caught_up(self) -> None:
        """Until every broker has what the leader has now."""
        end = self.raft.leader().log_end()
        for broker in self.group.brokers:
            until(
                lambda broker=broker: broker.log_end() >= end,  # type: ignore[misc]
                SECONDS_MAX,
                f"broker {broker.number} catches up",
            )
        self.group.until_followed()
