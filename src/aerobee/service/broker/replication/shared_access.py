"""SharedAccess: users and rules among the brokers of one name. A master asks its slaves for a proof
and lets them copy its users; a slave proves who it is, and copies. Members of a Raft group prove
who they are, too; their users come with the log (`raft.access_following`).

Both need the brokers' own user (innerClientAuthenticationCredentials). Without authentication
nothing of it happens.
"""

from collections.abc import Callable, Mapping

from aerobee.ports.clock import Now
from aerobee.ports.service import Effects
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.service.access.access_store import FILE, AccessStore
from aerobee.service.access.audit import Audit
from aerobee.service.access.link_proof import LinkGuard, link_proof
from aerobee.service.access.table_text import SealedTable, transfer_key
from aerobee.service.broker.config import BrokerIdentity
from aerobee.service.broker.replication.master_side import MasterSide
from aerobee.service.broker.replication.metadata.access_copy import LOOK_MS, AccessCopy
from aerobee.service.broker.replication.raft.raft_side import RaftSide
from aerobee.service.broker.replication.slave_side import SlaveSide


class SharedAccess:
    def __init__(self, identity: BrokerIdentity, side: object, outbox: Effects) -> None:
        """`side` is the side of replication that the broker is on."""
        if isinstance(side, MasterSide | RaftSide):
            side.find_guard = self.find_guard
        if isinstance(side, SlaveSide | RaftSide):
            side.prove = self.prove
        self._identity = identity
        self._outbox = outbox
        self._copy: AccessCopy | None = None
        self._guard: LinkGuard | None = None
        self._proofs = 0
        self.made: Mapping[str, Callable[[], bytes]] = {}
        """Files that slaves may copy besides those on the disk."""

    def prove(self, now: Now) -> bytes:
        """What a slave writes first to a link."""
        access = self._identity.access
        if not access.authenticates or access.inner is None:
            return b""
        self._proofs += 1
        sender = f"{self._identity.address} {self._proofs}"
        return link_proof(access.inner, self._identity.name, now.wall_ms, sender)

    def find_guard(self) -> LinkGuard | None:
        """What asks slaves for their proofs; None: whoever connects is one."""
        return self._guard

    def share(
        self, store: AccessStore | None, master: Callable[[], str], audit: Audit | None = None
    ) -> None:
        """Ask slaves for proofs and let them copy the users; copy them from the master, unless this
        broker is it."""
        inner = self._identity.access.inner
        if store is None:
            return
        self._guard = LinkGuard(store.accounts, self._identity.name, inner, audit)
        if inner is None:
            return
        self.made = {FILE: SealedTable(store.accounts, inner).text}
        if not self._identity.is_master and self._identity.raft is None:
            self._copy = AccessCopy(store, transfer_key(inner), master, self._outbox)

    def on_tick(self, now: Now) -> None:
        if self._copy is not None:
            self._copy.on_tick(now)

    def on_answer(self, ticket: object, answer: RemotingCommand | None, now: Now) -> None:
        if self._copy is not None:
            self._copy.on_answer(ticket, answer, now)

    def rest_ms(self, now: Now) -> int:
        return LOOK_MS if self._copy is None else self._copy.rest_ms(now)

    def stop(self) -> None:
        if self._copy is not None:
            self._copy.stop()
