"""`ReplicaGroup` compares the master and the slaves of one broker name.

A master lists its slaves by the far ends of their HA connections, not by the addresses that clients
use. A slave of Aerobee tells which end is its own. One of RocketMQ is found by its host, unless
several slaves are on that host.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from aerobee.model.replica_status import (
    ACTING,
    UNKNOWN,
    WITHOUT_ROOM,
    MasterStatus,
    ReplicaLag,
    ReplicaStatus,
    SlaveStatus,
)
from aerobee.model.route import MASTER_ID

ACTING_MASTER = "ACTING_MASTER"
"""The role that is shown of a slave that acts as master."""
NO_MASTER = "no master of this name is registered"
SILENT_MASTER = "its master does not answer"
NOT_CONNECTED = "it is not connected to its master"


@dataclass(frozen=True, slots=True)
class ReplicaMember:
    """One broker of a name, as name servers have it, with its own answers."""

    broker_id: int
    address: str
    status: ReplicaStatus | None = None
    """None: it did not answer."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Its configuration under RocketMQ's names, as far as it told."""
    problem: str = ""
    """The reason why it did not answer."""

    @property
    def role(self) -> str:
        """Its brokerRole, or what its status shows of it; empty: not known."""
        if self.status is None:
            return ""
        if self.is_acting:
            return ACTING_MASTER
        shown = "MASTER" if isinstance(self.status, MasterStatus) else "SLAVE"
        return self.settings.get("brokerRole", "") or shown

    @property
    def is_acting(self) -> bool:
        """Whether it is a slave that acts as master."""
        return isinstance(self.status, SlaveStatus) and self.status.state == ACTING

    @property
    def end_offset(self) -> int:
        return UNKNOWN if self.status is None else self.status.end_offset


class Standing(NamedTuple):
    """The distance between a slave and its master."""

    lag_bytes: int
    lag_ms: int
    is_in_sync: bool | None
    """Whether it counts as a copy; None: nobody can say."""
    why: str
    """The reason why it does not, or why nobody can say; empty: it does."""


@dataclass(frozen=True, slots=True)
class ReplicaGroup:
    """All brokers of one name."""

    cluster: str
    name: str
    members: tuple[ReplicaMember, ...]
    """By broker id."""

    @property
    def master(self) -> ReplicaMember | None:
        return next((one for one in self.members if one.broker_id == MASTER_ID), None)

    @property
    def slaves(self) -> tuple[ReplicaMember, ...]:
        return tuple(one for one in self.members if one.broker_id != MASTER_ID)

    @property
    def acting(self) -> ReplicaMember | None:
        """The slave that acts as master."""
        return next((one for one in self.slaves if one.is_acting), None)

    @property
    def unregistered(self) -> int:
        """The number of slaves that the master lists and name servers do not."""
        return max(0, len(self._listed()) - len(self.slaves))

    def longest_slaves(self) -> list[ReplicaMember]:
        """The slaves that answered, the longest log first; of equal ones the smallest id."""
        told = [one for one in self.slaves if isinstance(one.status, SlaveStatus)]
        return sorted(told, key=lambda one: (-one.end_offset, one.broker_id))

    def standing(self, slave: ReplicaMember) -> Standing:
        status, master = slave.status, self.master
        if status is None:
            return Standing(UNKNOWN, UNKNOWN, False, slave.problem)
        if isinstance(status, MasterStatus):
            return Standing(UNKNOWN, UNKNOWN, False, "it says that it is a master itself")
        if master is None or not isinstance(master.status, MasterStatus):
            why = NO_MASTER if master is None else SILENT_MASTER
            return Standing(status.lag_bytes, status.lag_ms, None, status.why or why)
        lag_bytes = max(0, master.status.end_offset - status.end_offset)
        if status.state == WITHOUT_ROOM:
            return Standing(lag_bytes, status.lag_ms, False, status.why)
        seen = self._candidates(slave, status)
        if not seen:
            return Standing(lag_bytes, status.lag_ms, False, status.why or NOT_CONNECTED)
        if len(seen) > 1:
            return _among_others(lag_bytes, status, seen)
        (lag,) = seen
        lag_ms = status.lag_ms if lag.lag_ms == UNKNOWN else lag.lag_ms
        why = "" if lag.is_in_sync else lag.why or status.why or f"{lag.lag_bytes} bytes behind"
        return Standing(lag.lag_bytes, lag_ms, lag.is_in_sync, why)

    def _listed(self) -> list[ReplicaLag]:
        master = self.master
        if master is None or not isinstance(master.status, MasterStatus):
            return []
        return list(master.status.replicas)

    def _candidates(self, slave: ReplicaMember, status: SlaveStatus) -> list[ReplicaLag]:
        """The entries of the master's list that may be this slave."""
        listed = self._listed()
        exact = [one for one in listed if status.link and one.address == status.link]
        if exact:
            return exact
        # Of RocketMQ, or not connected, or seen under another address.
        others = {one.status.link for one in self.slaves if isinstance(one.status, SlaveStatus)}
        host = _host(slave.address)
        return [one for one in listed if _host(one.address) == host and one.address not in others]


def _among_others(lag_bytes: int, status: SlaveStatus, seen: list[ReplicaLag]) -> Standing:
    """The standing of a slave that shares its host with others."""
    if all(one.is_in_sync for one in seen):
        return Standing(lag_bytes, status.lag_ms, True, "")
    why = f"one of {len(seen)} slaves on {_host(seen[0].address)}, not all of them in sync"
    return Standing(lag_bytes, status.lag_ms, None, why)


def _host(address: str) -> str:
    return address.rpartition(":")[0].strip("[]")
