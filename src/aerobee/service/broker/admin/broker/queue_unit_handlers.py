"""QUERY_CONSUME_QUEUE: shows the units of a queue, to look for a fault.

A unit has the log offset, size and tag code of one message.
"""

from aerobee.protocol.bodies.queue_units import NO_FILTER, GroupView, encode_queue_units
from aerobee.protocol.headers.status import QueueUnitsHeader
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.clients.consumers import Consumers
from aerobee.service.broker.request_table import Lane, Row, row
from aerobee.service.request import Answer, Request
from aerobee.storage.store import Store

COUNT_MAX = 1000


class QueueUnitHandlers:
    def __init__(self, store: Store, consumers: Consumers) -> None:
        self._store = store
        self._consumers = consumers

    def rows(self) -> list[Row]:
        return [row(RequestCode.QUERY_CONSUME_QUEUE, QueueUnitsHeader, self._show, Lane.ADMIN)]

    def _show(self, request: Request, header: QueueUnitsHeader) -> Answer:
        queue = self._store.queue(header.topic.encode(), header.queue_id)
        if queue is None:
            return Answer(
                ResponseCode.SYSTEM_ERROR, f"{header.queue_id}@{header.topic[:255]} is not exist!"
            )
        first = max(header.index, 0)
        end = min(first + min(max(header.count, 0), COUNT_MAX), queue.max_offset)
        found = (queue.unit(offset) for offset in range(max(first, queue.min_offset), end))
        return Answer(
            body=encode_queue_units(
                queue.min_offset,
                queue.max_offset,
                [unit for unit in found if unit is not None],
                self._view(header),
            )
        )

    def _view(self, header: QueueUnitsHeader) -> GroupView | None:
        if not header.consumer_group:
            return None
        group = self._consumers.find(header.consumer_group)
        found = group.subscriptions.get(header.topic) if group is not None else None
        if found is None:
            absent = f"{header.consumer_group[:255]}@{header.topic[:255]} is not online!"
            return GroupView(absent, None)
        return GroupView(NO_FILTER, found)
