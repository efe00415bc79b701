"""Command is a sub-command of mqadmin, and Call the argument of its function.

C1. Output goes through `say`, to stdout, with RocketMQ's words and columns.
C2. A function that fails raises, and the exit status is a failure: unlike RocketMQ's tool, which
    prints a stack trace and exits with 0.
"""

import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from aerobee.cli.mqadmin.options import Given, Option
from aerobee.errors import NotFound

if TYPE_CHECKING:
    from aerobee.client.admin.admin import Admin

BROKER = Option("b", "brokerAddr", "the address of one broker")
CLUSTER = Option("c", "clusterName", "all masters of a cluster")
WHERE = (BROKER, CLUSTER)


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a sub-command."""

    given: Given
    admin: "Admin"
    name_server: str

    def say(self, text: str, end: str = "\n") -> None:
        sys.stdout.write(text + end)

    async def masters(self) -> list[str]:
        """Return addresses: of the named broker, or of all masters of the cluster."""
        if BROKER.long in self.given:
            return [self.given.text(BROKER.long)]
        self.given.one_of(BROKER.long, CLUSTER.long)
        return list((await self.masters_in(self.given.text(CLUSTER.long))).values())

    async def masters_in(self, cluster: str) -> dict[str, str]:
        """Return the masters of a cluster, by broker name."""
        from aerobee.model.route import MASTER_ID

        info = await self.admin.cluster()
        if cluster not in info.names_by_cluster():
            there = ", ".join(sorted(info.names_by_cluster())) or "none"
            raise NotFound(f"there is no cluster {cluster!r}", hint=f"there are: {there}")
        return {
            broker.name: broker.addresses[MASTER_ID]
            for broker in sorted(info.brokers, key=lambda one: one.name)
            if broker.cluster == cluster and MASTER_ID in broker.addresses
        }


Run: TypeAlias = Callable[[Call], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Command:
    name: str
    text: str
    options: tuple[Option, ...] = ()
    run: Run | None = None
    """None: it cannot be done."""
    why_not: str = ""
    instead: str = ""
    """What to do, where it cannot be done."""


def required(option: Option) -> Option:
    return option._replace(is_required=True)
