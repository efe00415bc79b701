"""WebConnection is one connection of a browser: uvicorn's, and a bound to the time that a request
may take to come.

W1. A request has REQUEST_SECONDS_MAX from its first byte to its last, the first request of a
connection from when the connection was opened: whoever says nothing, or a byte now and then, does
not hold one of the few connections for ever.
W2. A TLS handshake on a port that speaks plain HTTP is closed, and the log says so.
"""

import asyncio
import logging
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from aerobee.net.tls_faults import HELLO, HELLO_TO_PLAIN

_log = logging.getLogger(__name__)

REQUEST_SECONDS_MAX = 30.0


class WebConnection(H11Protocol):
    def __init__(self, *, seconds_max: float = REQUEST_SECONDS_MAX, **told: Any) -> None:
        """`told`: what uvicorn tells its own connections."""
        super().__init__(**told)
        self._seconds_max = seconds_max
        self._deadline: asyncio.TimerHandle | None = None
        self._has_heard = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._begin_wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end_wait()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if not self._has_heard:
            self._has_heard = True
            if data.startswith(HELLO):  # the answer tells its client that nobody speaks TLS here
                _log.info("closing a connection: %s", HELLO_TO_PLAIN)
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._look()

    def _look(self) -> None:
        """Begin to wait if a request has begun and is not whole, end it if it is."""
        state = self.conn.their_state
        if state is h11.SEND_BODY or (state is h11.IDLE and self.conn.trailing_data[0]):
            self._begin_wait()
        else:
            self._end_wait()

    def _begin_wait(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(self._seconds_max, self._give_up)

    def _end_wait(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        self._deadline = None
        self.transport.abort()
