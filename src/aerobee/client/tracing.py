"""Trace: what became of each send, for those who look for it later. Off unless asked for.

    send ─▶ record ─▶ (at most so many wait) ─▶ together ─▶ RMQ_SYS_TRACE_TOPIC

Nobody waits for a trace: records go out every so often, with one send for many. While no broker
takes them the oldest are dropped, and counted. Batches are not traced, nor are traces.
"""

import asyncio
import logging
from collections import deque

from aerobee.client.core.outgoing import Draft
from aerobee.client.core.trace_records import Sent as TracedSend
from aerobee.client.core.trace_records import TracedKind, TraceRecord, bodies, sent_record
from aerobee.client.delivery import Delivery, Sent
from aerobee.client.session import Session
from aerobee.errors import AerobeeError
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

_log = logging.getLogger(__name__)

WAITING_MAX = 2048
INTERVAL_SECONDS = 0.5
GROUP = "_INNER_TRACE_PRODUCER"


class Tracing:
    """A Watcher of one client's sends."""

    def __init__(self, session: Session, delivery: Delivery, *, topic: str = TRACE_TOPIC) -> None:
        self._session = session
        self._delivery = delivery
        self._topic = topic
        self._waiting: deque[TraceRecord] = deque(maxlen=WAITING_MAX)
        self.dropped = 0

    def start(self) -> None:
        self._session.spawn(self._keep_sending(), "trace")

    def sent(self, draft: Draft, group: str, sent: Sent | None, cost_ms: int) -> None:
        """A send is over; `sent` is None if it failed."""
        if draft.topic == self._topic or draft.is_batch:
            return
        properties = draft.properties
        host = "" if sent is None else self._host_of(sent)
        self._put(
            sent_record(
                TracedSend(
                    wall_ms=self._session.clock.now().wall_ms - cost_ms,
                    region="DefaultRegion",
                    group=group,
                    topic=draft.topic,
                    message_id=draft.unique_id,
                    tag=properties.get(TAGS, ""),
                    keys=properties.get(KEYS, ""),
                    store_host=host,
                    body_size=len(draft.body),
                    cost_ms=cost_ms,
                    kind=_kind_of(draft),
                    offset_id="" if sent is None else sent.said.message_ids,
                    is_stored=sent is not None,
                )
            )
        )

    async def flush(self) -> None:
        """Send what waits. A failure is logged: a trace is worth no error."""
        records, self._waiting = list(self._waiting), deque(maxlen=WAITING_MAX)
        for trace in bodies(records):
            draft = Draft(
                self._topic, trace.body, {UNIQUE_KEY: self._session.new_id(), KEYS: trace.keys}
            )
            try:
                await self._delivery.deliver(draft, group=GROUP)
            except AerobeeError as error:
                self.dropped += trace.body.count(b"\x02")
                _log.warning("a trace of %d bytes is lost: %s", len(trace.body), error)

    async def _keep_sending(self) -> None:
        while True:
            await asyncio.sleep(INTERVAL_SECONDS)
            if self._waiting:
                await self.flush()

    def _put(self, record: TraceRecord) -> None:
        if len(self._waiting) == WAITING_MAX:
            self.dropped += 1
        self._waiting.append(record)

    def _host_of(self, sent: Sent) -> str:
        route = self._session.routes.find(sent.queue.topic)
        return (route.master(sent.queue.broker_name) or "") if route is not None else ""


def _kind_of(draft: Draft) -> TracedKind:
    properties = draft.properties
    if TRANSACTION_PREPARED in properties:
        return TracedKind.HALF
    if TIMER_DELAY_MS in properties or TIMER_DELIVER_MS in properties:
        return TracedKind.DELAYED
    return TracedKind.ORDERED if SHARDING_KEY in properties else TracedKind.NORMAL
