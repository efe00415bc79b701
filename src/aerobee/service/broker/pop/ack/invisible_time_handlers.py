"""CHANGE_MESSAGE_INVISIBLETIME: sets a new invisible time for a popped message, counted from now.

    new checkpoint of the one message ─▶ the old receipt acknowledged ─▶ safe ─▶ answer

In this order, so that at every moment one of the two checkpoints brings the message back. The pop
time of the new receipt is later than the old one's, whatever the clock says: otherwise both would
have the same key.
"""

from aerobee.errors import AerobeeError
from aerobee.protocol.bodies.revive_records import Checkpoint
from aerobee.protocol.consume.pop_receipt import PopReceipt, decode_pop_receipt
from aerobee.protocol.headers.popping import InvisibleTimeAnswerHeader, InvisibleTimeHeader
from aerobee.protocol.remoting.declared_header import write_header
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.pop.ack.ack_writer import AckWriter
from aerobee.service.broker.pop.revive.in_flight import InFlight
from aerobee.service.broker.pop.revive.revive_writer import ReviveWriter
from aerobee.service.broker.pop.take.order_info_table import OrderInfoTable
from aerobee.service.broker.pop.take.pop_checks import INVISIBLE_MS_MAX, PopChecks
from aerobee.service.broker.request_table import Lane, Row, row
from aerobee.service.request import Answer, Request


class InvisibleTimeHandlers:
    def __init__(
        self,
        checks: PopChecks,
        ack_writer: AckWriter,
        orders: OrderInfoTable,
        log: ReviveWriter,
        in_flight: InFlight,
    ) -> None:
        self._checks = checks
        self._ack_writer = ack_writer
        self._orders = orders
        self._log = log
        self._in_flight = in_flight

    def rows(self) -> list[Row]:
        return [
            row(
                RequestCode.CHANGE_MESSAGE_INVISIBLETIME,
                InvisibleTimeHeader,
                self._change,
                Lane.CLIENT,
            )
        ]

    def _change(self, request: Request, header: InvisibleTimeHeader) -> Answer | None:
        receipt = decode_pop_receipt(header.extra_info)
        topic, queue_id = header.topic, header.queue_id
        fault = self._checks.find_ack_fault(topic, queue_id, receipt.revive_queue)
        fault = fault or self._checks.find_offset_fault(topic, queue_id, header.offset + 1)
        fault = fault or self._checks.find_offset_fault(topic, queue_id, header.offset)
        if fault is not None:
            return fault
        if not 0 <= header.invisible_time <= INVISIBLE_MS_MAX:
            return Answer(
                ResponseCode.INVALID_PARAMETER,
                f"invisibleTime is {header.invisible_time}, and must be 0 to {INVISIBLE_MS_MAX} ms",
            )
        if receipt.is_orderly:
            return self._change_orderly(request, header, receipt)
        return self._replace(request, header, receipt)

    def _change_orderly(
        self, request: Request, header: InvisibleTimeHeader, receipt: PopReceipt
    ) -> Answer:
        visible_ms = request.now.wall_ms + header.invisible_time
        key = (header.consumer_group, header.topic, header.queue_id)
        self._orders.show_at(key, header.offset, receipt.pop_time, visible_ms)
        said = InvisibleTimeAnswerHeader(
            receipt.pop_time, visible_ms - receipt.pop_time, receipt.revive_queue
        )
        return Answer(fields=write_header(said))

    def _replace(
        self, request: Request, header: InvisibleTimeHeader, receipt: PopReceipt
    ) -> Answer | None:
        topic, group, queue_id = header.topic, header.consumer_group, header.queue_id
        checkpoint = Checkpoint(
            topic,
            group,
            queue_id,
            header.offset,
            max(request.now.wall_ms, receipt.pop_time + 1),
            header.invisible_time,
            receipt.broker_name,
            (0,),
            header.suspend,
        )
        try:
            self._log.put_checkpoint(checkpoint, receipt.revive_queue, request.now)
        except AerobeeError as error:
            return Answer(ResponseCode.SYSTEM_ERROR, str(error))
        self._in_flight.started(checkpoint.key, 0)
        said = InvisibleTimeAnswerHeader(
            checkpoint.pop_time, header.invisible_time, receipt.revive_queue
        )
        changed = Answer(fields=write_header(said))

        def told(answer: Answer) -> None:
            request.answer(changed if answer.code is ResponseCode.SUCCESS else answer)

        key = (topic, group, queue_id, receipt.start_offset, receipt.pop_time, receipt.broker_name)
        self._ack_writer.add(key, receipt.revive_queue, receipt.revive_time, (header.offset,), told)
        return None
