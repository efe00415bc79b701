"""`PopAcks` sends acknowledgements of popped messages to one broker, together once in a turn of the
loop.

A1. Messages added in one turn go in one request, a single one in a request of its own kind.
A2. A message counts as settled when it is added. If its acknowledgement does not arrive, the
    message comes again; that is only logged, since it was handled.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence

from aerobee.client.connection.remote_call import ask_well
from aerobee.client.connection.session import Session
from aerobee.client.core.consume.popped_runs import PopRun, run_of
from aerobee.errors import AerobeeError
from aerobee.protocol.bodies.batch_ack import BatchAck, BatchAckEntry, encode_batch_ack
from aerobee.protocol.consume.pop_receipt import PopReceipt, encode_pop_receipt, topic_of
from aerobee.protocol.headers.popping import AckHeader
from aerobee.protocol.request_codes import RequestCode

_log = logging.getLogger(__name__)


class PopAcks:
    """Acknowledgements of one group for one topic on one broker."""

    def __init__(
        self,
        session: Session,
        group: str,
        topic: str,
        broker_name: str,
        address: Callable[[], Awaitable[str]],
    ) -> None:
        self._session = session
        self._group = group
        self._topic = topic
        self._broker_name = broker_name
        self._address = address
        # Runs of which something was added in this turn.
        self._gathered: list[PopRun] = []
        # Of those, the ones that were added by a receipt.
        self._alone: dict[PopReceipt, PopRun] = {}
        self._sent: asyncio.Future[None] | None = None
        self._under_way: set[asyncio.Future[None]] = set()

    def add(self, run: PopRun, offset: int) -> None:
        """Acknowledge a message with the others of this turn."""
        acked = run.acked
        if not acked:
            self._gathered.append(run)
            if self._sent is None:
                self._begin()
        acked.append(offset)

    def add_one(self, receipt: PopReceipt) -> None:
        """The same, for a message that has a receipt of its own."""
        checkpoint = _checkpoint(receipt)
        run = self._alone.get(checkpoint)
        if run is None:
            run = self._alone[checkpoint] = run_of(receipt)
        self.add(run, receipt.queue_offset)

    @property
    def sent(self) -> "asyncio.Future[None] | None":
        """Done when the request with this turn's acknowledgements was answered, or has failed."""
        return self._sent

    async def finish(self) -> None:
        """Wait for all acknowledgements that were added so far."""
        if self._under_way:
            await asyncio.wait(tuple(self._under_way))

    def _begin(self) -> None:
        loop = asyncio.get_running_loop()
        self._sent = loop.create_future()
        self._under_way.add(self._sent)
        self._sent.add_done_callback(self._under_way.discard)
        loop.call_soon(self._send)

    def _send(self) -> None:
        runs, sent = self._gathered, self._sent
        self._gathered, self._sent = [], None
        self._alone.clear()
        assert sent is not None
        entries = []
        for run in runs:
            entries.append((run, run.acked))
            run.acked = []  # what is added from now on goes with the next
        self._session.spawn(self._tell(entries, sent), "acknowledgements")

    async def _tell(
        self, entries: Sequence[tuple[PopRun, list[int]]], sent: "asyncio.Future[None]"
    ) -> None:
        try:
            if len(entries) == 1 and len(entries[0][1]) == 1:
                run, (offset,) = entries[0]
                await self._tell_one(run.receipt(self._broker_name, offset))
            else:
                await self._tell_all(entries)
        except AerobeeError as error:
            _log.warning(
                "%d messages of %s were handled, and may come again: %s",
                sum(len(offsets) for _, offsets in entries),
                self._topic,
                error,
            )
        finally:
            if not sent.done():
                sent.set_result(None)

    async def _tell_one(self, receipt: PopReceipt) -> None:
        header = AckHeader(
            self._group,
            topic_of(receipt.origin, self._group, self._topic),
            receipt.queue_id,
            encode_pop_receipt(receipt),
            receipt.queue_offset,
        )
        address = await self._address()
        await ask_well(self._session, address, RequestCode.ACK_MESSAGE, header)

    async def _tell_all(self, entries: Sequence[tuple[PopRun, list[int]]]) -> None:
        acks = tuple(
            BatchAckEntry(
                self._group,
                self._topic,
                run.origin,
                run.start_offset,
                run.queue_id,
                run.revive_queue,
                run.pop_time,
                run.invisible_ms,
                tuple([offset - run.start_offset for offset in offsets]),
            )
            for run, offsets in entries
        )
        await ask_well(
            self._session,
            await self._address(),
            RequestCode.BATCH_ACK_MESSAGE,
            body=encode_batch_ack(BatchAck(self._broker_name, acks)),
        )


def _checkpoint(receipt: PopReceipt) -> PopReceipt:
    """The fields that the receipts of one checkpoint have in common."""
    return run_of(receipt).receipt("", 0)
