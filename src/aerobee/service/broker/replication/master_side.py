"""MasterSide sends a master's log to its slaves, and decides by their acknowledgements what is
confirmed and whether sends are taken.

    round or tick ─▶ push ─▶ slaves        acknowledgement ─▶ copied ─▶ confirmed ─▶ answers go out

With SYNC_MASTER and inSyncReplicas = k, the log is confirmed up to the offset that k brokers have,
this one included. While fewer than k are in sync, sends are refused before anything is appended.
"""

import logging
from collections.abc import Callable

from aerobee.errors import NothingTaken, RemoteProtocolError
from aerobee.model.replica_status import MasterStatus, ReplicaLag
from aerobee.ports.clock import Now
from aerobee.ports.service import CloseLink, Effects, LinkId, Peer
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.response_codes import ResponseCode
from aerobee.replication.config import ReplicationConfig
from aerobee.replication.in_sync import InSync
from aerobee.replication.primary import Primary
from aerobee.service.access.link_proof import LinkGuard
from aerobee.storage.store import Store

_log = logging.getLogger(__name__)

REST_MS_MAX = 1_000


class TooFewReplicas(NothingTaken):
    """Fewer brokers are in sync than a send must wait for: nothing was appended."""


class MasterSide:
    """A `LinkService`; also the `Copies` that answers wait for."""

    def __init__(
        self,
        store: Store,
        config: ReplicationConfig,
        outbox: Effects,
        ban: NothingTaken | None = None,
    ) -> None:
        """`ban`: drafts are refused with it, whatever the slaves do."""
        self.find_guard: Callable[[], LinkGuard | None] = lambda: None
        """Returns what asks slaves for a proof; None: whoever connects is one."""
        self._store = store
        self._ban = ban
        self._config = config
        self._outbox = outbox
        self.in_sync = InSync(config)
        self.primary = Primary(store, self.in_sync, config, store.config.log_file_bytes)
        self._shortage = ""
        self._counted_end = -1
        store.refuse_appends(ban)
        if self.waits:
            store.confirmation.expect_copies(store.confirmed_at_start)
            self._count_copies()

    def master(self) -> str:
        """Nowhere else: this broker is it."""
        return ""

    @property
    def waits(self) -> bool:
        """Whether answers wait for slaves."""
        return self.in_sync.waits

    def has_slave(self) -> bool:
        """Whether a slave is connected."""
        return self.in_sync.connected() > 0

    def status(self, now: Now) -> MasterStatus:
        """What tools and monitoring are told."""
        end = self._store.end_offset
        copies = self.in_sync.statuses(end, now)
        return MasterStatus(
            end,
            self.in_sync.needed(end),
            [
                ReplicaLag(
                    str(copy.peer),
                    max(0, copy.ack_offset),
                    copy.lag_bytes,
                    copy.lag_ms,
                    copy.is_in_sync,
                    copy.why_not,
                    float(link.bytes_in_second),
                    max(0, link.transfer_from),
                )
                for copy, link in zip(copies, self.primary.statuses(now), strict=True)
            ],
        )

    def follow(self, address: str, ha_address: str, now: Now) -> None:
        """Nothing: a master follows nobody."""

    # For answers that wait.

    @property
    def timeout_ms(self) -> int:
        return self._config.slave_timeout_ms

    def late_code(self) -> ResponseCode:
        if self.in_sync.connected() + 1 < self.in_sync.needed(self._store.end_offset):
            return ResponseCode.SLAVE_NOT_AVAILABLE
        return ResponseCode.FLUSH_SLAVE_TIMEOUT

    # Links.

    def on_link_open(
        self, link: LinkId, peer: Peer, is_dialed: bool, now: Now, own: str = ""
    ) -> None:
        guard = self.find_guard()
        if guard is not None:
            guard.opened(link, peer.host)
        self._outbox += self.primary.on_link_open(link, peer, is_dialed, now)

    def on_link_failed(self, address: str, reason: str, now: Now) -> None:
        self._outbox += self.primary.on_link_failed(address, reason, now)

    def on_link_bytes(self, link: LinkId, data: bytes | memoryview, now: Now) -> None:
        guard = self.find_guard()
        if guard is not None:
            try:
                data = guard.passed(link, data, now)
            except RemoteProtocolError as error:
                _log.warning("a slave is refused: %s", error.message)
                self._outbox.append(CloseLink(link, error.message))
                return
            if not data:
                return
        self._outbox += self.primary.on_link_bytes(link, data, now)
        self._count_copies()

    def on_link_ready(self, link: LinkId, now: Now) -> None:
        self._outbox += self.primary.on_link_ready(link, now)

    def on_link_closed(self, link: LinkId, now: Now) -> None:
        guard = self.find_guard()
        if guard is not None:
            guard.closed(link)
        self._outbox += self.primary.on_link_closed(link, now)
        self._count_copies()

    def on_answer(self, ticket: object, answer: RemotingCommand | None, now: Now) -> None:
        """Nothing: a master asks nobody."""

    # Time.

    def on_round(self, now: Now) -> None:
        """Something may have been appended: send it."""
        effects = self.primary.push(now)
        self._outbox += effects
        if self.in_sync.waits and (effects or self._store.end_offset != self._counted_end):
            self._count_copies()

    def on_tick(self, now: Now) -> None:
        self._outbox += self.primary.push(now)
        self._count_copies()

    def rest_ms(self, now: Now) -> int:
        return min(REST_MS_MAX, self.primary.rest_ms(now))

    def stop(self, now: Now) -> None:
        self._outbox += self.primary.stop(now)

    def _count_copies(self) -> None:
        if not self.waits:
            return
        store = self._store
        end = self._counted_end = store.end_offset
        copied = self.in_sync.copied_offset(end)
        store.confirmation.note_copied(end if copied is None else copied)
        shortage = self.in_sync.shortage(end)
        if shortage != self._shortage:
            self._shortage = shortage
            store.refuse_appends(_too_few(shortage) if shortage else self._ban)


def _too_few(shortage: str) -> TooFewReplicas:
    return TooFewReplicas(
        shortage, hint="start the slaves, or lower inSyncReplicas; nothing was stored"
    )
