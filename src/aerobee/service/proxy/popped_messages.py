"""The answer to a pop → its messages, each with its receipt and the number of its delivery.

    popped_messages   every answer: bodies are uncompressed, and batches taken apart
    RecordsInPlace    plain answers: straight into responses of a ReceiveMessage call

Law: `RecordsInPlace` gives the responses that `popped_messages` and `message_mapping` lead to. An
answer with a record that needs more than a look (a retry, a batch, an ordered pop) is left to them
as a whole.
"""

from typing import NamedTuple

from aerobee.errors import RemoteProtocolError
from aerobee.model.message import StoredMessage
from aerobee.model.properties import POP_CHECKPOINT
from aerobee.protocol.consume.pop_receipt import FROM_TOPIC, PopReceipt
from aerobee.protocol.consume.popped_receipts import (
    Places,
    PoppedMessage,
    PopTerms,
    read_counts,
    read_places,
    receipts_of,
)
from aerobee.protocol.grpc.calls import ReceiveMessageResponse
from aerobee.protocol.grpc.delivered_record import DeliveredRecord
from aerobee.protocol.grpc.message_mapping import topic_resource
from aerobee.protocol.grpc.resources import GrpcMessage, timestamp_of
from aerobee.protocol.grpc.wire import encode
from aerobee.protocol.message.stored_message import client_messages
from aerobee.service.proxy.outcomes import OK_STATUS
from aerobee.service.request import Answer

TOPICS_KNOWN_MAX = 10_000
_QUEUE_ID_AT = 12  # of a record, four bytes
_OK_RESPONSE = encode(ReceiveMessageResponse(status=OK_STATUS))


def popped_messages(
    answer: Answer, broker_name: str
) -> list[tuple[StoredMessage, PopReceipt, int]]:
    """The messages of a pop, each with its receipt and the number of its delivery."""
    fields = answer.fields or {}
    messages = client_messages(answer.body + b"".join(answer.parts))
    terms = PopTerms(
        int(fields["popTime"]),
        int(fields["invisibleTime"]),
        int(fields["reviveQid"]),
        fields.get("startOffsetInfo", ""),
        fields.get("msgOffsetInfo", ""),
    )
    places = (
        PoppedMessage(
            one.topic, one.queue_id, one.queue_offset, one.properties.get(POP_CHECKPOINT, "")
        )
        for one in messages
    )
    receipts = receipts_of(terms, broker_name, places)
    counts = read_counts(fields.get("orderCountInfo", ""))
    return [
        (
            message,
            receipt,
            1
            + counts.get(
                (receipt.origin, receipt.queue_id, receipt.queue_offset), message.reconsume_times
            ),
        )
        for message, receipt in zip(messages, receipts, strict=True)
    ]


class HandedRecord(NamedTuple):
    response: bytes
    tag: str
    message_id: str
    handle: str


class RecordsInPlace:
    def __init__(self) -> None:
        self._record = DeliveredRecord()
        self._topics: dict[str, bytes] = {}

    def read(self, answer: Answer, broker_name: str, topic: str) -> list[HandedRecord] | None:
        """The messages of a pop of this topic; None: they are to be decoded."""
        fields = answer.fields or {}
        if fields.get("orderCountInfo"):
            return None
        try:
            starts = read_places(fields.get("startOffsetInfo", ""))
            offsets = read_places(fields.get("msgOffsetInfo", ""))
        except RemoteProtocolError:
            return None
        heads: dict[int, bytes] = {}
        for (origin, queue_id), start in starts.items():
            if origin != FROM_TOPIC:
                return None
            heads[queue_id] = (
                f"{start[0]} {fields['popTime']} {fields['invisibleTime']} {fields['reviveQid']} "
                f"{FROM_TOPIC} {broker_name} {queue_id} "
            ).encode()
        return self._read_all(b"".join([answer.body, *answer.parts]), heads, offsets, topic)

    def _read_all(
        self, data: bytes, heads: dict[int, bytes], offsets: Places, topic: str
    ) -> list[HandedRecord] | None:
        record, shown = self._record, self._topic(topic)
        view = memoryview(data)
        handed: list[HandedRecord] = []
        seen = dict.fromkeys(heads, 0)
        position = 0
        while position < len(data):
            at = position + _QUEUE_ID_AT
            queue_id = int.from_bytes(data[at : at + 4], "big")
            head = heads.get(queue_id)
            if head is None or not record.read(view, position, head, queue_id):
                return None
            # The receipt has the offset that the answer names, which is the record's own.
            named = offsets.get((FROM_TOPIC, queue_id), ())
            number = seen[queue_id]
            seen[queue_id] = number + 1
            if number >= len(named) or named[number] != record.queue_offset():
                return None
            response = record.message(shown)
            handed.append(
                HandedRecord(response, record.tag(), record.message_id(), record.handle())
            )
            position = record.end()
        return handed

    def _topic(self, topic: str) -> bytes:
        """The field of a message's topic, as it is written."""
        shown = self._topics.get(topic)
        if shown is None:
            if len(self._topics) >= TOPICS_KNOWN_MAX:
                self._topics.clear()
            shown = self._topics[topic] = encode(GrpcMessage(topic_resource(topic)))
        return shown


def found_responses(messages: list[bytes], wall_ms: int) -> list[bytes]:
    """The responses of a call that found messages: a status, the messages, the time."""
    last = ReceiveMessageResponse(delivery_timestamp=timestamp_of(wall_ms))
    return [_OK_RESPONSE, *messages, encode(last)]
