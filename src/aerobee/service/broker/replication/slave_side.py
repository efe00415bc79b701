"""SlaveSide follows a master: it finds it, compares the logs, and appends what the master sends.

    name servers say where the master is ─▶ connect ─▶ compare the logs ─▶ follow
                                                          └─▶ ours has records that the master has
                                                              not: be built anew with the log cut

Nothing else is appended to a slave's log: every send is refused, with the master's address.

Before the logs were compared, readers see no more than was confirmed when the last process had the
log: a master that returns as a slave may have a tail that nobody else has, and that will be cut.
"""

import logging
from collections.abc import Callable

from aerobee.model.replica_status import DIVERGED, SlaveStatus
from aerobee.ports.clock import Now
from aerobee.ports.service import Effects, LinkId, LinkWrite, Peer, Rebuild
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.replication.config import ReplicationConfig
from aerobee.replication.replica import Follow, Replica, ReplicaState, Verdict
from aerobee.service.broker.replication.log_comparison import LogComparison
from aerobee.service.broker.replication.slave_requests import not_master
from aerobee.storage.commit.confirmation import NO_COPIES
from aerobee.storage.config import FlushMode
from aerobee.storage.store import Store

_log = logging.getLogger(__name__)


class SlaveSide:
    """A `LinkService`; also the `LogCheck` of its replica."""

    def __init__(
        self,
        store: Store,
        config: ReplicationConfig,
        outbox: Effects,
        look_for_master: Callable[[], None],
    ) -> None:
        """`look_for_master` asks the name servers again; the answer comes by `hear_of_master`."""
        self.prove: Callable[[Now], bytes] = lambda now: b""
        """Returns what a master is told first on a link (`link_proof`)."""
        self._store = store
        self._config = config
        self._outbox = outbox
        self._look_for_master = look_for_master
        self._comparison = LogComparison(store, store.log_range, outbox)
        self._is_cutting = False
        self.when_following: Callable[[], None] = lambda: None
        """Called when this broker begins to follow."""
        # This end of the last connection to the master.
        self._own_end = ""
        self.replica = Replica(
            store,
            config,
            store.config.log_file_bytes,
            self,
            acks_flushed=store.config.flush_mode is FlushMode.SYNC,
        )
        self._master_address = _beside(config.master_ha_address)
        store.refuse_appends(not_master(self._master_address))
        store.confirmation.expect_copies(store.confirmed_at_start)

    def master(self) -> str:
        """Where the master answers requests; empty: not known."""
        return self._master_address

    def known_term(self) -> int:
        """The newest term of a master that this log was compared with; 0: none is known."""
        return self._comparison.term

    def is_linked(self) -> bool:
        """Whether a link to the master is open."""
        return self.replica.is_linked

    def has_slave(self) -> bool:
        """No: slaves follow the master."""
        return False

    def hear_of_master(self, address: str, ha_address: str, now: Now) -> None:
        """A name server has said where the master is; empty: there is none."""
        if not address:
            return  # it may be back in a moment: the link notices if it is not
        if _is_another(ha_address, self._config.master_ha_address):
            return  # the logs would be compared with one master, and copied from the other
        if address != self._master_address:
            _log.info("the master is at %s", address)
            self._master_address = address
            self._store.refuse_appends(not_master(address))
        self._outbox += self.replica.set_master(self._config.master_ha_address or ha_address, now)

    def follow(self, address: str, ha_address: str, now: Now) -> None:
        """A broker has said that it is the master."""
        self.hear_of_master(address or _beside(ha_address), ha_address, now)

    def status(self, now: Now) -> SlaveStatus:
        """What tools and monitoring are told."""
        found = self.replica.status(now)
        is_diverged = found.state is ReplicaState.CUT_NEEDED
        why = f"{found.why_not} ({found.hint})" if found.hint else found.why_not
        return SlaveStatus(
            found.master,
            DIVERGED if is_diverged else found.state.value,
            found.offset,
            self._store.flushed_offset,
            found.master_offset,
            found.lag_bytes,
            found.lag_ms,
            why,
            found.read_wall_ms,
            found.write_wall_ms,
            float(found.bytes_in_second),
            self._own_end if found.state is ReplicaState.FOLLOWING else "",
        )

    # The comparison.

    def begin(self, ticket: int, now: Now) -> Effects:
        """Compare the logs, for the connection that has this ticket."""

        def told(verdict: Verdict, now: Now) -> None:
            self._outbox.extend(self.replica.checked(ticket, verdict, now))
            self._cut_if_needed()
            if isinstance(verdict, Follow):
                self._store.confirmation.note_copied(NO_COPIES)
                self.when_following()

        self._comparison.begin(self._master_address, told, now)
        return []

    def on_answer(self, ticket: object, answer: RemotingCommand | None, now: Now) -> None:
        self._comparison.on_answer(ticket, answer, now)

    def _cut_if_needed(self) -> None:
        cut = self.replica.cut_at
        if cut is not None and not self._is_cutting:
            self._is_cutting = True
            self._outbox.append(Rebuild(cut.reason, cut_at=cut.log_offset))

    # Links.

    def on_link_open(
        self, link: LinkId, peer: Peer, is_dialed: bool, now: Now, own: str = ""
    ) -> None:
        if is_dialed:
            self._own_end = own
            proof = self.prove(now)
            if proof:
                self._outbox.append(LinkWrite(link, [proof]))
        self._outbox += self.replica.on_link_open(link, peer, is_dialed, now)

    def on_link_failed(self, address: str, reason: str, now: Now) -> None:
        self._outbox += self.replica.on_link_failed(address, reason, now)
        self._look_for_master()

    def on_link_bytes(self, link: LinkId, data: bytes | memoryview, now: Now) -> None:
        self._outbox += self.replica.on_link_bytes(link, data, now)
        self._store.flush_soon(now)

    def on_link_ready(self, link: LinkId, now: Now) -> None:
        self._outbox += self.replica.on_link_ready(link, now)

    def on_link_closed(self, link: LinkId, now: Now) -> None:
        self._outbox += self.replica.on_link_closed(link, now)
        self._look_for_master()

    # Time.

    def on_round(self, now: Now) -> None:
        """Nothing: a slave's log grows by its link alone."""

    def on_tick(self, now: Now) -> None:
        before = self._store.end_offset
        self._outbox += self.replica.step(now)
        if self._store.end_offset > before:
            self._store.flush_soon(now)

    def rest_ms(self, now: Now) -> int:
        return self.replica.rest_ms(now)

    def stop(self, now: Now) -> None:
        self._outbox += self.replica.stop(now)


def _beside(ha_address: str) -> str:
    """The address for requests of a broker whose HA address was configured: the port before it."""
    host, _, port = ha_address.rpartition(":")
    return f"{host}:{int(port) - 1}" if host else ""


def _is_another(ha_address: str, wanted: str) -> bool:
    """Whether an HA address is surely not that of the master that was configured. A host name may
    be any address."""
    host = wanted.rpartition(":")[0]
    is_number = ":" in host or host.replace(".", "").isdigit()
    return is_number and bool(ha_address) and ha_address != wanted
