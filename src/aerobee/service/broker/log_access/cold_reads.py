"""ColdReads: reads of old messages for requests, done on a disk thread so that no other request
waits.

A read is brought into memory and checked before a byte of it is sent. The number of concurrent
reads is bounded; further ones are refused, because each keeps a request waiting.
"""

import logging
from collections.abc import Callable

from aerobee.errors import StorageError
from aerobee.ports.disk_worker import DiskWorker, Lane
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.request import Answer, Request, answer_with
from aerobee.storage.read.queue_read import QueueRead
from aerobee.storage.store import Store

_log = logging.getLogger(__name__)

COLD_READS_MAX = 64

Shown = Callable[[], Answer | None]
"""Builds the answer once the messages are in memory; None: it comes later."""


class ColdReads:
    def __init__(self, store: Store, worker: DiskWorker) -> None:
        self._store = store
        self._worker = worker
        self._count = 0

    @property
    def count(self) -> int:
        """The number of reads under way."""
        return self._count

    def answer(self, request: Request, read: QueueRead, shown: Shown) -> Answer | None:
        """Answer the request when the disk job is done; returns an answer only to refuse it."""
        if self._count >= COLD_READS_MAX:
            return Answer(
                ResponseCode.SYSTEM_BUSY, "too many reads of old messages at a time: try again"
            )
        self._count += 1
        self._worker.submit(Lane.BACKGROUND, _ColdRead(self, request, read, shown))
        return None

    def verify(self, read: QueueRead) -> None:
        """Called on a disk thread."""
        self._store.verify(read)

    def ended(self, request: Request, shown: Shown, error: BaseException | None) -> None:
        self._count -= 1
        if error is None:
            answer_with(lambda request: shown(), request)
        elif isinstance(error, StorageError):
            request.answer(Answer(ResponseCode.SYSTEM_ERROR, str(error)))
        else:
            _log.error("a cold read failed", exc_info=error)
            request.answer(Answer(ResponseCode.SYSTEM_ERROR, f"the read failed: {error}"))


class _ColdRead:
    """A disk job that brings a read into memory and checks it."""

    __slots__ = ("_owner", "_read", "_request", "_shown")

    def __init__(self, owner: ColdReads, request: Request, read: QueueRead, shown: Shown) -> None:
        self._owner = owner
        self._request = request
        self._read = read
        self._shown = shown

    def run(self) -> None:
        self._owner.verify(self._read)

    def done(self, error: BaseException | None) -> None:
        self._owner.ended(self._request, self._shown, error)
