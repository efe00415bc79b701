"""`TraceSender` records sends, transactions and consumed messages, and sends the trace messages.

    send, transaction, consumer ─▶ records ─▶ (bounded buffer) ─▶ RMQ_SYS_TRACE_TOPIC

It is off unless `trace=True`. No send waits for its trace: records are sent at an interval, many in
one message. While no broker takes them the oldest are dropped, and counted. A batch has one record.
Traces are not traced.
"""

import asyncio
import logging
from collections.abc import Mapping

from aerobee.client.connection.session import Session
from aerobee.client.core.namespace import without_namespace
from aerobee.client.core.send.outgoing import Draft
from aerobee.client.core.trace_reading import BATCH_ID_END
from aerobee.client.core.trace_records import (
    DEFAULT_REGION,
    Ended,
    SendTrace,
    TraceBuffer,
    TracedKind,
    bodies,
    ended_record,
    sent_record,
)
from aerobee.client.send.delivery import Delivery, Sent
from aerobee.errors import AerobeeError
from aerobee.model.flags import TransactionType
from aerobee.model.names import TRACE_TOPIC
from aerobee.model.properties import (
    KEYS,
    SHARDING_KEY,
    TAGS,
    TIMER_DELAY_MS,
    TIMER_DELIVER_MS,
    TRANSACTION_PREPARED,
    UNIQUE_KEY,
)
from aerobee.protocol.headers.transactions import EndTransactionHeader

_log = logging.getLogger(__name__)

INTERVAL_SECONDS = 0.5
GROUP = "_INNER_TRACE_PRODUCER"
_STATES = {
    int(TransactionType.COMMIT): "COMMIT_MESSAGE",
    int(TransactionType.ROLLBACK): "ROLLBACK_MESSAGE",
}


class TraceSender:
    """A Watcher of one client's sends, which sends the trace messages."""

    def __init__(
        self,
        session: Session,
        delivery: Delivery,
        records: TraceBuffer,
        *,
        topic: str = TRACE_TOPIC,
    ) -> None:
        self._session = session
        self._delivery = delivery
        self._records = records
        self._topic = topic

    def start(self) -> None:
        # Consumers that close later than this are done with their messages by then.
        self._session.at_close(self.flush)
        self._session.spawn(self._keep_sending(), "trace")

    def sent(self, draft: Draft, group: str, sent: Sent | None, cost_ms: int) -> None:
        """Record the end of a send; `sent` is None if it failed."""
        if draft.topic == self._topic or (sent is not None and not sent.is_traced):
            return
        members = [member.unique_id for member in draft.members]
        said = [member.properties for member in draft.members or (draft,)]
        namespace = self._session.options.namespace
        record = SendTrace(
            wall_ms=self._session.clock.now().wall_ms - cost_ms,
            region=DEFAULT_REGION if sent is None else sent.region,
            group=without_namespace(namespace, group),
            topic=without_namespace(namespace, draft.topic),
            message_id=BATCH_ID_END.join(members) or draft.unique_id,
            tag=_all_of(TAGS, said),
            keys=_all_of(KEYS, said),
            store_host="" if sent is None else self._host_of(sent),
            body_size=len(draft.body),
            cost_ms=cost_ms,
            kind=_kind_of(draft),
            offset_id="" if sent is None else sent.said.message_ids,
            is_stored=sent is not None,
        )
        self._records.put(sent_record(record, members))

    async def flush(self) -> None:
        """Send the waiting records. A failure is only logged."""
        for trace in bodies(self._records.take_all()):
            draft = Draft(
                self._topic, trace.body, {UNIQUE_KEY: self._session.new_id(), KEYS: trace.keys}
            )
            try:
                await self._delivery.deliver(draft, group=GROUP)
            except AerobeeError as error:
                self._records.dropped += trace.body.count(b"\x02")
                _log.warning("a trace of %d bytes is lost: %s", len(trace.body), error)

    async def _keep_sending(self) -> None:
        while True:
            await asyncio.sleep(INTERVAL_SECONDS)
            await self.flush()

    def _host_of(self, sent: Sent) -> str:
        route = self._session.routes.find(sent.queue.topic)
        return (route.master_of(sent.queue) or "") if route is not None else ""


def trace_end(
    session: Session, end: EndTransactionHeader, properties: Mapping[str, str], broker: str
) -> None:
    """Record the end of a transaction, by its sender or after a check."""
    if session.traces is not None:
        namespace = session.options.namespace
        ended = Ended(
            session.clock.now().wall_ms,
            without_namespace(namespace, end.producer_group),
            without_namespace(namespace, end.topic or ""),
            end.message_id or "",
            properties.get(TAGS, ""),
            properties.get(KEYS, ""),
            broker,
            end.transaction_id or "",
            _STATES[end.commit_or_rollback],
            end.from_transaction_check,
        )
        session.traces.put(ended_record(ended))


def _all_of(name: str, said: list[dict[str, str]]) -> str:
    """The values of a property of all messages, once each."""
    return " ".join(dict.fromkeys(one[name] for one in said if name in one))


def _kind_of(draft: Draft) -> TracedKind:
    properties = draft.properties
    if TRANSACTION_PREPARED in properties:
        return TracedKind.HALF
    if TIMER_DELAY_MS in properties or TIMER_DELIVER_MS in properties:
        return TracedKind.DELAYED
    is_ordered = SHARDING_KEY in properties or draft.order_by is not None
    return TracedKind.ORDERED if is_ordered else TracedKind.NORMAL
