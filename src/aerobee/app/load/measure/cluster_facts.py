"""The brokers that a load goes to: what they say of themselves, and where they are on this machine.

A broker whose address is this machine's and whose process we may look at is watched while it works;
of another one only what it says is known.
"""

import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aerobee.app.load.measure.proc import Proc
from aerobee.errors import AerobeeError
from aerobee.model.route import MASTER_ID

if TYPE_CHECKING:
    from aerobee.client.admin.admin import Admin


@dataclass(frozen=True, slots=True)
class BrokerFacts:
    name: str
    address: str
    version: str = "?"
    flush: str = "?"
    """`ASYNC_FLUSH` or `SYNC_FLUSH`, as the broker says it."""
    store: str = ""
    """The folder of its log, if its process is here."""
    pid: int | None = None

    def to_json(self) -> dict[str, object]:
        return {
            "name": self.name,
            "address": self.address,
            "version": self.version,
            "flush": self.flush,
            "is_local": self.pid is not None,
        }


async def brokers_of(admin: "Admin", proc: Proc) -> list[BrokerFacts]:
    """Every master of the cluster. What one does not tell stays unknown."""
    found = []
    for broker in (await admin.cluster()).brokers:
        address = broker.addresses.get(MASTER_ID)
        if address is None:
            continue
        config: Mapping[str, str] = {}
        version = ""
        try:
            config = (await admin.brokers.config(on=address)).get(address, {})
            version = (await admin.brokers.runtime(on=address))[address].version
        except AerobeeError:
            pass
        host, _, port = address.rpartition(":")
        pid = proc.listener(int(port)) if is_here(host) else None
        found.append(
            BrokerFacts(
                broker.name,
                address,
                version or "?",
                config.get("flushDiskType", "?"),
                proc.commit_log_of(pid) if pid is not None else "",
                pid,
            )
        )
    return found


def is_here(host: str) -> bool:
    """Whether an address is one of this machine's: only those can be bound."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as trial:
        try:
            trial.bind((host.strip("[]"), 0))
        except OSError:
            return False
    return True


def device_of(store: str, proc: Proc) -> str:
    """The disk under a store, as the machine's statistics call it; empty if that is not known."""
    return proc.device_of(os.stat(store).st_dev) if store and os.path.exists(store) else ""
