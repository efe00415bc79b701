"""Acknowledgements of popped messages on their way to one broker: together, once in a turn of the
loop.

A1. What is added in one turn goes in one request, a single one in a request of its own kind.
A2. A message is out of hand when it is added. If its acknowledgement does not arrive it comes
    again, which is said in the log and to nobody else: it was handled.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence

from aerobee.client.asking import ask_well
from aerobee.client.session import Session
from aerobee.errors import AerobeeError
from aerobee.protocol.bodies.batch_ack import BatchAck, BatchAckEntry, encode_batch_ack
from aerobee.protocol.headers.popping import AckHeader
from aerobee.protocol.pop_receipt import PopReceipt, encode_pop_receipt, topic_of
from aerobee.protocol.request_codes import RequestCode

_log = logging.getLogger(__name__)


class PopAcks:
    """What one group acknowledges of one topic on one broker."""

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
        self._gathered: list[PopReceipt] = []
        self._sent: asyncio.Future[None] | None = None
        self._under_way: set[asyncio.Future[None]] = set()

    def add(self, receipt: PopReceipt) -> "asyncio.Future[None]":
        """Acknowledge a message with the others of this turn; done when the broker has answered,
        or will not."""
        self._gathered.append(receipt)
        if self._sent is None:
            loop = asyncio.get_running_loop()
            self._sent = loop.create_future()
            self._under_way.add(self._sent)
            self._sent.add_done_callback(self._under_way.discard)
            loop.call_soon(self._send)
        return self._sent

    async def finish(self) -> None:
        """Wait for everything that was added so far."""
        if self._under_way:
            await asyncio.wait(tuple(self._under_way))

    def _send(self) -> None:
        receipts, sent = self._gathered, self._sent
        self._gathered, self._sent = [], None
        assert sent is not None
        self._session.spawn(self._tell(receipts, sent), f"{len(receipts)} acknowledgements")

    async def _tell(self, receipts: Sequence[PopReceipt], sent: "asyncio.Future[None]") -> None:
        try:
            if len(receipts) == 1:
                await self._tell_one(receipts[0])
            else:
                await self._tell_all(receipts)
        except AerobeeError as error:
            _log.warning(
                "%d messages of %s were handled, and may come again: %s",
                len(receipts),
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

    async def _tell_all(self, receipts: Sequence[PopReceipt]) -> None:
        runs: dict[tuple[str, int, int, int, int, int], list[int]] = {}
        for one in receipts:
            run = (
                one.origin,
                one.start_offset,
                one.queue_id,
                one.revive_queue,
                one.pop_time,
                one.invisible_ms,
            )
            runs.setdefault(run, []).append(one.queue_offset - one.start_offset)
        entries = tuple(
            BatchAckEntry(self._group, self._topic, *run, tuple(distances))
            for run, distances in runs.items()
        )
        await ask_well(
            self._session,
            await self._address(),
            RequestCode.BATCH_ACK_MESSAGE,
            body=encode_batch_ack(BatchAck(self._broker_name, entries)),
        )
