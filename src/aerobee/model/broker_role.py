"""BrokerRole: a broker is a master, which takes messages, or a slave, which copies its log.

A role change is a value that the process is asked to carry out (`ports.service.Rebuild`).
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


class RoleChange(NamedTuple):
    """The role that a broker takes on."""

    role: BrokerRole
    broker_id: int
    master_address: str = ""
    """A slave's: the HA address of its master; empty: name servers say it."""
