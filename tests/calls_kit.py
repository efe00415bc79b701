"""A connection of gRPC whose calls are offered to the fast path as the net layer does, many in one
read.

line = CallsLine(kit, "SendMessage", "AckMessage")     its client is known, and the headers of these
line.say("SendMessage", request)                       one more call of the next read
line.read()                                            how many of them were taken in place
line.answers()                                         the answers so far, by stream
"""

from typing import Any

from aerobee.ports.rpc import RpcConnectionId
from aerobee.protocol.grpc.calls import SERVICE
from aerobee.protocol.grpc.framing import PREFIX_BYTES
from aerobee.protocol.grpc.wire import decode, encode
from aerobee.protocol.http2.connection import Http2Connection
from aerobee.protocol.http2.frames import DATA, ErrorCode, reset_frame
from aerobee.protocol.http2.limits import Http2Limits
from tests.grpc_kit import CONNECTION, RESPONSES, CallKit
from tests.http2_kit import HELLO, Frame, frames_in, open_stream, unary


class CallsLine:
    def __init__(
        self,
        kit: CallKit,
        *methods: str,
        client: str = "c1",
        connection: RpcConnectionId = CONNECTION,
        limits: Http2Limits | None = None,
    ) -> None:
        self.kit = kit
        self.taker = kit.door.in_place
        self.http2 = Http2Connection(limits, self.taker.paths)
        self.connection = connection
        self.stream = -1
        self.written = b""
        self._metadata = (("x-mq-client-id", client), ("x-mq-language", "PYTHON"))
        self._said = b""
        self._methods: dict[int, str] = {}
        self.http2.receive(HELLO, kit.clock.now().monotonic_ms)
        for method in methods:
            self.stream += 2
            shown = open_stream(self.stream, SERVICE + method, *self._metadata)
            shown += reset_frame(self.stream, ErrorCode.CANCEL)
            self.http2.receive(shown, kit.clock.now().monotonic_ms)
        self.http2.take_output()

    def say(self, method: str, request: object) -> int:
        """One more call; its stream."""
        self.stream += 2
        self._methods[self.stream] = method
        data = request if isinstance(request, bytes) else encode(request)
        self._said += unary(self.stream, SERVICE + method, data, *self._metadata)
        return self.stream

    def add(self, data: bytes) -> None:
        """Other frames, after the calls so far."""
        self._said += data

    def read(self, *, settles: bool = True) -> int:
        """Read what was said, in a turn of its own; how many calls were taken. It stops before the
        first one that is not."""
        now, taken = self.kit.clock.now(), self.taker.taken
        said, self._said = self._said, b""
        self.http2.feed(said, now.monotonic_ms)
        self.taker.take_all(self.http2, self.connection, now)
        if settles:
            self.kit.settle(now)
        return int(self.taker.taken - taken)

    def frames(self) -> list[Frame]:
        """All that was written so far."""
        self.written += self.http2.take_output()
        return frames_in(self.written)

    def answers(self) -> dict[int, Any]:
        """The responses, by their streams."""
        found: dict[int, bytes] = {}
        for one in self.frames():
            if one.kind == DATA:
                found[one.stream] = found.get(one.stream, b"") + one.payload
        return {
            stream: decode(RESPONSES[self._methods[stream]], data[PREFIX_BYTES:])
            for stream, data in found.items()
        }
