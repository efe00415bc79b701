"""A member of a group that pops by gRPC, as a simple consumer of RocketMQ's 5.x clients does.

The same rules hold as for members that speak remoting, with which it shares its group. A message
stays invisible for ten seconds at least, so fewer are left to come back by themselves.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from aerobee.protocol.consume.pop_receipt import decode_pop_receipt
from aerobee.protocol.grpc.calls import (
    AckMessageEntry,
    AckMessageRequest,
    AckMessageResponse,
    ChangeInvisibleDurationRequest,
    ChangeInvisibleDurationResponse,
    ReceiveMessageRequest,
    ReceiveMessageResponse,
)
from aerobee.protocol.grpc.codes import GrpcCode
from aerobee.protocol.grpc.resources import Duration, GrpcMessage, QueueEntry, Resource, Status
from aerobee.protocol.grpc.wire import decode, encode
from tests.sim.client import CONNECT_MS_MAX, QUESTION_MS_MAX, Connection
from tests.sim.grpc_line import GrpcLine
from tests.sim.popper import HOLD_MS, INVISIBLE_MS, POP_MAX, Popped, Popper

PORT = 8081
INVISIBLE_SECONDS = 10
SERVICE = "/apache.rocketmq.v2.MessagingService"

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Received:
    """A message as `history` wants it."""

    body: bytes
    queue_offset: int
    message_id: str
    topic: str


class GrpcPopper(Popper):
    leave_share = 0.4

    def __init__(self, *args: object, **more: Any) -> None:
        self._grpc_lines: dict[str, GrpcLine] = {}
        super().__init__(*args, **more)

    def lines(self) -> Sequence[Connection]:
        own = [line for line in self._grpc_lines.values() if line.is_open]
        return [*super().lines(), *own]

    async def pop_all(self, topic: str, broker: str) -> None:
        request = ReceiveMessageRequest(
            Resource("", self.taste.group),
            QueueEntry(Resource("", topic), 0),
            batch_size=POP_MAX,
            invisible_duration=Duration(INVISIBLE_SECONDS),
            long_polling_timeout=Duration(0, HOLD_MS * 1_000_000),
        )
        while True:
            address = self.addresses[broker]
            answers = await self._call(
                address, "ReceiveMessage", request, ReceiveMessageResponse, HOLD_MS + 1_500
            )
            for answer in answers:
                self._look_at(answer.status)
                if answer.message is not None:
                    self._take_message(topic, broker, address, answer.message)
            if not answers:
                await self.pause(50)

    def _take_message(self, topic: str, broker: str, address: str, message: GrpcMessage) -> None:
        said = message.system_properties
        assert said is not None
        handle = said.receipt_handle or ""
        receipt = decode_pop_receipt(handle)
        place = self.place_of(topic, broker, receipt)
        received = Received(message.body, receipt.queue_offset, said.message_id, topic)
        self.take_up(Popped(place, address, received, handle))

    async def hide(self, popped: Popped) -> None:
        message = cast(Received, popped.message)
        request = ChangeInvisibleDurationRequest(
            *self._named(message),
            popped.handle,
            Duration(0, INVISIBLE_MS // 2 * 1_000_000),
            message.message_id,
        )
        answers = await self._call(
            popped.address, "ChangeInvisibleDuration", request, ChangeInvisibleDurationResponse
        )
        for answer in answers:
            self._look_at(answer.status)

    async def acknowledge(self, popped: Popped) -> bool:
        message = cast(Received, popped.message)
        entry = AckMessageEntry(message.message_id, popped.handle)
        request = AckMessageRequest(*self._named(message), [entry])
        answers = await self._call(popped.address, "AckMessage", request, AckMessageResponse)
        return [self._look_at(answer.status) for answer in answers] == [GrpcCode.OK]

    def _named(self, message: Received) -> tuple[Resource, Resource]:
        return Resource("", self.taste.group), Resource("", message.topic)

    def _look_at(self, status: Status | None) -> int:
        """Its code; 0: there is none."""
        if status is None:
            return 0
        if "internal error" in status.message:
            self.history.breach("internal error", f"{self.name} was told {status.message}")
        return status.code

    async def _call(
        self,
        address: str,
        method: str,
        request: object,
        kind: type[Answer],
        ms_max: int = QUESTION_MS_MAX,
    ) -> list[Answer]:
        """What is answered; nothing, if nothing is known of it."""
        line = None
        try:
            line = await self._grpc_line_to(address)
            path = f"{SERVICE}/{method}"
            answers = await line.call(path, self.name, encode(request), ms_max)
        except TimeoutError:
            # A half-open connection is given up, sooner or later.
            if line is not None and self.random.random() < 0.5:
                line.abort()
            return []
        except OSError:
            return []
        return [decode(kind, answer) for answer in answers]

    async def _grpc_line_to(self, address: str) -> GrpcLine:
        line = self._grpc_lines.get(address)
        if line is not None and line.is_open:
            return line
        host = address.rpartition(":")[0]
        async with asyncio.timeout(CONNECT_MS_MAX / 1000):
            _, made = await self.process.connect(GrpcLine, host, PORT)
        line = self._grpc_lines[address] = cast(GrpcLine, made)
        return line
