"""EndTransaction, and check-backs through telemetry.

A transaction is named by its topic and id; the offsets of its half message come from the answer to
its send or from the check-back (`open_transactions`). An end that is repeated is answered as the
first was.

Imports more than 15 modules because a check-back is a request of the broker, a record and a message
of the protocol.
"""

from aerobee.errors import ProtocolError
from aerobee.model.flags import TransactionType
from aerobee.model.message import StoredMessage
from aerobee.ports.clock import Now
from aerobee.protocol.grpc.calls import (
    EndTransactionRequest,
    RecoverOrphanedTransactionCommand,
    StatusResponse,
    TelemetryCommand,
)
from aerobee.protocol.grpc.codes import COMMIT, ROLLBACK, SERVER_CHECK, GrpcCode
from aerobee.protocol.grpc.message_mapping import delivered_message
from aerobee.protocol.headers.transactions import CheckTransactionHeader, EndTransactionHeader
from aerobee.protocol.message.stored_message import client_messages
from aerobee.protocol.remoting.declared_header import read_header
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.proxy.call_checks import topic_in
from aerobee.service.proxy.desk import Desk
from aerobee.service.proxy.open_call import Method, OpenCall, answering
from aerobee.service.proxy.open_transactions import HalfPlace, OpenTransactions
from aerobee.service.proxy.outcomes import OK_STATUS, CallRefused, status_of
from aerobee.service.request import Answer

_ENDS = {COMMIT: TransactionType.COMMIT, ROLLBACK: TransactionType.ROLLBACK}


class TransactionCalls:
    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self.transactions = OpenTransactions()

    def methods(self) -> list[Method]:
        return [
            Method(
                "EndTransaction",
                RequestCode.END_TRANSACTION,
                EndTransactionRequest,
                self._end,
                answering(StatusResponse),
            )
        ]

    def _end(self, call: OpenCall, request: EndTransactionRequest, now: Now) -> None:
        topic, transaction_id = topic_in(request.topic), request.transaction_id
        if not transaction_id.strip():
            raise CallRefused(GrpcCode.INVALID_TRANSACTION_ID, "transaction id cannot be empty")
        place = self.transactions.find(topic, transaction_id)
        if place is None:
            raise CallRefused(
                GrpcCode.INTERNAL_SERVER_ERROR,
                f"cannot found transaction data of {transaction_id[:100]}: "
                "answer the check that follows",
            )
        wanted = _ENDS.get(request.resolution)
        if wanted is None or place.decided == request.resolution:
            call.answer(StatusResponse(OK_STATUS))  # unknown: it stays open
            return

        def ended(answer: Answer) -> None:
            if answer.code is ResponseCode.SUCCESS:
                self.transactions.end(topic, transaction_id, request.resolution)
            call.answer(StatusResponse(status_of(answer)))

        header = EndTransactionHeader(
            producer_group=topic,
            tran_state_table_offset=place.queue_offset,
            commit_log_offset=place.log_offset,
            commit_or_rollback=wanted,
            from_transaction_check=request.source == SERVER_CHECK,
            message_id=request.message_id,
            transaction_id=transaction_id,
            topic=topic,
        )
        code = RequestCode.END_TRANSACTION
        self._desk.ask(call.asker, code, header, now, ended, broker=place.broker)

    def check_back(self, command: RemotingCommand, broker: str) -> TelemetryCommand | None:
        """The command to a client for a check of a broker; None: it is no check, or not
        readable."""
        if command.code != RequestCode.CHECK_TRANSACTION_STATE:
            return None
        try:
            header = read_header(CheckTransactionHeader, command.ext_fields)
        except ProtocolError:
            return None
        message = _checked(command)
        if message is None:
            return None
        place = HalfPlace(broker, header.commit_log_offset, header.tran_state_table_offset)
        self.transactions.add(message.topic, header.transaction_id, place)
        shown = delivered_message(message, message.topic, message.reconsume_times + 1, "")
        recovery = RecoverOrphanedTransactionCommand(shown, header.transaction_id)
        return TelemetryCommand(status=OK_STATUS, recover_orphaned_transaction_command=recovery)


def checked_topic(command: RemotingCommand) -> str | None:
    """The topic of the transaction that a broker asks about; None: it asks about none, or what it
    says cannot be read."""
    if command.code != RequestCode.CHECK_TRANSACTION_STATE:
        return None
    message = _checked(command)
    return None if message is None else message.topic


def _checked(command: RemotingCommand) -> StoredMessage | None:
    try:
        return client_messages(bytes(command.body))[0]
    except (ProtocolError, IndexError):
        return None
