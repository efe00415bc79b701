"""TlsDoor lets connections in on a port that speaks TLS, and on request plain text, too.

The first byte tells which: a TLS handshake begins with 0x16, a frame of RocketMQ and a request of
HTTP with something else. From then on the connection belongs to its protocol: a plain one has paid
one look at its first read, and pays nothing later.

A crowd of handshakes may not take the loop from those who are in: all handshakes together get half
of the time, in slices of a millisecond; the others wait for the next slice. A connection that waits
has cost no more than its first read: OpenSSL is asked when it is its turn. Addresses take turns, so
that a crowd from one does not keep the others waiting, and of one address the newest waits longest.
A handshake that is not over after ten seconds is given up, and so is the newest when there are too
many, or half as many of which a quarter are from its address.
"""

import asyncio
import logging
import ssl
import time
from collections import Counter, deque
from collections.abc import Callable
from typing import Any, cast

from aerobee.net.tls_faults import explained_tls
from aerobee.net.tls_layer import TlsLayer
from aerobee.net.tls_state import TlsState

_log = logging.getLogger(__name__)

HANDSHAKE_BYTE = 0x16
HANDSHAKE_SECONDS_MAX = 10.0
SILENCE_SECONDS_MAX = 120.0
"""Where plain text is allowed: Java clients keep connections to name servers without a word."""
HALF_OPEN_MAX = 2_000
CROWD_MIN = HALF_OPEN_MAX // 2
ADDRESS_MAX = HALF_OPEN_MAX // 4
"""Of one address, where there is a crowd."""
SLICE_SECONDS = 0.001
SLICE_EVERY_SECONDS = 0.002

Protocol = Any
Check = Callable[[ssl.SSLObject], str]


def anybody(shown: ssl.SSLObject) -> str:
    """Refuse nobody whom the context let in."""
    return ""


class TlsDoor:
    """One port."""

    def __init__(
        self,
        make_inner: Callable[[], Protocol],
        state: TlsState,
        context: Callable[[], ssl.SSLContext | None],
        check: Check = anybody,
        *,
        plain_answer: bytes = b"",
        handshake_seconds_max: float = HANDSHAKE_SECONDS_MAX,
    ) -> None:
        """`check` says why a peer that has shown a good certificate is not wanted; empty: it is.
        `plain_answer` is told to peers that speak plain text where only TLS is spoken."""
        self._make_inner = make_inner
        self._state = state
        self._context = context
        self._check = check
        self._plain_answer = plain_answer
        self.handshake_seconds_max = handshake_seconds_max
        # Each with the address that it is from.
        self._half_open: dict[_FirstByte | TlsLayer, str] = {}
        self._of_address: Counter[str] = Counter()
        # By address, in the order of their turns.
        self._waiting: dict[str, deque[_FirstByte | TlsLayer]] = {}
        self._slice_end = 0.0
        self._slice_left = 0.0
        self._step_began = 0.0
        self._is_stepping = False
        self._beginning: TlsLayer | None = None
        self._is_scheduled = False

    def accept(self) -> asyncio.Protocol:
        return _FirstByte(self)

    def half_open(self) -> int:
        """How many connections have not come in yet."""
        return len(self._half_open)

    def close(self) -> None:
        """Give up every handshake."""
        self._waiting.clear()
        for one in list(self._half_open):
            one.abort()

    # From connections whose first byte has not come.

    def opened(self, first: "_FirstByte") -> bool:
        count, source = len(self._half_open), first.source
        is_crowding = count >= CROWD_MIN and self._of_address[source] >= ADDRESS_MAX
        if count >= HALF_OPEN_MAX or is_crowding:
            self._state.failures += 1
            return False
        self._add(first, source)
        return True

    def silence_seconds_max(self) -> float:
        return SILENCE_SECONDS_MAX if self._state.allows_plain else self.handshake_seconds_max

    def gone(self, first: "_FirstByte") -> None:
        self._remove(first)

    def spoke(self, first: "_FirstByte", transport: asyncio.Transport, data: bytes) -> None:
        """The first bytes of a connection are here."""
        if data[0] == HANDSHAKE_BYTE and self._context() is not None:
            if self._has_time():
                self.begin_handshake(first, transport, data)
                self._end_step()
            else:
                first.hold(data)
                self._wait(first, first.source)
            return
        first.end_wait()
        self._remove(first)
        if self._state.allows_plain:
            inner = self._make_inner()
            transport.set_protocol(inner)
            inner.connection_made(transport)
            _deliver(inner, data)
        else:
            self._state.plain_refusals += 1
            _log.info(
                "closing a connection: plain text on a port that speaks TLS only",
                extra={"peer": _peer(transport)},
            )
            self._turn_away(transport)

    def _turn_away(self, transport: asyncio.Transport) -> None:
        if self._plain_answer:
            transport.write(self._plain_answer)
            transport.close()
        else:
            transport.abort()

    def begin_handshake(
        self, first: "_FirstByte", transport: asyncio.Transport, data: bytes
    ) -> None:
        """It is the turn of a connection whose first bytes are of a handshake."""
        context = self._context()
        if context is None:  # there was one a moment ago
            transport.abort()
            return
        source, left = first.source, first.end_wait()
        self._remove(first)
        layer = TlsLayer(self, self._make_inner(), context, None)
        self._add(layer, source)
        loop = asyncio.get_running_loop()
        layer.deadline = loop.call_later(left, layer.abort)
        transport.set_protocol(cast(asyncio.Protocol, layer))
        layer.connection_made(transport)
        self._beginning = layer
        layer.data_received(data)
        self._beginning = None

    # From layers.

    def may_shake(self, layer: TlsLayer) -> bool:
        if layer is self._beginning:  # its step is the one that made it
            self._beginning = None
            return True
        if self._has_time():
            return True
        self._wait(layer, self._half_open.get(layer, ""))
        return False

    def shaken(self, layer: TlsLayer) -> bool:
        refusal = self._check(layer.get_extra_info("ssl_object"))
        if refusal:
            self._fail(layer, refusal)
            return False
        self._over(layer)
        self._state.handshakes += 1
        return True

    def failed(self, layer: TlsLayer, error: Exception) -> None:
        if layer in self._half_open:  # else it was refused
            self._fail(layer, explained_tls(error))

    def _fail(self, layer: TlsLayer, reason: str) -> None:
        self._over(layer)
        self._state.failures += 1
        _log.info("a TLS handshake failed: %s", reason, extra={"peer": _peer(layer)})

    def _over(self, layer: TlsLayer) -> None:
        self._end_step()
        self._remove(layer)
        if layer.deadline is not None:
            layer.deadline.cancel()
            layer.deadline = None

    def _add(self, one: "_FirstByte | TlsLayer", source: str) -> None:
        self._half_open[one] = source
        self._of_address[source] += 1

    def _remove(self, one: "_FirstByte | TlsLayer") -> None:
        source = self._half_open.pop(one, None)
        if source is not None:
            self._of_address[source] -= 1
            if not self._of_address[source]:
                del self._of_address[source]

    # Slices.

    def _has_time(self) -> bool:
        """Whether a step may be done now. It is charged from here to `_end_step`, by a clock of the
        system: that of uvloop stands still while callbacks of one turn are run."""
        self._end_step()
        now = time.monotonic()
        if now >= self._slice_end:
            self._slice_end = now + SLICE_EVERY_SECONDS
            self._slice_left = SLICE_SECONDS
        self._is_stepping = self._slice_left > 0
        self._step_began = now
        return self._is_stepping

    def _wait(self, one: "_FirstByte | TlsLayer", source: str) -> None:
        self._waiting.setdefault(source, deque()).append(one)
        self._schedule()

    def _end_step(self) -> None:
        """Charge the step that was allowed last."""
        if self._is_stepping:
            self._is_stepping = False
            self._slice_left -= time.monotonic() - self._step_began

    def _schedule(self) -> None:
        if not self._is_scheduled:
            self._is_scheduled = True
            asyncio.get_running_loop().call_later(SLICE_EVERY_SECONDS, self._next_slice)

    def _next_slice(self) -> None:
        self._is_scheduled = False
        while self._waiting and self._has_time():
            source = next(iter(self._waiting))
            row = self._waiting.pop(source)
            one = row.popleft()
            if row:  # its next comes after one of each other address
                self._waiting[source] = row
            one.go_on()
            self._end_step()
        if self._waiting:
            self._schedule()


class _FirstByte(asyncio.Protocol):
    """A connection of which nothing is known yet."""

    def __init__(self, door: TlsDoor) -> None:
        self._door = door
        self._transport: asyncio.Transport | None = None
        self._deadline: asyncio.TimerHandle | None = None
        self._held: bytes | None = None
        self.source = ""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self.source = str((transport.get_extra_info("peername") or ("",))[0])
        if not self._door.opened(self):
            self.abort()
            return
        seconds = self._door.silence_seconds_max()
        self._deadline = asyncio.get_running_loop().call_later(seconds, self.abort)

    def data_received(self, data: bytes) -> None:
        if self._held is not None:  # the transport may bring one read more than it was asked for
            self._held += data
        elif self._transport is not None:
            self._end_silence()
            self._door.spoke(self, self._transport, data)

    def connection_lost(self, exc: Exception | None) -> None:
        self.end_wait()
        self._transport = None
        self._door.gone(self)

    def hold(self, data: bytes) -> None:
        """Keep the first bytes until it is this connection's turn."""
        self._held = data
        if self._transport is not None:
            self._transport.pause_reading()

    def go_on(self) -> None:
        held, self._held = self._held, None
        if self._transport is not None and held is not None:
            self._transport.resume_reading()
            self._door.begin_handshake(self, self._transport, held)

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def _end_silence(self) -> None:
        """It has spoken: whether it waits for its turn or not, it has the time of a handshake."""
        self.end_wait()
        seconds = self._door.handshake_seconds_max
        self._deadline = asyncio.get_running_loop().call_later(seconds, self.abort)

    def end_wait(self) -> float:
        """Stop the clock; the seconds that were left."""
        if self._deadline is None:
            return 0.0
        left = self._deadline.when() - asyncio.get_running_loop().time()
        self._deadline.cancel()
        self._deadline = None
        return max(left, 0.0)


def _deliver(inner: Protocol, data: bytes) -> None:
    """Hand over the bytes that were read before the protocol was known."""
    if not hasattr(inner, "get_buffer"):
        inner.data_received(data)
        return
    rest = memoryview(data)
    while rest:
        buffer = inner.get_buffer(len(rest))
        size = min(len(buffer), len(rest))
        buffer[:size] = rest[:size]
        inner.buffer_updated(size)
        rest = rest[size:]


def _peer(transport: Any) -> str:
    host, port = (transport.get_extra_info("peername") or ("", 0))[:2]
    return f"{host}:{port}"
