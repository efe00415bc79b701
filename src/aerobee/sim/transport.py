"""One side of a simulated connection, as asyncio's protocols see it.

    write ──▶ pieces ──▶ link: latency, in order ──▶ the other side's incoming ──▶ data_received

Bytes are never lost or reordered, as TCP has it: a link that is cut holds them until it is healed.
What a side learns of the other's end:

    closed, killed      the end of the stream, or a reset
    switched off        nothing, until it writes and the other is back and knows of no connection
    reset behind a cut  nothing: a reset is sent once; the next write is answered by another

A side that does not read holds up the other, which is told so when its buffer is full.
"""

import asyncio
import random
from collections import deque
from collections.abc import Iterable
from enum import Enum
from typing import Any, Protocol, cast

from aerobee.sim.event_loop import SimLoop
from aerobee.sim.timeline import Timeline

KERNEL_BYTES = 4096  # what a side that is closed still takes over, without anybody reading
SLOW_PIECE_BYTES = 16 << 10  # over a slow link, bytes come in pieces of this size


class Link(Protocol):
    """One direction between two hosts."""

    @property
    def is_cut(self) -> bool: ...

    @property
    def bytes_per_second(self) -> int: ...

    def delay_ms(self) -> int: ...

    def carry_ms(self, size: int, now_ms: int) -> int:
        """How long bytes that are sent now take to get onto the link, behind those before."""


class Machine(Protocol):
    """The host of a side."""

    @property
    def is_dark(self) -> bool: ...


class Wire:
    """What both sides of a connection share."""

    def __init__(self, timeline: Timeline, generator: random.Random, buffer_bytes: int) -> None:
        self.timeline = timeline
        self.random = generator
        self.buffer_bytes = buffer_bytes
        self._stalled: list[SimTransport] = []

    def stall(self, side: "SimTransport") -> None:
        """Something is on its way to this side and cannot get there now."""
        self._stalled.append(side)

    def pump(self) -> None:
        """Something became possible: have those look who wait."""
        stalled, self._stalled = self._stalled, []
        for side in stalled:
            self.timeline.after(0, side.pump)

    def pieces(self, data: bytes) -> Iterable[bytes]:
        """Cut at random, mostly not at all."""
        if len(data) < 2 or self.random.random() < 0.7:
            return (data,)
        cuts = sorted(self.random.randrange(1, len(data)) for _ in range(self.random.randint(1, 3)))
        return [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True) if a < b]


class _Sign(Enum):
    END = "end of the stream"
    RESET = "reset"


class _State(Enum):
    CONNECTING = 0
    OPEN = 1
    CLOSING = 2
    CLOSED = 3


class SimTransport(asyncio.Transport):
    """I1. `_incoming` is in the order of sending, and its due times rise."""

    def __init__(
        self,
        wire: Wire,
        loop: SimLoop,
        machine: Machine,
        link_in: Link,
        local: tuple[str, int],
        remote: tuple[str, int],
    ) -> None:
        super().__init__({"peername": remote, "sockname": local})
        self._wire = wire
        self._loop = loop
        self._machine = machine
        self._link_in = link_in
        self._peer = self
        self._protocol: asyncio.Protocol | None = None
        self._state = _State.CONNECTING
        self._incoming: deque[tuple[int, bytes | _Sign]] = deque()
        self._unread_bytes = 0
        self._is_reading = True
        self._is_told_to_pause = False
        self._high_bytes = self._low_bytes = wire.buffer_bytes

    def join(self, peer: "SimTransport") -> None:
        self._peer, peer._peer = peer, self

    def begin(self, protocol: asyncio.BaseProtocol) -> None:
        """The connection is there."""
        self._protocol = cast(asyncio.Protocol, protocol)
        self._state = _State.OPEN
        self._loop.run(lambda: protocol.connection_made(self))
        self.pump()

    @property
    def is_over(self) -> bool:
        return self._state is _State.CLOSED

    # As asyncio has it.

    def write(self, data: "bytes | bytearray | memoryview[Any]") -> None:
        if self._state is not _State.OPEN or not data:
            return
        for piece in self._wire.pieces(bytes(data)):
            if self._peer._link_in.bytes_per_second:
                for start in range(0, len(piece), SLOW_PIECE_BYTES):
                    self._peer._receive(piece[start : start + SLOW_PIECE_BYTES])
            else:
                self._peer._receive(piece)
        if self._peer._unread_bytes > self._high_bytes and not self._is_told_to_pause:
            self._is_told_to_pause = True
            assert self._protocol is not None
            self._protocol.pause_writing()

    def writelines(self, list_of_data: "Iterable[bytes | bytearray | memoryview[Any]]") -> None:
        self.write(b"".join(list_of_data))

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        self._high_bytes = min(high if high is not None else 1 << 16, self._wire.buffer_bytes)
        self._low_bytes = min(low if low is not None else self._high_bytes, self._high_bytes // 4)

    def get_write_buffer_size(self) -> int:
        return self._peer._unread_bytes

    def pause_reading(self) -> None:
        self._is_reading = False

    def resume_reading(self) -> None:
        if not self._is_reading:
            self._is_reading = True
            self._wire.timeline.after(0, self.pump)

    def is_closing(self) -> bool:
        return self._state in (_State.CLOSING, _State.CLOSED)

    def close(self) -> None:
        if self._state is _State.OPEN:
            self._state = _State.CLOSING
            self._finish()

    def abort(self) -> None:
        if self._state is not _State.CLOSED:
            self._end(None)
            self._peer._receive(_Sign.RESET)

    # Ends that nobody asked for.

    def reset(self) -> None:
        """Something on the way breaks the connection, for both sides."""
        for side in (self, self._peer):
            side._receive(_Sign.RESET)

    def die(self) -> None:
        """The process is gone; its system closes what it had open."""
        if self._state is not _State.CLOSED:
            self._state = _State.CLOSED
            is_sudden = self._wire.random.random() < 0.5
            self._peer._receive(_Sign.RESET if is_sudden else _Sign.END)

    def vanish(self) -> None:
        """The machine is gone."""
        self._state = _State.CLOSED

    # From the other side.

    def _receive(self, what: bytes | _Sign) -> None:
        if what is _Sign.RESET and self._link_in.is_cut:
            return
        timeline = self._wire.timeline
        now_ms = timeline.now_ms
        due_ms = now_ms + self._link_in.delay_ms()
        if isinstance(what, bytes):
            due_ms += self._link_in.carry_ms(len(what), now_ms)
        if self._incoming:
            last_ms, last = self._incoming[-1]
            due_ms = max(due_ms, last_ms)
            if isinstance(what, bytes) and isinstance(last, bytes) and due_ms == last_ms > now_ms:
                self._incoming[-1] = (due_ms, last + what)
                self._unread_bytes += len(what)
                return
        self._incoming.append((due_ms, what))
        if isinstance(what, bytes):
            self._unread_bytes += len(what)
        timeline.after(due_ms - now_ms, self.pump)

    def pump(self) -> None:
        """Hand over what has arrived, as far as that is possible now."""
        while self._incoming and self._state is not _State.CONNECTING:
            due_ms, what = self._incoming[0]
            if due_ms > self._wire.timeline.now_ms:
                return
            is_gone = self.is_closing() or self._loop.is_over
            if (
                self._link_in.is_cut
                or self._machine.is_dark
                or (is_gone and self._peer._link_in.is_cut)
            ):
                self._wire.stall(self)
                return
            if is_gone:
                self._refuse(what)
            elif what is _Sign.RESET:
                self._end(ConnectionResetError("reset by the peer"))
            elif not self._is_reading:
                return
            else:
                self._incoming.popleft()
                self._hand_over(what)

    def _hand_over(self, what: bytes | _Sign) -> None:
        if isinstance(what, bytes):
            self._unread_bytes -= len(what)
            assert self._protocol is not None
            protocol = self._protocol
            if isinstance(protocol, asyncio.BufferedProtocol):
                self._loop.run(lambda: _fill(protocol, what))
            else:
                received = protocol.data_received
                self._loop.run(lambda: received(what))
            self._peer._drained()
        else:
            self.close()

    def _refuse(self, what: bytes | _Sign) -> None:
        """Nobody is here any more: whoever writes is told so."""
        self._incoming.clear()
        self._unread_bytes = 0
        if isinstance(what, bytes):
            self._peer._receive(_Sign.RESET)
        self._peer._drained()

    def _drained(self) -> None:
        """The other side has read some."""
        if self._state is _State.CLOSING:
            self._finish()
        elif self._is_told_to_pause and self._peer._unread_bytes <= self._low_bytes:
            self._is_told_to_pause = False
            if self._state is _State.OPEN and self._protocol is not None:
                self._loop.call_soon(self._resume_writing)

    def _resume_writing(self) -> None:
        if self._state is _State.OPEN and self._protocol is not None:
            self._protocol.resume_writing()

    def _finish(self) -> None:
        """Close, once the rest is on its way."""
        if self._peer._unread_bytes <= KERNEL_BYTES:
            self._peer._receive(_Sign.END)
            self._end(None)

    def _end(self, error: Exception | None) -> None:
        self._state = _State.CLOSED
        self._incoming.clear()
        self._unread_bytes = 0
        if self._protocol is not None:
            self._loop.call_soon(self._protocol.connection_lost, error)


def _fill(protocol: asyncio.BufferedProtocol, data: bytes) -> None:
    """Hand bytes over in the buffers of a protocol that brings its own."""
    left = memoryview(data)
    while left:
        buffer = memoryview(protocol.get_buffer(len(left)))
        size = min(len(buffer), len(left))
        buffer[:size] = left[:size]
        protocol.buffer_updated(size)
        left = left[size:]
