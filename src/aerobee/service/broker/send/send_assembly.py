"""Puts the send room together: fast path, general path, replies and returned messages.

Imports more than 15 modules because it puts the others together.
"""

from typing import NamedTuple

from aerobee.ports.service import Effects, Peer
from aerobee.protocol.send.send_answer_writer import SendAnswerWriter
from aerobee.service.broker.clients.client_calls import ClientCalls
from aerobee.service.broker.clients.peers import Peers
from aerobee.service.broker.config import BrokerConfig, BrokerIdentity
from aerobee.service.broker.log_access.message_writer import HalfKeeper, MessageWriter
from aerobee.service.broker.log_access.safe_answers import SafeAnswers
from aerobee.service.broker.request_table import Row
from aerobee.service.broker.send.fast_send import FastSend
from aerobee.service.broker.send.reply_handlers import ReplyHandlers
from aerobee.service.broker.send.send_back_handlers import CountReturned, SendBackHandlers
from aerobee.service.broker.send.send_checks import SendChecks
from aerobee.service.broker.send.send_handlers import SendHandlers
from aerobee.service.broker.send.send_once import SendOnce
from aerobee.service.broker.send.send_path import SendPath, Took
from aerobee.service.broker.send.send_stamp import SendStamp
from aerobee.service.broker.send.topic_creation import topic_maker
from aerobee.service.broker.state.tables import Tables
from aerobee.service.live_config import LiveConfig
from aerobee.storage.store import Store


class SendCounts(NamedTuple):
    """Where the room reports to."""

    took: Took
    returned: CountReturned


class SendAssembly:
    """Builds the paths of messages into the log. S1. Every message enters by `fast_send` or by
    `writer`."""

    def __init__(
        self,
        identity: BrokerIdentity,
        config: LiveConfig[BrokerConfig],
        tables: Tables,
        store: Store,
        peers: Peers,
        outbox: Effects,
        answers: SafeAnswers,
        counts: SendCounts,
    ) -> None:
        told, storage = config.current, store.config
        self._identity = identity
        self._config = config
        self._tables = tables
        self._store = store
        self._peers = peers
        self._count_returned = counts.returned
        self._stamp = SendStamp(
            told.region,
            told.traces,
            identity.cluster,
            storage.store_host,
            _split(identity.address),
            told.body_bytes_max,
        )
        self.once = SendOnce(tables.deduplication.known, lambda: store.end_offset)
        self.writer = MessageWriter(store, answers, len(storage.delay_levels_ms))
        self.fast_send = FastSend(
            store.appender,
            tables.topics.entries,
            SendAnswerWriter(told.region, told.traces, storage.store_host),
            self._stamp.properties_text(),
            told.body_bytes_max,
        )
        self.path = SendPath(self.fast_send, store, answers, outbox, counts.took)

    def rows(self, calls: ClientCalls, half_keeper: HalfKeeper) -> list[Row]:
        topics, groups = self._tables.topics, self._tables.groups
        config, peers = self._config, self._peers.by_channel
        checks = SendChecks(topics, groups, self._tables.locks, config)
        sends = SendHandlers(
            self.writer,
            half_keeper,
            checks,
            topic_maker(topics),
            self._stamp,
            peers,
            self._identity.name,
            self.once,
        )
        replies = ReplyHandlers(
            self.writer if config.current.stores_replies else None,
            checks,
            self._stamp,
            peers,
            self._tables.producers,
            calls,
            self._identity.address,
        )
        returned = SendBackHandlers(
            self._store.record_at,
            self.writer,
            topics,
            groups,
            lambda: config.current.permission,
            self._count_returned,
        )
        return [*sends.rows(), *replies.rows(), *returned.rows()]

    def messages_in(self) -> int:
        """The number of messages stored since the start."""
        return self.fast_send.taken + self.writer.stored


def _split(address: str) -> Peer:
    host, _, port = address.rpartition(":")
    return Peer(host.strip("[]"), int(port))
