"""LOCK_BATCH_MQ and UNLOCK_BATCH_MQ: queue locks for consumers that consume in order.

Clients renew them every 20 s. A client that does not get a queue is not told why: it tries again
after a while.
"""

from aerobee.protocol.bodies.locks import decode_lock_request, encode_locked
from aerobee.protocol.remoting.declared_header import NoHeader
from aerobee.protocol.request_codes import RequestCode
from aerobee.service.broker.clients.queue_locks import QueueLocks
from aerobee.service.broker.request_table import Lane, Row, row
from aerobee.service.request import OK, Answer, Request


class QueueLockHandlers:
    def __init__(self, locks: QueueLocks) -> None:
        self._locks = locks

    def rows(self) -> list[Row]:
        lane = Lane.CLIENT
        return [
            row(RequestCode.LOCK_BATCH_MQ, NoHeader, self._lock, lane),
            row(RequestCode.UNLOCK_BATCH_MQ, NoHeader, self._unlock, lane),
        ]

    def _lock(self, request: Request, header: NoHeader) -> Answer:
        wanted = decode_lock_request(request.body)
        held = self._locks.lock(
            wanted.group, wanted.client_id, wanted.queues, request.now.monotonic_ms
        )
        return Answer(body=encode_locked(held))

    def _unlock(self, request: Request, header: NoHeader) -> Answer:
        given = decode_lock_request(request.body)
        self._locks.unlock(given.group, given.client_id, given.queues)
        return OK
