"""END_TRANSACTION on the general path: commits or rolls back a half message.

    record at an offset ─▶ is it that half? ─┬─ commit ─▶ the message in its topic ─▶ safe ─▶ answer
                                             └─ roll back ─▶ op record ─────────────▶ safe ─▶ answer

Most clients send it one-way: if it fails, they are asked later. The state "unknown" changes
nothing; it is answered, where Apache sends no answer. A transaction ends once: a second commit does
not store the message again, and none undoes a rollback.
"""

from collections.abc import Callable

from aerobee.errors import LocalProtocolError, StorageError
from aerobee.model.flags import TransactionType
from aerobee.model.message import StoredMessage
from aerobee.ports.clock import Now
from aerobee.protocol.headers.transactions import EndTransactionHeader
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.log_access.real_topic import find_real_place
from aerobee.service.broker.log_access.store_refusals import refused_by_store
from aerobee.service.broker.request_table import Lane, Row, row
from aerobee.service.broker.state.topics import Topics
from aerobee.service.broker.transaction.half_message import (
    group_of,
    immunity_ms,
    is_half,
)
from aerobee.service.broker.transaction.ledger import Ledger
from aerobee.service.request import OK, Answer, Request

_NOT_SAFE = Answer(ResponseCode.SYSTEM_ERROR, "the disk failed: the transaction may be open")


class EndTransactionHandlers:
    def __init__(self, ledger: Ledger, topics: Topics, *, is_served: bool) -> None:
        self._ledger = ledger
        self._topics = topics
        self._is_served = is_served

    def rows(self) -> list[Row]:
        return [row(RequestCode.END_TRANSACTION, EndTransactionHeader, self._end, Lane.SEND)]

    def _end(self, request: Request, header: EndTransactionHeader) -> Answer | None:
        if not self._is_served:
            return Answer(
                ResponseCode.SLAVE_NOT_AVAILABLE,
                "the transaction message end is not supported by a slave: ask the master",
            )
        wanted = header.commit_or_rollback
        if wanted == TransactionType.NONE:
            return OK  # it stays open
        if wanted not in (TransactionType.COMMIT, TransactionType.ROLLBACK):
            return Answer(
                ResponseCode.INVALID_PARAMETER,
                f"commitOrRollback is {wanted}, neither commit (8) nor rollback (12) nor unknown",
            )
        message = self._ledger.record(header.commit_log_offset)
        if message is None or not is_half(message):
            return _failed("find prepared transaction message failed")
        fault = self._find_fault(header, message, request.now)
        if fault is not None:
            return fault
        if wanted == TransactionType.COMMIT:
            return self._commit(request, message)
        return self._roll_back(request, message)

    def _find_fault(
        self, header: EndTransactionHeader, half: StoredMessage, now: Now
    ) -> Answer | None:
        immune_ms = immunity_ms(half)
        is_immune = immune_ms is None or now.wall_ms - half.born_timestamp <= immune_ms
        if not is_immune and not header.from_transaction_check:
            # Its producer is asked, or will be: only the answer to the check counts.
            return Answer(
                ResponseCode.ILLEGAL_OPERATION,
                "the time in which the message is not asked about is over: answer the check",
            )
        if group_of(half) != header.producer_group:
            return _failed("the producer group wrong")
        if half.queue_offset != header.tran_state_table_offset:
            return _failed("the transaction state table offset wrong")
        return None

    def _commit(self, request: Request, message: StoredMessage) -> Answer | None:
        half = self._ledger.halves.find(message.queue_offset)
        if half is None:
            return _over(message)
        place = find_real_place(message.properties)
        if place is not None and self._topics.find(place.topic) is None:
            return Answer(
                ResponseCode.TOPIC_NOT_EXIST,
                f"topic[{place.topic}] not exist, create it: the transaction stays open",
            )
        try:
            self._ledger.commit(half, message, request.now, _teller(request))
        except LocalProtocolError as error:
            return Answer(ResponseCode.MESSAGE_ILLEGAL, str(error))
        except StorageError as error:
            return refused_by_store(error)
        return None

    def _roll_back(self, request: Request, message: StoredMessage) -> Answer | None:
        half = self._ledger.halves.find(message.queue_offset)
        if half is None:
            return _over(message)
        self._ledger.roll_back(half, _teller(request))
        return None


def _teller(request: Request) -> Callable[[bool], None]:
    return lambda is_safe: request.answer(OK if is_safe else _NOT_SAFE)


def _failed(remark: str) -> Answer:
    return Answer(ResponseCode.SYSTEM_ERROR, remark)


def _over(message: StoredMessage) -> Answer:
    return _failed(f"the transaction at queue offset {message.queue_offset} is not open any more")
