"""TlsLayer encrypts one connection: a protocol to its socket, a transport to the protocol inside.

    socket ⇄ ciphertext ⇄ TlsLayer (OpenSSL, through two buffers in memory) ⇄ plain bytes ⇄ inner

The protocol inside is the one that a plain connection has, buffered or not, and notices nothing:
its `connection_made` comes when the handshake is over. All plain bytes of one socket read reach it
together, and what it writes at once goes out at once.

T1. The inner protocol sees no byte before the handshake is over, and none after `pause_reading`.
T2. A layer keeps no buffer larger than a record (16 KiB): bytes go through OpenSSL in pieces.
T3. The owner hears once of every handshake: `shaken`, or `failed` with the reason.
"""

import asyncio
import contextlib
import ssl
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython

RECORD_BYTES = 16 << 10
"""The most that a TLS record holds."""
FEED_BYTES = 8 << 10
"""OpenSSL's buffer in memory grows to a third more than it ever held, and never shrinks."""


def is_compiled() -> bool:
    return cython.compiled


class TlsOwner(Protocol):
    """Opens connections, or accepts them."""

    def may_shake(self, layer: "TlsLayer") -> bool:
        """Whether a step of the handshake may be done now; else the owner calls `go_on` later."""

    def shaken(self, layer: "TlsLayer") -> bool:
        """The handshake is over. False: the peer is not wanted."""

    def failed(self, layer: "TlsLayer", error: Exception) -> None: ...


class TlsLayer:
    """One connection: an asyncio protocol and transport, not one by birth, because those cannot be
    compiled."""

    __slots__ = (
        "_incoming",
        "_inner",
        "_is_buffered",
        "_is_ending",
        "_is_open",
        "_is_over",
        "_is_paused",
        "_left",
        "_object",
        "_outgoing",
        "_owner",
        "_transport",
        "deadline",
    )

    def __init__(
        self, owner: TlsOwner, inner: Any, context: ssl.SSLContext, host: str | None
    ) -> None:
        """`host` is the name that the peer's certificate must have; None: we are the server."""
        self._owner = owner
        self._inner = inner
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        self._object = context.wrap_bio(
            self._incoming, self._outgoing, server_side=host is None, server_hostname=host
        )
        self._transport: Any = None
        self._is_buffered = hasattr(inner, "get_buffer")
        self._is_open = False
        self._is_ending = False
        self._is_over = False
        self._is_paused = False
        # What was received and not decrypted yet: reading is paused, or the handshake waits.
        self._left: Any = None
        self.deadline: asyncio.TimerHandle | None = None
        """The owner's: when the handshake has taken too long."""

    # From the socket.

    def connection_made(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        if self._object.server_side is False:
            self._shake()

    def data_received(self, data: Any) -> None:
        if self._left is not None:  # the transport may bring one read more than it was asked for
            self._left = bytes(self._left) + bytes(data)
        else:
            self._take(data)

    def eof_received(self) -> None:
        """The peer says no more: the transport closes. Frames have lengths, so that nothing cut
        short is taken for a whole."""

    def pause_writing(self) -> None:
        if self._is_open:
            self._inner.pause_writing()

    def resume_writing(self) -> None:
        if self._is_open:
            self._inner.resume_writing()

    def connection_lost(self, error: Exception | None) -> None:
        self._transport = None
        self._end(error)

    def _end(self, error: Exception | None) -> None:
        """Tell whom it concerns, once."""
        if self._is_over:
            return
        self._is_over = True
        self._left = None
        inner, self._inner = self._inner, None
        if self._is_open:
            inner.connection_lost(error)
        else:
            self._owner.failed(self, error or ConnectionResetError())

    # Decrypting.

    def _take(self, data: Any) -> None:
        """Decrypt what was received, as far as the inner protocol wants it."""
        size = len(data)
        position = 0
        plain: list[bytes] = []
        view = data if size <= FEED_BYTES else memoryview(data)
        try:
            if self._is_open:
                self._decrypt(plain)  # what was left inside when reading was paused
            while position < size and not self._is_over:
                if not self._is_open and not self._owner.may_shake(self):
                    self._keep(view, position)
                    return
                if size <= FEED_BYTES:
                    self._incoming.write(view)
                else:
                    self._incoming.write(view[position : position + FEED_BYTES])
                position += FEED_BYTES
                if not self._is_open:
                    self._shake()
                if self._is_open and not self._is_over:
                    self._decrypt(plain)
                    if self._is_paused:
                        self._keep(view, position)
                        return
        except ssl.SSLError as error:
            self._break(error)
            return
        finally:
            if plain and not self._is_over:
                self._inner.data_received(plain[0] if len(plain) == 1 else b"".join(plain))
        self._flush()

    def _keep(self, view: Any, position: int) -> None:
        self._left = view[position:]
        if self._transport is not None:
            self._transport.pause_reading()

    def _decrypt(self, plain: list[bytes]) -> None:
        """Decrypt the records that have come whole."""
        if self._is_buffered:
            self._fill()
            return
        if self._is_paused:
            return
        while self._incoming.pending or self._object.pending():
            try:
                chunk = self._object.read(RECORD_BYTES)
            except ssl.SSLWantReadError:
                return  # half a record
            if not chunk:
                self._bid_farewell()
                return
            plain.append(chunk)

    def _fill(self) -> None:
        """Decrypt into the buffers of an inner protocol that has its own."""
        while self._incoming.pending or self._object.pending():
            if self._is_over or self._is_paused:
                return
            buffer = self._inner.get_buffer(-1)
            try:
                size = self._object.read(len(buffer), buffer)
            except ssl.SSLWantReadError:
                return
            if not size:
                self._bid_farewell()
                return
            self._inner.buffer_updated(size)

    def _shake(self) -> None:
        """Do a step of the handshake."""
        try:
            self._object.do_handshake()
        except ssl.SSLWantReadError:
            self._flush()
            return
        except (ssl.SSLError, ValueError) as error:  # ValueError: of a name that none can be
            self._break(error)
            return
        self._flush()
        if not self._owner.shaken(self):
            self.abort()
            return
        self._is_open = True
        self._inner.connection_made(self)

    def _break(self, error: Exception) -> None:
        """The peer is told by an alert, if there is one to be told."""
        self._flush()
        transport = self._transport
        self._end(error)
        if transport is not None:
            transport.close()

    def _bid_farewell(self) -> None:
        """The peer has said that it sends no more."""
        if self._transport is not None:
            self._transport.close()

    def go_on(self) -> None:
        """Take what was left. Called by the owner, and after reading was paused."""
        left, self._left = self._left, None
        if self._is_over or left is None:
            return
        if self._is_paused and self._is_open:
            self._left = left
            return
        self._take(left)
        if self._left is None and not self._is_paused and self._transport is not None:
            self._transport.resume_reading()

    # The transport of the inner protocol.

    def write(self, data: Any) -> None:
        size = len(data)
        if size == 0 or self._transport is None or self._is_over or self._is_ending:
            return
        if size <= RECORD_BYTES:
            self._object.write(data)
            self._flush()
            return
        view = memoryview(data)
        position = 0
        pieces: list[bytes] = []
        while position < size:
            self._object.write(view[position : position + RECORD_BYTES])
            pieces.append(self._outgoing.read())
            position += RECORD_BYTES
        self._transport.writelines(pieces)

    def writelines(self, buffers: Any) -> None:
        self.write(b"".join(buffers))

    def _flush(self) -> None:
        if self._outgoing.pending and self._transport is not None:
            self._transport.write(self._outgoing.read())

    def pause_reading(self) -> None:
        self._is_paused = True
        if self._transport is not None:
            self._transport.pause_reading()

    def resume_reading(self) -> None:
        if not self._is_paused:
            return
        self._is_paused = False
        if self._left is not None:
            # Not from here: the inner protocol may be in the middle of what it received.
            asyncio.get_running_loop().call_soon(self.go_on)
        elif self._transport is not None:
            self._transport.resume_reading()

    def close(self) -> None:
        """What was written still goes out, and the end of it is signed."""
        if self._transport is None or self._is_over or self._is_ending:
            return
        self._is_ending = True
        if self._is_open:
            # Nobody waits for the peer's own farewell.
            with contextlib.suppress(ssl.SSLError):
                self._object.unwrap()
            self._flush()
        self._transport.close()

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def is_closing(self) -> bool:
        return self._is_over or self._transport is None or self._transport.is_closing()

    def can_write_eof(self) -> bool:
        return False

    def get_write_buffer_size(self) -> int:
        size: int = 0 if self._transport is None else self._transport.get_write_buffer_size()
        return size

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        if self._transport is not None:
            self._transport.set_write_buffer_limits(high=high, low=low)

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        if name == "ssl_object":
            return self._object
        if name == "sslcontext":
            return self._object.context
        return default if self._transport is None else self._transport.get_extra_info(name, default)
