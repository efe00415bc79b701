"""Calls that are taken in place: SendMessage of one plain message, AckMessage of one entry.

They come for every message, so their requests are read without an object per field, and go to the
broker's fast paths (`desk.FastDesk`). Law: a call that is taken is answered as `send_calls` and
`receipt_calls` would. All others are left to them: of sends those that are not plain, of
acknowledgements a receipt that has expired, was renewed or is of an ordered pop.

Imports more than 15 modules because a call is read, checked and answered in one place.
"""

from aerobee.model.message_type import MessageType
from aerobee.model.topic import TopicConfig
from aerobee.ports.clock import Now
from aerobee.ports.rpc import AnswerCall, CallId
from aerobee.ports.service import Effects
from aerobee.protocol.consume.pop_receipt import ORDERLY
from aerobee.protocol.grpc.ack_message_reader import AckMessageReader
from aerobee.protocol.grpc.calls import (
    AckMessageRequest,
    AckMessageResponse,
    AckMessageResultEntry,
)
from aerobee.protocol.grpc.resources import Resource
from aerobee.protocol.grpc.send_message_reader import SendMessageReader
from aerobee.protocol.grpc.wire import decode, encode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.proxy.call_checks import check_type, group_in, topic_in
from aerobee.service.proxy.desk import Desk, FastDesk
from aerobee.service.proxy.grpc_clients import GrpcClient
from aerobee.service.proxy.outcomes import CallRefused, status_of
from aerobee.service.proxy.renewals import Renewals
from aerobee.service.request import Answer

TOPICS_KNOWN_MAX = 10_000
NAMES_KNOWN_MAX = 10_000


class SendsInPlace:
    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._reader = SendMessageReader()
        self._normal: dict[bytes, TopicConfig] = {}

    def take(
        self, fast: FastDesk, client: GrpcClient, call: CallId, message: bytes, now: Now
    ) -> bytes | bool:
        """Store a plain message in place (`open_call.InPlace`)."""
        reader, draft = self._reader, fast.draft
        if not reader.read(message, draft) or not self._takes_normal(draft.topic):
            return False
        queue_offset = fast.store(client.channel, now)
        return False if queue_offset < 0 else reader.answer(queue_offset)

    def _takes_normal(self, topic: bytes) -> bool:
        """Whether a topic takes normal messages: asked once for each of its configurations."""
        known = self._normal.get(topic)
        if known is not None and self._desk.find_topic(known.name) is known:
            return True
        try:
            config = self._desk.find_topic(topic_in(Resource(name=topic.decode())))
            if config is None:
                return False
            check_type(config, MessageType.NORMAL)
        except CallRefused:
            return False
        if len(self._normal) >= TOPICS_KNOWN_MAX:
            self._normal.clear()
        self._normal[topic] = config
        return True


class AcksInPlace:
    def __init__(self, outbox: Effects, renewals: Renewals) -> None:
        self._outbox = outbox
        self._renewals = renewals
        self._reader = AckMessageReader()
        self._names: dict[tuple[bytes, bytes], tuple[str, str]] = {}

    def take(
        self, fast: FastDesk, client: GrpcClient, call: CallId, message: bytes, now: Now
    ) -> bool:
        """Acknowledge a message (`open_call.InPlace`)."""
        reader, renewals = self._reader, self._renewals
        if not reader.read(message):
            return False
        names = self._names.get((reader.group, reader.topic)) or self._learn()
        revive_time = reader.pop_time + reader.invisible_ms
        if names is None or reader.revive_queue == ORDERLY or revive_time <= now.wall_ms:
            return False
        group, topic = names
        queue_id, offset = reader.queue_id, reader.queue_offset
        renewal = None
        if len(renewals):
            renewal = renewals.find((client.id, group, reader.message_id(), queue_id, offset))
            if renewal is not None and (renewal.times or renewal.is_asking):
                return False  # the client's receipt is not the newest, or soon will not be
        answer = reader.answer()

        def acked(outcome: Answer) -> None:
            said = answer
            if outcome.code is not ResponseCode.SUCCESS:
                said = _refusal(message, outcome)
                if renewal is not None and not client.is_gone:
                    renewals.add(renewal)
            self._outbox.append(AnswerCall(call, (said,)))

        broker = reader.broker_name.decode()
        checkpoint = (topic, group, queue_id, reader.start_offset, reader.pop_time, broker)
        if not fast.acknowledge(checkpoint, reader.revive_queue, revive_time, offset, acked):
            return False
        if renewal is not None:
            renewals.take(renewal.key)
        return True

    def _learn(self) -> tuple[str, str] | None:
        """Group and topic of the request, as names that are sound."""
        group, topic = self._reader.group, self._reader.topic
        try:
            names = (
                group_in(Resource(name=group.decode())),
                topic_in(Resource(name=topic.decode())),
            )
        except CallRefused:
            return None
        if len(self._names) >= NAMES_KNOWN_MAX:
            self._names.clear()
        self._names[group, topic] = names
        return names


def _refusal(message: bytes, outcome: Answer) -> bytes:
    request, status = decode(AckMessageRequest, message), status_of(outcome)
    entries = [
        AckMessageResultEntry(one.message_id, one.receipt_handle, status) for one in request.entries
    ]
    return encode(AckMessageResponse(status, entries))
