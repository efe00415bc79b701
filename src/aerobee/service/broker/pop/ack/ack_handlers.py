"""ACK_MESSAGE and BATCH_ACK_MESSAGE: acknowledge popped messages, singly or many in one request.

An acknowledgement is answered when its record is safe (`ack_writer`). One of an ordered pop moves
the group's offset at once, and wakes the pops that wait for the queue.

If some entries of a batch cannot be acknowledged, the others are, and the first error is answered.
"""

from collections.abc import Callable
from typing import TypeAlias

from aerobee.ports.clock import Now
from aerobee.protocol.bodies.batch_ack import BatchAckEntry, decode_batch_ack, offsets_of
from aerobee.protocol.bodies.revive_records import CheckpointKey
from aerobee.protocol.consume.pop_receipt import ORDERLY, PopReceipt, decode_pop_receipt, topic_of
from aerobee.protocol.headers.popping import ANY_QUEUE, AckHeader
from aerobee.protocol.remoting.declared_header import NoHeader
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.pop.ack.ack_writer import AckWriter, Told
from aerobee.service.broker.pop.take.held_pops import WaitKey
from aerobee.service.broker.pop.take.order_info_table import OrderInfoTable
from aerobee.service.broker.pop.take.pop_checks import PopChecks
from aerobee.service.broker.pop.take.pop_offsets import PopOffsets
from aerobee.service.broker.request_table import Lane, Row, row
from aerobee.service.request import OK, Answer, Request

Wake: TypeAlias = Callable[[WaitKey, Now], None]
Learn: TypeAlias = Callable[[Request, AckHeader, PopReceipt], None]
_NO_ACKS = Answer(ResponseCode.NO_MESSAGE, "the request acknowledges nothing")


class AckHandlers:
    def __init__(
        self,
        checks: PopChecks,
        ack_writer: AckWriter,
        offsets: PopOffsets,
        orders: OrderInfoTable,
        wake: Wake,
        learn: Learn,
    ) -> None:
        """`learn` is called for acknowledgements that the fast path may take next time."""
        self._learn = learn
        self._checks = checks
        self._ack_writer = ack_writer
        self._offsets = offsets
        self._orders = orders
        self._wake = wake

    def rows(self) -> list[Row]:
        lane = Lane.CLIENT
        return [
            row(RequestCode.ACK_MESSAGE, AckHeader, self._ack, lane),
            row(RequestCode.BATCH_ACK_MESSAGE, NoHeader, self._ack_batch, lane),
        ]

    def _ack(self, request: Request, header: AckHeader) -> Answer | None:
        receipt = decode_pop_receipt(header.extra_info)
        topic, group, queue_id = header.topic, header.consumer_group, header.queue_id
        if receipt.is_orderly:
            return self._find_fault(
                topic, queue_id, receipt.revive_queue, header.offset
            ) or self.ack_orderly(
                topic, group, queue_id, header.offset, receipt.pop_time, request.now
            )
        key = (topic, group, queue_id, receipt.start_offset, receipt.pop_time, receipt.broker_name)
        fault = self.acknowledge(
            key, receipt.revive_queue, receipt.revive_time, header.offset, request.answer
        )
        if fault is None:
            self._learn(request, header, receipt)
        return fault

    def acknowledge(
        self, key: CheckpointKey, revive_queue: int, revive_time: int, offset: int, told: Told
    ) -> Answer | None:
        """Acknowledge a message of a pop that was not ordered: `told` gets the answer when the
        round of reads is over. Returns the answer that refuses it."""
        fault = self._find_fault(key[0], key[2], revive_queue, offset)
        if fault is None:
            self._ack_writer.add(key, revive_queue, revive_time, (offset,), told)
        return fault

    def _find_fault(
        self, topic: str, queue_id: int, revive_queue: int, offset: int
    ) -> Answer | None:
        return self._checks.find_ack_fault(
            topic, queue_id, revive_queue
        ) or self._checks.find_offset_fault(topic, queue_id, offset)

    def ack_orderly(
        self, topic: str, group: str, queue_id: int, offset: int, pop_time: int, now: Now
    ) -> Answer:
        key = (group, topic, queue_id)
        next_offset = self._orders.ack(key, offset, pop_time)
        if next_offset is None:
            return Answer(
                ResponseCode.MESSAGE_ILLEGAL, f"offset {offset} is none of those that were popped"
            )
        if next_offset > self._offsets.position(key):
            self._offsets.passed(key, next_offset)
        if not self._orders.is_blocked(key, "", now.wall_ms):
            for waiting in (queue_id, ANY_QUEUE):
                self._wake((topic, group, waiting), now)
        return OK

    # Many.

    def _ack_batch(self, request: Request, header: NoHeader) -> Answer | None:
        batch = decode_batch_ack(request.body)
        answers = _Answers(request, len(batch.entries))
        for entry in batch.entries:
            answer = self._ack_entry(entry, batch.broker_name, answers.add, request.now)
            if answer is not None:
                answers.add(answer)
        return None if batch.entries else _NO_ACKS

    def _ack_entry(
        self,
        entry: BatchAckEntry,
        broker_name: str,
        told: Callable[[Answer], None],
        now: Now,
    ) -> Answer | None:
        group, queue_id = entry.group, entry.queue_id
        topic = topic_of(entry.origin, group, entry.topic)
        fault = self._checks.find_ack_fault(topic, queue_id, entry.revive_queue)
        if fault is not None:
            return fault
        offsets = self._checks.within(topic, queue_id, offsets_of(entry))
        if not offsets:
            return _NO_ACKS
        if entry.revive_queue == ORDERLY:
            answers = [
                self.ack_orderly(topic, group, queue_id, offset, entry.pop_time, now)
                for offset in offsets
            ]
            return next((answer for answer in answers if answer is not OK), OK)
        key = (topic, group, queue_id, entry.start_offset, entry.pop_time, broker_name)
        self._ack_writer.add(
            key, entry.revive_queue, entry.pop_time + entry.invisible_ms, offsets, told
        )
        return None


class _Answers:
    """Collects the answers to the entries of one request: the first that is not a success is
    sent."""

    def __init__(self, request: Request, count: int) -> None:
        self._request = request
        self._left = count
        self._answer = OK

    def add(self, answer: Answer) -> None:
        if self._answer.code is ResponseCode.SUCCESS:
            self._answer = answer
        self._left -= 1
        if self._left == 0:
            self._request.answer(self._answer)
