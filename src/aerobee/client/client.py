"""The client: one object for sending, consuming and asking, and the way to get one.

    async with aerobee.connect("localhost:9876") as client:
        ...

Its verbs are thin: each hands over to the module that knows how.
"""

import ssl
from types import TracebackType
from typing import Self

from aerobee.client.core.target import Credentials, Target
from aerobee.client.options import ClientOptions, Duration, options_for
from aerobee.client.session import Session
from aerobee.ports.clock import Clock


def connect(
    target: str | Target = "localhost:9876",
    *,
    credentials: Credentials | None = None,
    namespace: str = "",
    tls: ssl.SSLContext | bool | None = None,
    timeout: Duration = 3.0,
    connect_timeout: Duration = 3.0,
    unit: str = "",
) -> "Client":
    """A client of the cluster whose name servers are at `target`, to be used with `async with`.

    Nothing is asked before the first send or subscription. `timeout` is for one request, and for a
    send with all its tries.
    """
    return Client(
        options_for(
            target,
            credentials=credentials,
            namespace=namespace,
            tls=tls,
            timeout=timeout,
            connect_timeout=connect_timeout,
            unit=unit,
        )
    )


class Client:
    """C1. Everything of it happens on the loop that opened it; it starts no thread."""

    def __init__(self, options: ClientOptions, *, clock: Clock | None = None) -> None:
        self._session = Session(options, clock=clock)

    @property
    def id(self) -> str:
        """What brokers call this client."""
        return self._session.client_id

    async def open(self) -> None:
        """What `async with` does first."""
        await self._session.start()

    async def close(self) -> None:
        """Leave every group, say goodbye, close. What was sent with an await is stored."""
        await self._session.close()

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()
