"""TlsEntrance makes the connections of a console: plain ones, or by HTTPS, with the door that the
other ports have.

The door uses the contexts of now: certificates that were replaced are shown to whoever comes next,
without a restart. Whoever speaks plain HTTP to a console that speaks HTTPS is told so by an answer,
because browsers show it.
"""

import asyncio
from typing import Any

from aerobee.console.http.web_connection import Waiting, WebConnection
from aerobee.net.tls_door import TlsDoor
from aerobee.net.tls_state import TlsState

_TEXT = b"this port speaks HTTPS: begin the address with https://\n"
PLAIN_ANSWER = (
    b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\n"
    b"Content-Length: %d\r\nConnection: close\r\n\r\n%b" % (len(_TEXT), _TEXT)
)


class TlsEntrance:
    """One console; uvicorn calls it for each connection."""

    def __init__(self, tls: TlsState | None) -> None:
        """Without `tls` connections are plain."""
        self._tls = tls
        self._door: TlsDoor | None = None
        self._waiting: Waiting = {}

    def __call__(self, **told: Any) -> asyncio.Protocol:
        """Make a connection of what uvicorn tells, which is the same for all of them."""
        if self._tls is None:
            return WebConnection(self._waiting, **told)
        if self._door is None:
            tls = self._tls
            self._door = TlsDoor(
                lambda: WebConnection(self._waiting, **told),
                tls,
                lambda: tls.pages,
                plain_answer=PLAIN_ANSWER,
            )
        return self._door.accept()

    def close(self) -> None:
        """Give up every handshake."""
        if self._door is not None:
            self._door.close()
