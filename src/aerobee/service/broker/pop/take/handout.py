"""Handout gives messages of one queue to a pop: it writes the checkpoint first, then moves the
offset.

An ordered pop has no checkpoint: its messages are noted in the order info, and the group's offset
stays. Messages of the retry topic are handed out under their original topic's name, with a receipt.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from aerobee.errors import LocalProtocolError, StorageError
from aerobee.model.message import StoredMessage
from aerobee.model.properties import POP_CHECKPOINT
from aerobee.ports.clock import Now
from aerobee.protocol.bodies.revive_records import Checkpoint
from aerobee.protocol.consume.pop_receipt import (
    FROM_TOPIC,
    PoppedRun,
    PopReceipt,
    encode_pop_receipt,
)
from aerobee.protocol.message.record import WHOLE, Record
from aerobee.protocol.message.stored_message import decode_records, encode_record
from aerobee.service.broker.pop.revive.in_flight import InFlight
from aerobee.service.broker.pop.revive.revive_writer import ReviveWriter
from aerobee.service.broker.pop.take.held_pops import PopPlan
from aerobee.service.broker.pop.take.order_info import OrderInfo
from aerobee.service.broker.pop.take.order_info_table import OrderInfoTable
from aerobee.service.broker.pop.take.pop_offsets import PopKey, PopOffsets
from aerobee.storage.read.queue_read import QueueRead


class ColdRun(NamedTuple):
    """A read that has to be brought into memory and checked before it is handed out."""

    topic: str
    queue_id: int
    position: int
    read: QueueRead


@dataclass(slots=True)
class Popped:
    """The result of one pop, filled queue by queue."""

    now: Now
    revive_queue: int
    fetched: ColdRun | None = None
    count: int = 0
    runs: list[PoppedRun] = field(default_factory=list)
    parts: list[memoryview] = field(default_factory=list)
    rest: int = 0
    """The approximate number of messages that could be popped next."""
    cold: ColdRun | None = None
    """Set if no message was found in memory: the read to bring into memory first."""
    error: StorageError | None = None
    is_refused: bool = False
    """The store takes no checkpoint now."""
    counts: list[tuple[PoppedRun, dict[int, int]]] = field(default_factory=list)
    """Of an ordered pop: the number of earlier deliveries of its messages."""

    @property
    def pop_time(self) -> int:
        return self.now.wall_ms


class Handout:
    """Makes every change of state that a pop causes."""

    def __init__(
        self,
        offsets: PopOffsets,
        orders: OrderInfoTable,
        log: ReviveWriter,
        in_flight: InFlight,
        broker_name: str,
    ) -> None:
        self.offsets = offsets
        self.orders = orders
        self._log = log
        self._in_flight = in_flight
        self._broker_name = broker_name
        self._record = Record()

    def take(
        self, plan: PopPlan, origin: str, key: PopKey, found: QueueRead, popped: Popped
    ) -> None:
        """Assign the messages that were found to this pop."""
        run = PoppedRun(origin, key[2], list(self._offsets_in(found)))
        if plan.is_orderly:
            info = self.orders.popped(
                key,
                OrderInfo(
                    run.offsets,
                    popped.pop_time,
                    plan.invisible_ms,
                    plan.attempt_id,
                    consumed_ms=popped.pop_time,
                ),
            )
            popped.counts.append((run, info.counts))
        else:
            self.put_checkpoint(plan, key, run, found.next_offset, popped.revive_queue, popped.now)
        popped.runs.append(run)
        popped.count += len(run.offsets)
        popped.parts += (
            found.slices if origin == FROM_TOPIC else self._renamed(plan, run, found, popped)
        )

    def put_checkpoint(
        self,
        plan: PopPlan,
        key: PopKey,
        run: PoppedRun,
        next_offset: int,
        revive_queue: int,
        now: Now,
    ) -> None:
        """Write the checkpoint of a run and move the offset. StorageError: it is refused."""
        start = run.offsets[0]
        checkpoint = Checkpoint(
            key[1],
            plan.group,
            run.queue_id,
            start,
            now.wall_ms,
            plan.invisible_ms,
            self._broker_name,
            tuple([offset - start for offset in run.offsets]),
        )
        stored = self._log.put_checkpoint(checkpoint, revive_queue, now, popped_to=next_offset)
        self._in_flight.started(checkpoint.key, checkpoint.distances[-1])
        self.offsets.popped(key, next_offset, stored.log_offset, stored.end_offset)

    def _offsets_in(self, found: QueueRead) -> Iterator[int]:
        record = self._record
        for view in found.slices:
            position = 0
            while position < len(view):
                outcome = record.read_from(view, position)
                assert outcome == WHOLE, outcome
                yield record.queue_offset
                position += record.size

    def _renamed(
        self, plan: PopPlan, run: PoppedRun, found: QueueRead, popped: Popped
    ) -> Iterator[memoryview]:
        for view in found.slices:
            for message in decode_records(bytes(view)):
                receipt = PopReceipt(
                    run.offsets[0],
                    popped.pop_time,
                    plan.invisible_ms,
                    popped.revive_queue,
                    run.origin,
                    self._broker_name,
                    run.queue_id,
                    message.queue_offset,
                )
                yield memoryview(_with_receipt(replace(message, topic=plan.topic), receipt))


def _with_receipt(message: StoredMessage, receipt: PopReceipt) -> bytes:
    text = encode_pop_receipt(receipt)
    try:
        return encode_record(
            replace(message, properties={**message.properties, POP_CHECKPOINT: text})
        )
    except LocalProtocolError:
        # No room among its properties: the client builds the receipt from the answer's header.
        return encode_record(message)
