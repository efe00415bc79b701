"""SendMessage: messages of every kind into the broker's send handlers.

The checks of the protocol are here, with its codes; the broker's own follow in its handlers. A
message of a group goes to the queue that the group's hash names, any other to the next in turn. The
answer has an entry for each message.

Imports more than 15 modules because every kind of message comes by here.
"""

from collections.abc import Callable
from typing import NamedTuple

from aerobee.errors import LocalProtocolError
from aerobee.model.message_id import parse_offset_message_id
from aerobee.model.message_type import MessageType, type_of
from aerobee.model.properties import UNIQUE_KEY
from aerobee.model.topic import TopicConfig
from aerobee.ports.clock import Now
from aerobee.protocol.grpc.calls import (
    SendMessageRequest,
    SendMessageResponse,
    SendResultEntry,
)
from aerobee.protocol.grpc.codes import GrpcCode
from aerobee.protocol.grpc.message_mapping import stored_properties
from aerobee.protocol.grpc.resources import GrpcMessage, SystemProperties
from aerobee.protocol.grpc.sent_fields import sent_fields
from aerobee.protocol.remoting.declared_header import NoHeader
from aerobee.protocol.request_codes import RequestCode
from aerobee.service.proxy.call_checks import (
    check_message,
    check_type,
    names_of,
    topic_in,
    unpack_body,
)
from aerobee.service.proxy.desk import Desk, Names, QueuePlace
from aerobee.service.proxy.open_call import Method, OpenCall, answering
from aerobee.service.proxy.open_transactions import HalfPlace, OpenTransactions
from aerobee.service.proxy.outcomes import CallRefused, common_status, status_of
from aerobee.service.proxy.telemetry_calls import TelemetryCalls
from aerobee.service.request import Answer

MESSAGES_MAX = 128
"""In one request; official clients send one."""


class SendCalls:
    def __init__(
        self, desk: Desk, transactions: OpenTransactions, telemetry: TelemetryCalls
    ) -> None:
        self._desk = desk
        self._transactions = transactions
        self._telemetry = telemetry

    def methods(self) -> list[Method]:
        return [
            Method(
                "SendMessage",
                RequestCode.SEND_MESSAGE_V2,
                SendMessageRequest,
                self._send,
                answering(SendMessageResponse),
                _names,
            ),
        ]

    def _send(self, call: OpenCall, request: SendMessageRequest, now: Now) -> None:
        messages = request.messages
        if not messages:
            raise CallRefused(GrpcCode.MESSAGE_CORRUPTED, "no message to send")
        if len(messages) > MESSAGES_MAX:
            raise CallRefused(
                GrpcCode.MESSAGE_CORRUPTED, f"more than {MESSAGES_MAX} messages in one request"
            )
        topic = topic_in(messages[0].topic)
        if any(one.topic != messages[0].topic for one in messages):
            raise CallRefused(GrpcCode.MESSAGE_CORRUPTED, "topic in message is not same")
        for message in messages:
            unpack_body(message, self._desk.body_bytes_max)
            check_message(message, now.wall_ms)
        # Before the tables are looked at: what there is, is not told to whom may not send.
        self._desk.check(call.asker, RequestCode.SEND_MESSAGE_V2, {"b": topic}, now)
        config = self._desk.find_topic(topic)
        if config is None:
            raise CallRefused(
                GrpcCode.TOPIC_NOT_FOUND, f"the topic {topic} does not exist: create it first"
            )
        places = [self._place_of(message, config) for message in messages]
        answers = _SendAnswers(call, len(messages))
        peer = str(call.client.peer)
        drafts = [stored_properties(message, topic, peer) for message in messages]
        for properties in drafts:
            check_type(config, type_of(properties))
        for index, message in enumerate(messages):
            stored = answers.adding(index)
            self._put(call, _Draft(message, topic, drafts[index], places[index]), stored, now)

    def _place_of(self, message: GrpcMessage, config: TopicConfig) -> QueuePlace:
        system = message.system_properties or SystemProperties()
        place = self._desk.choose_queue(config, system.message_group or "")
        if place is None:
            raise CallRefused(GrpcCode.FORBIDDEN, f"no writable queue of the topic {config.name}")
        return place

    def _put(
        self, call: OpenCall, draft: "_Draft", done: Callable[[SendResultEntry], None], now: Now
    ) -> None:
        message, topic, properties, place = draft
        is_half = type_of(properties) is MessageType.TRANSACTION
        if is_half:
            # Clients announce topics late: it is asked about this one from now on.
            self._telemetry.register_producer(call, topic, now)
        try:
            fields = sent_fields(message, topic, place.queue_id, properties, now.wall_ms)
        except LocalProtocolError as error:
            raise CallRefused(GrpcCode.MESSAGE_PROPERTIES_TOO_LARGE, error.message) from None

        def stored(answer: Answer) -> None:
            entry = _entry_of(answer, properties[UNIQUE_KEY])
            if is_half and entry.transaction_id:
                self._note_half(place.broker, topic, answer)
            done(entry)

        self._desk.ask(
            call.asker,
            RequestCode.SEND_MESSAGE_V2,
            NoHeader(),
            now,
            stored,
            broker=place.broker,
            fields=fields,
            body=message.body,
        )

    def _note_half(self, broker: str, topic: str, answer: Answer) -> None:
        fields = answer.fields or {}
        log_offset = parse_offset_message_id(fields["msgId"]).log_offset
        place = HalfPlace(broker, log_offset, int(fields["queueOffset"]))
        self._transactions.add(topic, fields["transactionId"], place)


class _Draft(NamedTuple):
    """A message on its way to its queue."""

    message: GrpcMessage
    topic: str
    properties: dict[str, str]
    place: QueuePlace


def _names(request: SendMessageRequest) -> Names:
    return names_of(request.messages[0].topic if request.messages else None)


class _SendAnswers:
    """Collects the entries of one request, and answers it with the last."""

    def __init__(self, call: OpenCall, count: int) -> None:
        self._call = call
        self._entries: list[SendResultEntry | None] = [None] * count
        self._left = count

    def adding(self, index: int) -> Callable[[SendResultEntry], None]:
        return lambda entry: self.add(index, entry)

    def add(self, index: int, entry: SendResultEntry) -> None:
        self._entries[index] = entry
        self._left -= 1
        if self._left == 0:
            entries = [one for one in self._entries if one is not None]
            statuses = [one.status for one in entries if one.status is not None]
            self._call.answer(SendMessageResponse(common_status(statuses), entries))


def _entry_of(answer: Answer, message_id: str) -> SendResultEntry:
    status = status_of(answer)
    if status.code != GrpcCode.OK:
        return SendResultEntry(status)
    fields = answer.fields or {}
    return SendResultEntry(
        status,
        message_id,
        fields.get("transactionId", ""),
        int(fields["queueOffset"]),
        fields.get("recallHandle", ""),
    )
