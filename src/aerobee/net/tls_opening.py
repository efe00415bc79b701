"""Connections that are opened, plain or by TLS: `connect` gives them to a protocol.

A protocol that is connected by TLS is the same as a plain one, and its errors are OSErrors, too.
"""

import asyncio
import ssl
from collections.abc import Callable
from typing import Any, TypeVar, cast

from aerobee.net.tls_layer import TlsLayer

P = TypeVar("P")


async def connect(make: Callable[[], P], address: str, tls: ssl.SSLContext | None = None) -> P:
    """Connect a protocol to `host:port`; by TLS, whose certificate must be of that host. OSError
    says why there is no connection: an SSLError, if the handshake failed."""
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    loop = asyncio.get_running_loop()
    inner = make()
    if tls is None:
        protocol = cast(asyncio.Protocol, inner)
        await loop.create_connection(lambda: protocol, host, int(port))
        return inner
    opening = _Opening()
    layer = TlsLayer(opening, inner, tls, host.partition("%")[0])
    await loop.create_connection(lambda: cast(asyncio.Protocol, layer), host, int(port))
    try:
        await opening.outcome
    except BaseException:
        layer.abort()
        raise
    return inner


class _Opening:
    """The owner of one layer, which waits for its handshake."""

    def __init__(self) -> None:
        self.outcome: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def may_shake(self, layer: Any) -> bool:
        return True

    def shaken(self, layer: Any) -> bool:
        if not self.outcome.done():
            self.outcome.set_result(None)
        return True

    def failed(self, layer: Any, error: Exception) -> None:
        if not self.outcome.done():
            if not isinstance(error, OSError):
                error = ConnectionError(str(error))
            self.outcome.set_exception(error)
