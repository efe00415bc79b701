"""LIST_OPEN_TRANSACTIONS and RESUME_CHECK_HALF_MESSAGE: lists open transactions, reopens given-up
ones.

To commit or roll back by hand, send END_TRANSACTION with the offsets from the list and with
`fromTransactionCheck`. LIST_OPEN_TRANSACTIONS is an Aerobee code (docs/formats/transactions.md).
"""

from itertools import islice

from aerobee.errors import AerobeeError, CorruptRecord, ProtocolError
from aerobee.model.message_id import parse_offset_message_id
from aerobee.ports.clock import Now
from aerobee.protocol.bodies.open_transactions import (
    NO_MORE,
    OpenTransaction,
    encode_open_transactions,
)
from aerobee.protocol.headers.transactions import OpenTransactionsHeader, ResumeCheckHeader
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.clients.producers import Producers
from aerobee.service.broker.log_access.real_topic import find_real_place
from aerobee.service.broker.request_table import Lane, Row, row
from aerobee.service.broker.transaction.half_message import is_given_up
from aerobee.service.broker.transaction.ledger import Ledger
from aerobee.service.broker.transaction.open_halves import Half
from aerobee.service.request import OK, Answer, Request

COUNT_MAX = 64
"""Limit of one page: each half is read from the log."""


class TransactionStatusHandlers:
    def __init__(self, ledger: Ledger, producers: Producers) -> None:
        self._ledger = ledger
        self._producers = producers

    def rows(self) -> list[Row]:
        code, lane = RequestCode, Lane.ADMIN
        return [
            row(code.LIST_OPEN_TRANSACTIONS, OpenTransactionsHeader, self._list, lane),
            row(code.RESUME_CHECK_HALF_MESSAGE, ResumeCheckHeader, self._resume, lane),
        ]

    def _list(self, request: Request, header: OpenTransactionsHeader) -> Answer:
        count = max(1, min(header.max_num, COUNT_MAX))
        wanted = (
            half
            for half in self._ledger.halves
            if half.offset >= header.offset and header.producer_group in ("", half.group)
        )
        page = list(islice(wanted, count + 1))
        next_offset = page[count].offset if len(page) > count else NO_MORE
        shown = [self._shown(half, request.now) for half in page[:count]]
        return Answer(
            body=encode_open_transactions(
                len(self._ledger.halves), next_offset, [one for one in shown if one is not None]
            )
        )

    def _shown(self, half: Half, now: Now) -> OpenTransaction | None:
        """The list entry of a half; None: its record cannot be read now."""
        try:
            message = self._ledger.read(half)
        except (CorruptRecord, ProtocolError):
            message = None  # reported when it is due
        if message is None:
            return None
        place = find_real_place(message.properties)
        if place is None:
            return None
        return OpenTransaction(
            half.offset,
            message.log_offset,
            half.group,
            place.topic,
            place.queue_id,
            message.unique_id,
            message.offset_message_id,
            message.born_timestamp,
            message.store_timestamp,
            half.times,
            -1 if half.is_waiting else max(0, half.due_ms - now.monotonic_ms),
            bool(self._producers.members(half.group)),
        )

    def _resume(self, request: Request, header: ResumeCheckHeader) -> Answer | None:
        parked = self._ledger.record(parse_offset_message_id(header.message_id).log_offset)
        if parked is None or not is_given_up(parked):
            return Answer(
                ResponseCode.SYSTEM_ERROR,
                f"there is no message {header.message_id[:64]} among those that were given up",
            )
        not_safe = Answer(ResponseCode.SYSTEM_ERROR, "the disk failed: it may not be stored")
        try:
            self._ledger.resume(
                parked,
                request.now,
                lambda is_safe: request.answer(OK if is_safe else not_safe),
            )
        except AerobeeError as error:
            return Answer(
                ResponseCode.SYSTEM_ERROR,
                f"Put message back to RMQ_SYS_TRANS_HALF_TOPIC failed: {error}",
            )
        return None
