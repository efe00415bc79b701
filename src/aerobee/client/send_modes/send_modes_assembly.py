"""`SendModes` puts the send modes of a client together.

once           stored once, however often it is tried
transactions   visible if a local transaction succeeds
requests       answered by a consumer
tracing        recorded in trace messages
spill          kept in a file while no broker answers
"""

from aerobee.client.api.client_options import Duration, seconds_of
from aerobee.client.connection.session import Session
from aerobee.client.core.send.outgoing import Draft
from aerobee.client.core.send.spill_rules import SpillRules
from aerobee.client.send.sender import Sender
from aerobee.client.send_modes.request_reply import RequestReply
from aerobee.client.send_modes.spill import Spill
from aerobee.client.send_modes.stored_once import StoredOnce
from aerobee.client.send_modes.trace_sender import TraceSender
from aerobee.client.send_modes.transactions import Check, Transaction, Transactions
from aerobee.model.message_queue import MessageQueue

__all__ = ["Check", "SendModes", "Spill", "Transaction"]


class SendModes:
    def __init__(self, session: Session, sending: Sender) -> None:
        self._session = session
        self._sending = sending
        self.once = StoredOnce(session, sending)
        self.transactions = Transactions(session, sending.delivery)
        self.requests = RequestReply(session, sending.delivery)
        self._tracing: TraceSender | None = None
        if session.traces is not None:
            self._tracing = TraceSender(session, sending.delivery, session.traces)
            sending.delivery.watcher = self._tracing

    def start(self) -> None:
        if self._tracing is not None:
            self._tracing.start()

    def transaction(
        self,
        draft: Draft,
        group: str,
        check: Check | None,
        *,
        queue: MessageQueue | None,
        timeout: float | None,
    ) -> Transaction:
        return Transaction(self.transactions, draft, group, check, queue=queue, timeout=timeout)

    def spill(
        self, path: str, *, max_bytes: int, expire: Duration | None, keep_unknown: bool
    ) -> Spill:
        expire_ms = None if expire is None else max(1, round(seconds_of(expire, "expire") * 1000))
        rules = SpillRules(max_bytes, expire_ms, keep_unknown)
        return Spill(self._session, self._sending, path, rules)
