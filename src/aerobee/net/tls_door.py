"""TlsDoor lets connections in on a port that speaks TLS, and on request plain text, too.

The first byte tells which: a TLS handshake begins with 0x16, a frame of RocketMQ and a request of
HTTP with something else. From then on the connection belongs to its protocol: a plain one has paid
one look at its first read, and pays nothing later.

A crowd of handshakes may not take the loop from those who are in: all handshakes together get half
of the time, in slices of a millisecond; the others wait for the next slice. A handshake that is not
over after ten seconds is given up, and so is the newest when there are too many.
"""

import asyncio
import logging
import ssl
from collections import deque
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
        self._handshake_seconds_max = handshake_seconds_max
        self._half_open: set[_FirstByte | TlsLayer] = set()
        self._waiting: deque[TlsLayer] = deque()
        self._slice_end = 0.0
        self._slice_left = 0.0
        self._step_began = 0.0
        self._is_stepping = False
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
        if len(self._half_open) >= HALF_OPEN_MAX:
            self._state.failures += 1
            return False
        self._half_open.add(first)
        return True

    def silence_seconds_max(self) -> float:
        return SILENCE_SECONDS_MAX if self._state.allows_plain else self._handshake_seconds_max

    def gone(self, first: "_FirstByte") -> None:
        self._half_open.discard(first)

    def spoke(self, first: "_FirstByte", transport: asyncio.Transport, data: bytes) -> None:
        """The first bytes of a connection are here."""
        self._half_open.discard(first)
        context = self._context()
        if data[0] == HANDSHAKE_BYTE and context is not None:
            self._begin_handshake(transport, context, data)
        elif self._state.allows_plain:
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

    def _begin_handshake(
        self, transport: asyncio.Transport, context: ssl.SSLContext, data: bytes
    ) -> None:
        layer = TlsLayer(self, self._make_inner(), context, None)
        self._half_open.add(layer)
        loop = asyncio.get_running_loop()
        layer.deadline = loop.call_later(self._handshake_seconds_max, layer.abort)
        transport.set_protocol(cast(asyncio.Protocol, layer))
        layer.connection_made(transport)
        layer.data_received(data)
        self._end_step()

    # From layers.

    def may_shake(self, layer: TlsLayer) -> bool:
        self._end_step()
        now = asyncio.get_running_loop().time()
        if now >= self._slice_end:
            self._slice_end = now + SLICE_EVERY_SECONDS
            self._slice_left = SLICE_SECONDS
        if self._slice_left > 0:
            self._step_began = now
            self._is_stepping = True
            return True
        self._waiting.append(layer)
        self._schedule()
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
        self._half_open.discard(layer)
        if layer.deadline is not None:
            layer.deadline.cancel()
            layer.deadline = None

    # Slices.

    def _end_step(self) -> None:
        """Charge the step that was allowed last."""
        if self._is_stepping:
            self._is_stepping = False
            self._slice_left -= asyncio.get_running_loop().time() - self._step_began

    def _schedule(self) -> None:
        if not self._is_scheduled:
            self._is_scheduled = True
            asyncio.get_running_loop().call_later(SLICE_EVERY_SECONDS, self._next_slice)

    def _next_slice(self) -> None:
        self._is_scheduled = False
        for _ in range(len(self._waiting)):
            layer = self._waiting.popleft()
            layer.go_on()  # comes back to the end of the row if the slice is used up
            self._end_step()
            if self._slice_left <= 0:
                break
        if self._waiting:
            self._schedule()


class _FirstByte(asyncio.Protocol):
    """A connection of which nothing is known yet."""

    def __init__(self, door: TlsDoor) -> None:
        self._door = door
        self._transport: asyncio.Transport | None = None
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        if not self._door.opened(self):
            self.abort()
            return
        seconds = self._door.silence_seconds_max()
        self._deadline = asyncio.get_running_loop().call_later(seconds, self.abort)

    def data_received(self, data: bytes) -> None:
        self._end_wait()
        if self._transport is not None:
            self._door.spoke(self, self._transport, data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._end_wait()
        self._door.gone(self)

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def _end_wait(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


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
