"""The answer to a pop → its messages, each with its receipt and the number of its delivery.

Bodies are uncompressed, and batches taken apart.
"""

from aerobee.model.message import StoredMessage
from aerobee.model.properties import POP_CHECKPOINT
from aerobee.protocol.consume.pop_receipt import PopReceipt
from aerobee.protocol.consume.popped_receipts import (
    PoppedMessage,
    PopTerms,
    read_counts,
    receipts_of,
)
from aerobee.protocol.message.stored_message import client_messages
from aerobee.service.request import Answer


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
