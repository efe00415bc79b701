"""Puts the access room together: the users and rules of a broker, its gate, the handlers of
requests about them, and what name servers are told.

Imports more than 15 modules because it puts the others together.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from aerobee.model.names import STAGED_TOPIC
from aerobee.model.properties import REAL_TOPIC
from aerobee.ports.disk_worker import DiskWorker
from aerobee.ports.service import ChannelId, Effects, Peer
from aerobee.ports.watch import Watch
from aerobee.protocol.message.stored_message import decode_record
from aerobee.service.access.access_store import FILE, AccessStore
from aerobee.service.access.audit import Audit
from aerobee.service.access.config import AccessConfig
from aerobee.service.access.fast_gate import FastGate
from aerobee.service.access.gate import Gate, Realm
from aerobee.service.access.guarded_watch import GuardedWatch
from aerobee.service.broker.access.access_handlers import AccessHandlers, refusing_rows
from aerobee.service.broker.access.access_notices import AccessNotices
from aerobee.service.broker.config import BrokerIdentity
from aerobee.service.broker.log_access.real_topic import WAITING_TOPICS
from aerobee.service.broker.request_table import Row
from aerobee.service.request import Answer, ConsumerRefusal, Request
from aerobee.storage.metadata.config_file import ConfigFile
from aerobee.storage.store import Store

_log = logging.getLogger(__name__)


class Guarded(Protocol):
    """A fast path that takes requests of users whom a gate knows, and no others."""

    def guard(self, gate: FastGate) -> None: ...


class AccessAssembly:
    def __init__(
        self,
        identity: BrokerIdentity,
        store: Store,
        config_file: Callable[[str], ConfigFile],
        worker: DiskWorker,
        addresses: Sequence[str],
        outbox: Effects,
    ) -> None:
        """`addresses` are the name servers. CorruptFile: the file of users is damaged, or was
        written with another key."""
        self.config: AccessConfig = identity.access
        self._is_slave = not identity.is_master
        self.store: AccessStore | None = None
        realms: list[Realm] = []
        if self.config.authenticates:
            self.store = AccessStore(self.config, config_file(FILE), worker)
            realms.append(Realm(identity.cluster, self.store.accounts))
            if self.store.fault:
                _log.warning("a backup had to do: %s", self.store.fault)
        self.notices = AccessNotices(identity, self.store, addresses, outbox)
        self.audit: Audit | None = None
        if identity.audit is not None:
            self.audit = Audit(identity.audit, identity.name, identity.cluster)
        self.gate = Gate(
            self.config, lambda: realms, lambda offset: topic_at(store, offset), self.audit
        )
        self._fast_gate: FastGate | None = None
        if self.store is not None:
            trust_ms = self.config.trust_ms if self.config.trusts_connections else 0
            self._fast_gate = FastGate(self.store.accounts, self.gate.stamps, trust_ms)

    def guarded(self, *paths: Guarded) -> FastGate | None:
        """The gate of the fast paths, told to each of them; None: nobody is asked who it is."""
        if self._fast_gate is not None:
            for path in paths:
                path.guard(self._fast_gate)
        return self._fast_gate

    def guarded_watch(self, watch: Watch) -> GuardedWatch:
        """The watch, shown to whom may look."""
        return GuardedWatch(watch, self.gate)

    def when_revoked(
        self,
        sources: Mapping[ChannelId, Peer],
        refuse: Sequence[Callable[[ConsumerRefusal], None]],
    ) -> None:
        """Have requests that wait refused as soon as a change of users or rules is in force, before
        it is answered."""

        def refusal(request: Request, topic: str, group: str) -> Answer | None:
            return self.gate.refuse_consumer(request, sources[request.channel].host, topic, group)

        def refuse_all() -> None:
            for one in refuse:
                one(refusal)

        if self.store is not None:
            self.store.when_changed(refuse_all)

    def rows(self) -> list[Row]:
        if self.store is None:
            return refusing_rows()
        inner = "" if self.config.inner is None else self.config.inner.access_key
        return AccessHandlers(self.store, inner, is_slave=self._is_slave).rows()


def topic_at(store: Store, log_offset: int) -> str | None:
    """The topic of the message at a log offset: its real one, if it waits in a topic of the
    broker's own; None: there is no message."""
    record = store.record_at(log_offset)
    if record is None:
        return None
    message = decode_record(bytes(record))
    if message.topic in WAITING_TOPICS or message.topic == STAGED_TOPIC:
        return message.properties.get(REAL_TOPIC) or message.topic
    return message.topic
