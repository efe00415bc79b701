"""Pop receipts of a pop answer: its offsets matched to its messages, as runs or one by one.

    0 2 7      7,8,9        of queue 2, from 7 on, these: one run, acknowledged by its start

The receipts of single messages are matched by `protocol.consume.popped_receipts`; the texts are
drawn in `protocol.consume.pop_receipt`.
"""

from collections.abc import Sequence

from aerobee.protocol.consume import popped_receipts
from aerobee.protocol.consume.pop_receipt import FROM_TOPIC, PopReceipt
from aerobee.protocol.consume.popped_receipts import PoppedMessage, PopTerms, read_places
from aerobee.protocol.headers.popping import PopAnswerHeader
from aerobee.protocol.message.received_message import ReceivedMessage


class PopRun:
    """Messages of one queue in one answer: the fields that their receipts have in common."""

    __slots__ = (
        "acked",
        "invisible_ms",
        "origin",
        "pop_time",
        "queue_id",
        "revive_queue",
        "start_offset",
    )

    def __init__(
        self,
        start_offset: int,
        pop_time: int,
        invisible_ms: int,
        revive_queue: int,
        origin: str,
        queue_id: int,
    ) -> None:
        self.start_offset = start_offset
        self.pop_time = pop_time
        self.invisible_ms = invisible_ms
        self.revive_queue = revive_queue
        self.origin = origin
        self.queue_id = queue_id
        # Offsets whose acknowledgement has not left.
        self.acked: list[int] = []

    def receipt(self, broker_name: str, offset: int) -> PopReceipt:
        return PopReceipt(
            self.start_offset,
            self.pop_time,
            self.invisible_ms,
            self.revive_queue,
            self.origin,
            broker_name,
            self.queue_id,
            offset,
        )


def run_of(receipt: PopReceipt) -> PopRun:
    return PopRun(
        receipt.start_offset,
        receipt.pop_time,
        receipt.invisible_ms,
        receipt.revive_queue,
        receipt.origin,
        receipt.queue_id,
    )


def runs_of(
    answer: PopAnswerHeader, messages: Sequence[ReceivedMessage]
) -> dict[int, PopRun] | None:
    """The runs of an answer by queue, if all messages lie in the topic itself at the offsets named;
    None: use `receipts_of`.
    """
    starts, offsets = read_places(answer.start_offset_info), read_places(answer.msg_offset_info)
    runs: dict[int, PopRun] = {}
    position = 0
    for place, named in offsets.items():
        origin, queue_id = place
        end = position + len(named)
        run = messages[position:end]
        start = starts.get(place)
        if (
            origin != FROM_TOPIC
            or start is None
            or [message.offset for message in run] != named
            or run[0].queue.queue_id != queue_id
            or run[-1].queue.queue_id != queue_id
        ):
            return None
        runs[queue_id] = PopRun(
            start[0], answer.pop_time, answer.invisible_time, answer.revive_qid, origin, queue_id
        )
        position = end
    return runs if position == len(messages) else None


def receipts_of(
    answer: PopAnswerHeader, broker_name: str, messages: Sequence[ReceivedMessage]
) -> list[PopReceipt]:
    """A receipt for each message. RemoteProtocolError: the answer has no offset for one."""
    terms = PopTerms(
        answer.pop_time,
        answer.invisible_time,
        answer.revive_qid,
        answer.start_offset_info,
        answer.msg_offset_info,
    )
    places = (
        PoppedMessage(one.queue.topic, one.queue.queue_id, one.offset, one.receipt)
        for one in messages
    )
    return popped_receipts.receipts_of(terms, broker_name, places)
