"""Any first bytes at a port that speaks TLS raise nothing, reach nobody inside without a handshake,
and are kept in a bounded room; plain text where it is allowed reaches its protocol whole.

The first byte chooses the mode, the second the chunks. Bytes that are no TLS are tried as they are,
and behind the head of a handshake record.
"""

import asyncio
import atexit
from functools import cache
from typing import Any, cast

from aerobee.net.tls_config import TlsMode
from aerobee.net.tls_door import TlsDoor
from aerobee.net.tls_state import TlsState
from tests.tls_kit import server_config

KEPT_BYTES_MAX = 1 << 16


class Inner(asyncio.Protocol):
    """What a connection leads to."""

    def __init__(self) -> None:
        self.is_open = False
        self.received = b""

    def connection_made(self, transport: Any) -> None:
        self.is_open = True

    def data_received(self, data: bytes) -> None:
        self.received += data


class Socket:
    """The transport of one connection."""

    def __init__(self) -> None:
        self.protocol: Any = None
        self.is_over = False
        self.said = b""

    def set_protocol(self, protocol: Any) -> None:
        self.protocol = protocol

    def write(self, data: bytes) -> None:
        self.said += data

    def close(self) -> None:
        self.is_over = True

    abort = close

    def is_closing(self) -> bool:
        return self.is_over

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return ("10.0.0.9", 1) if name == "peername" else default

    def pause_reading(self) -> None: ...

    resume_reading = pause_reading


@cache
def loop() -> asyncio.AbstractEventLoop:
    made = asyncio.new_event_loop()
    atexit.register(made.close)
    return made


@cache
def state(mode: TlsMode) -> TlsState:
    return TlsState(server_config(mode=mode))


def check(data: bytes) -> None:
    """Any first bytes at a port that speaks TLS reach nobody inside without a handshake."""
    if len(data) < 3:
        return
    mode = TlsMode.PERMISSIVE if data[0] & 1 else TlsMode.ENFORCING
    said = data[2:]
    framed = b"\x16\x03\x01" + len(said).to_bytes(2, "big") + said
    for stream in (said, framed):
        loop().run_until_complete(_connect(mode, stream, 1 + data[1]))


async def _connect(mode: TlsMode, stream: bytes, chunk: int) -> None:
    made: list[Inner] = []

    def make() -> Inner:
        made.append(Inner())
        return made[-1]

    tls = state(mode)
    door = TlsDoor(make, tls, lambda: tls.service)
    socket = Socket()
    socket.protocol = door.accept()
    socket.protocol.connection_made(cast(asyncio.Transport, socket))
    taken = b""
    for start in range(0, len(stream), chunk):
        if socket.is_over:
            break
        piece = stream[start : start + chunk]
        socket.protocol.data_received(piece)
        taken += piece
    if stream[0] == 0x16 or mode is TlsMode.ENFORCING:
        assert not any(inner.is_open or inner.received for inner in made)
        assert len(socket.said) < KEPT_BYTES_MAX
    else:
        assert [inner.received for inner in made] == [taken]
        assert not door.half_open()
    socket.protocol.connection_lost(None)
    assert not door.half_open()
    door.close()
