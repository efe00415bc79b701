"""WebConnection is one connection of a browser: uvicorn's, and a bound to the time that a request
may take to come.

W1. A request has REQUEST_SECONDS_MAX from its first byte to its last, the first request of a
connection from when the connection was opened: whoever says nothing, or a byte now and then, does
not hold one of the few connections for ever.
W2. Where there are too many, the oldest of those that have not asked for anything makes room: a
crowd that says nothing does not lock users out.
W3. A TLS handshake on a port that speaks plain HTTP is closed, and the log says so.
"""

import asyncio
import logging
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from aerobee.net.tls_faults import HELLO, HELLO_TO_PLAIN

_log = logging.getLogger(__name__)

REQUEST_SECONDS_MAX = 30.0
CONNECTIONS_MAX = 400
"""Beyond more of them uvicorn answers that there is no room (`limit_concurrency`)."""

Waiting = dict["WebConnection", None]


class WebConnection(H11Protocol):
    def __init__(
        self,
        waiting: "Waiting",
        *,
        seconds_max: float = REQUEST_SECONDS_MAX,
        connections_max: int = CONNECTIONS_MAX,
        **told: Any,
    ) -> None:
        """`waiting`: the connections of this console whose request has not come whole, the oldest
        first. `told`: what uvicorn tells its own connections."""
        super().__init__(**told)
        self._waiting = waiting
        self._seconds_max = seconds_max
        self._connections_max = connections_max
        self._deadline: asyncio.TimerHandle | None = None
        self._has_heard = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > self._connections_max:
            for oldest in self._waiting:
                oldest.transport.abort()
                oldest.leave()
                break
        self._begin_wait()

    def leave(self) -> None:
        """Be counted no more: another takes its place."""
        self._end_wait()
        self.connections.discard(self)

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
            self._waiting[self] = None
            self._deadline = self.loop.call_later(self._seconds_max, self._give_up)

    def _end_wait(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
            del self._waiting[self]

    def _give_up(self) -> None:
        self._end_wait()
        self.transport.abort()
