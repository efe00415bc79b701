"""BrokerRole: a broker is a master, which takes messages, or a slave, which copies its log.

A stage says which part of its role a broker plays now. A role change is a value that the process is
asked to carry out (`ports.service.Rebuild`).
"""

from enum import Enum
from typing import NamedTuple

MASTER_ID = 0
"""The broker id of every master; a slave has a larger one."""


class BrokerRole(Enum):
    """RocketMQ's `brokerRole`."""

    ASYNC_MASTER = "ASYNC_MASTER"  # never waits for slaves
    SYNC_MASTER = "SYNC_MASTER"  # waits for as many copies as inSyncReplicas says
    SLAVE = "SLAVE"

    @property
    def is_master(self) -> bool:
        return self is not BrokerRole.SLAVE


class Stage(Enum):
    """What a broker does in its role; another stage is another life of it."""

    USUAL = "usual"
    ACTING = "acting master"  # a slave with a master's duties, while there is no master
    RETURNING = "returning"  # a master that asks the slaves before it serves
    LEADING = "leader"  # of a Raft group: a master to clients
    FOLLOWING = "follower"  # of a Raft group: a slave to clients


class RoleChange(NamedTuple):
    """The role that a broker takes on."""

    role: BrokerRole
    broker_id: int
    master_address: str = ""
    """A slave's: the HA address of its master; empty: name servers say it."""
