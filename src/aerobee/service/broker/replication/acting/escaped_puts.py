"""EscapedPuts is the log of an acting master: messages that the broker puts are stored by another
master of the cluster.

    put ─▶ waits ─▶ route of its topic ─▶ SEND_MESSAGE_V2 ─▶ acknowledged ─▶ lasting
             ▲                                  │
             └──────── later, elsewhere ◀───────┘ no answer in 3 s, or a refusal

A put has a number, which takes the place of its log offset: `lasting_offset` is the number up to
which all are acknowledged. So the features that put save their progress as they do with a log of
their own: no message is passed that another master has not. What is not acknowledged when this
broker ends is put again by whoever goes on from the saved progress.

Laws.
- A put is sent until it is acknowledged, to the masters of its topic by turns; if its topic has
  none, to any master of the cluster, which may make the topic.
- The puts that wait are bounded in number and bytes: more are refused, and their features wait.
- Records of pops (checkpoints, acknowledgements) speak of this broker's queues and go nowhere:
  `revive` takes them, and says when they are over. One that the timer puts back because it waits
  for days is refused: the timer stays before it, and the master that returns puts it back.

Called from the core's thread only.
"""

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple, Protocol, TypeAlias

from aerobee.errors import NothingTaken, StorageError, StoreBusy
from aerobee.model.flags import is_writable
from aerobee.model.properties import TAGS, find_property
from aerobee.model.route import MASTER_ID, TopicRoute
from aerobee.ports.clock import Now
from aerobee.ports.service import Dial, Effects
from aerobee.protocol.message.message_draft import MessageDraft
from aerobee.protocol.remoting.declared_header import write_header
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.log_access.put_place import Safe
from aerobee.service.broker.replication.acting.escaped_form import EscapedMessage, escaped_form
from aerobee.service.topic_routes import TopicRoutes
from aerobee.storage.appender import Appender

_log = logging.getLogger(__name__)

PUT_TIMEOUT_MS = 3_000
RETRY_MS = 1_000
PUTS_MAX = 1_000
BYTES_MAX = 16 << 20
REST_MS_MAX = 1_000
_TAGS = TAGS.encode()
_STORED = frozenset(
    {
        ResponseCode.SUCCESS,
        # Stored; only the number of its copies is not known, as after a send of a producer.
        ResponseCode.FLUSH_DISK_TIMEOUT,
        ResponseCode.FLUSH_SLAVE_TIMEOUT,
        ResponseCode.SLAVE_NOT_AVAILABLE,
    }
)

Over: TypeAlias = Callable[[list[int]], None]
"""Called when a record of pops is over, with the numbers of the puts that came of it."""
Revive: TypeAlias = Callable[[int, str, bytes, Over], None]
"""Takes a record of pops: its queue, tag and body."""


class RecordWaits(NothingTaken):
    """A record of pops has to wait on, in the log of its master only: nothing was put."""


class _Target(NamedTuple):
    broker: str
    address: str
    queues: int


class _Put:
    """A put that is not acknowledged. `message` is None for a record of pops."""

    __slots__ = ("due_ms", "is_sent", "message", "number", "size", "tries", "waits_for")

    def __init__(self, number: int, message: EscapedMessage | None, size: int) -> None:
        self.number = number
        self.message = message
        self.size = size
        self.tries = 0
        self.due_ms = 0
        self.is_sent = False
        # A record of pops: puts of its messages, once it is over.
        self.waits_for: set[int] | None = None


class _Ticket(NamedTuple):
    number: int
    address: str


class TopicsBorn(Protocol):
    def born_at(self, topic: bytes) -> int: ...


class EscapedPuts:
    """A `PutPlace`. E1. `_waiting` has the puts that are not acknowledged, by number."""

    def __init__(
        self,
        broker_name: str,
        cluster: str,
        revive_topic: str,
        routes: TopicRoutes,
        born: TopicsBorn,
        outbox: Effects,
    ) -> None:
        """`born` is the appender of this broker's log: it knows which topics were deleted."""
        self._broker_name = broker_name
        self._cluster = cluster
        self._revive_topic = revive_topic.encode()
        self._routes = routes
        self._outbox = outbox
        self._waiting: dict[int, _Put] = {}
        self._bytes = 0
        # Records of pops, by the puts of their messages.
        self._records: dict[int, _Put] = {}
        self._safe: list[tuple[int, Safe]] = []
        self._reason = ""
        self.revive: Revive | None = None
        self.appender: Appender = _EscapingAppender(self._put, born)
        self.is_own = False
        self.end_offset = 0
        # Since the start.
        self.escaped = 0

    # Puts.

    @property
    def lasting_offset(self) -> int:
        return next(iter(self._waiting)) - 1 if self._waiting else self.end_offset

    @property
    def waiting(self) -> int:
        """The number of puts that are not acknowledged."""
        return len(self._waiting)

    def when_safe(self, end_offset: int, then: Safe) -> None:
        self._safe.append((end_offset, then))
        self._release()

    def refuse(self, reason: StorageError) -> None:
        """Take no more puts; those that wait are still sent."""
        self.appender.refusal = reason

    def _put(self, draft: MessageDraft) -> int:
        if len(self._waiting) >= PUTS_MAX or self._bytes >= BYTES_MAX:
            raise StoreBusy(
                f"{len(self._waiting)} messages wait for another master to take them",
                hint=self._reason,
            )
        number = self.end_offset + 1
        if draft.topic == self._revive_topic and self.revive is not None:
            put = _Put(number, None, 0)
            self._add(put)
            tag = find_property(draft.properties_text(), _TAGS) or b""
            self.revive(
                draft.queue_id,
                tag.decode(),
                draft.body_bytes(),
                lambda numbers: self._revived(put, numbers),
            )
        else:
            message = escaped_form(draft)
            if message.topic.encode() == self._revive_topic:
                raise RecordWaits("a popped message is invisible for days: its master has to know")
            self._add(_Put(number, message, len(message.body)))
        return number

    def _add(self, put: _Put) -> None:
        self.end_offset = put.number
        self._waiting[put.number] = put
        self._bytes += put.size

    def _revived(self, put: _Put, numbers: list[int]) -> None:
        """A record of pops is over; its messages are these puts."""
        put.waits_for = {number for number in numbers if number in self._waiting}
        for number in put.waits_for:
            self._records[number] = put
        if not put.waits_for:
            self._acknowledge(put)

    def _acknowledge(self, put: _Put) -> None:
        del self._waiting[put.number]
        self._bytes -= put.size
        record = self._records.pop(put.number, None)
        if record is not None and record.waits_for is not None:
            record.waits_for.discard(put.number)
            if not record.waits_for:
                self._acknowledge(record)
        self._release()

    def _release(self) -> None:
        lasting = self.lasting_offset
        due = [then for end_offset, then in self._safe if end_offset <= lasting]
        self._safe = [one for one in self._safe if one[0] > lasting]
        for then in due:
            then(True)

    # Sending.

    def on_tick(self, now: Now) -> None:
        for put in list(self._waiting.values()):
            message = put.message
            if message is not None and not put.is_sent and now.monotonic_ms >= put.due_ms:
                put.is_sent = True
                self._find_target(put, message, message.topic, now)

    def rest_ms(self, now: Now) -> int:
        """The time for which no tick is needed."""
        dues = [
            one.due_ms
            for one in self._waiting.values()
            if one.message is not None and not one.is_sent
        ]
        return max(0, min(min(dues) - now.monotonic_ms, REST_MS_MAX)) if dues else REST_MS_MAX

    def _find_target(self, put: _Put, message: EscapedMessage, topic: str, now: Now) -> None:
        def found(route: TopicRoute | None) -> None:
            targets = [] if route is None else self._targets(route)
            if targets:
                queue_id = message.header.queue_id
                target = targets[(queue_id + put.tries) % len(targets)]
                # Behind the cluster's topic there may be none of this name: its first queue.
                queue_id = queue_id % target.queues if topic == message.topic else 0
                self._send(put, message, target, queue_id)
            elif topic != self._cluster:
                self._find_target(put, message, self._cluster, now)
            else:
                self._postpone(put, "no other master of the cluster is known", now)

        self._routes.find(topic, now, found)

    def _targets(self, route: TopicRoute) -> list[_Target]:
        """The other masters in a route. An acting master has the id of a master, and takes no
        messages: its queues are not writable."""
        queues = {
            one.broker_name: one.write_queues
            for one in route.queues
            if is_writable(one.permission) and one.write_queues > 0
        }
        return [
            _Target(broker.name, broker.addresses[MASTER_ID], queues[broker.name])
            for broker in sorted(route.brokers, key=lambda one: one.name)
            if broker.name in queues
            and broker.name != self._broker_name
            and MASTER_ID in broker.addresses
        ]

    def _send(self, put: _Put, message: EscapedMessage, target: _Target, queue_id: int) -> None:
        header = replace(message.header, queue_id=queue_id, broker_name=target.broker)
        command = RemotingCommand(
            RequestCode.SEND_MESSAGE_V2, ext_fields=write_header(header), body=message.body
        )
        ticket = _Ticket(put.number, target.address)
        self._outbox.append(Dial(target.address, command, PUT_TIMEOUT_MS, ticket))

    def on_answer(self, ticket: object, answer: RemotingCommand | None, now: Now) -> None:
        """Handle the answer to a send; tickets of others are ignored."""
        if not isinstance(ticket, _Ticket):
            return
        put = self._waiting[ticket.number]
        if answer is not None and answer.code in _STORED:
            self.escaped += 1
            self._reason = ""
            self._acknowledge(put)
            return
        why = "no answer" if answer is None else answer.remark or f"code {answer.code}"
        self._postpone(put, f"{ticket.address}: {why}", now)

    def _postpone(self, put: _Put, reason: str, now: Now) -> None:
        put.is_sent = False
        put.tries += 1
        put.due_ms = now.monotonic_ms + RETRY_MS
        if reason != self._reason:
            self._reason = reason
            _log.warning("a message for another master waits: %s", reason)


class _EscapingAppender(Appender):
    """Takes drafts in the place of a log. It calls no constructor of `Appender`: it has no log."""

    __slots__ = ("_born", "_put")

    count = 1
    queue_offset = -1

    def __init__(self, put: Callable[[MessageDraft], int], born: TopicsBorn) -> None:
        self._put = put
        self._born = born
        self.refusal = None

    def append(self, draft: MessageDraft, wall_ms: int) -> int:
        if self.refusal is not None:
            raise self.refusal
        return self._put(draft)

    def born_at(self, topic: bytes) -> int:
        return self._born.born_at(topic)
