"""GrpcClients is the table of clients of gRPC: their settings, their channel, their telemetry.

A client is named by its own id, not by a connection: it may have several, and come back on another.
For the broker it is a channel, whose number no remoting connection has. It is gone when it says so,
when the broker finds it silent, or some seconds after its last connection closed.

Bounded, because peers choose their ids.
"""

from collections.abc import Callable

from aerobee.ports.clock import Now
from aerobee.ports.rpc import CallId, RpcConnectionId
from aerobee.ports.service import ChannelId, Peer
from aerobee.protocol.grpc.codes import GrpcCode
from aerobee.protocol.grpc.resources import ClientSettings
from aerobee.service.proxy.outcomes import CallRefused

CLIENTS_MAX = 20_000
CLIENTS_OF_CONNECTION_MAX = 256
ID_CHARS_MAX = 255
GRACE_MS = 10_000
"""For so long a client whose connections are closed may come back."""
_FIRST_CHANNEL = 1 << 40
"""Channels of remoting are counted from 1 on."""


class GrpcClient:
    __slots__ = (
        "channel",
        "connections",
        "gone_ms",
        "id",
        "is_gone",
        "language",
        "peer",
        "settings",
        "telemetry",
        "topics",
        "version",
    )

    def __init__(self, client_id: str, channel: ChannelId, peer: Peer) -> None:
        self.id = client_id
        self.channel = channel
        self.peer = peer
        self.language = ""
        self.version = ""
        self.settings: ClientSettings | None = None
        self.telemetry: CallId | None = None
        """The newest stream to which commands are written."""
        self.topics: set[str] = set()
        """Topics that it is registered for as a producer."""
        self.connections: set[RpcConnectionId] = set()
        self.gone_ms: int | None = None
        """When its last connection closed; None: it has one."""
        self.is_gone = False
        """Whether it was dropped."""


class GrpcClients:
    """G1. A client is in `_by_id` and `_by_channel`, or in neither.
    G2. `_by_connection` has the clients of each connection that has any."""

    def __init__(
        self,
        opened: Callable[[ChannelId, Peer], None],
        closed: Callable[[GrpcClient, Now], None],
    ) -> None:
        """`opened` and `closed` are called for each client that comes and goes."""
        self._opened = opened
        self._closed = closed
        self._next_channel = _FIRST_CHANNEL
        self._by_id: dict[str, GrpcClient] = {}
        self._by_channel: dict[ChannelId, GrpcClient] = {}
        self._by_connection: dict[RpcConnectionId, set[str]] = {}
        self._leaving: dict[str, GrpcClient] = {}

    def __len__(self) -> int:
        return len(self._by_id)

    def find(self, client_id: str) -> GrpcClient | None:
        return self._by_id.get(client_id)

    def of_channel(self, channel: ChannelId) -> GrpcClient | None:
        return self._by_channel.get(channel)

    def meet(self, client_id: str, connection: RpcConnectionId, peer: Peer) -> GrpcClient:
        """The client of a call, made if it is new. CallRefused: it has no id, or there are too
        many."""
        client = self._by_id.get(client_id)
        if client is not None and connection in client.connections:
            return client
        if not client_id.strip():
            raise CallRefused(GrpcCode.CLIENT_ID_REQUIRED, "client id cannot be empty")
        if len(client_id) > ID_CHARS_MAX:
            raise CallRefused(
                GrpcCode.CLIENT_ID_REQUIRED, f"a client id has at most {ID_CHARS_MAX} characters"
            )
        mine = self._by_connection.setdefault(connection, set())
        if len(mine) >= CLIENTS_OF_CONNECTION_MAX:
            raise CallRefused(
                GrpcCode.TOO_MANY_REQUESTS, f"the connection has {len(mine)} clients already"
            )
        if client is None:
            client = self._make(client_id, peer)
        mine.add(client_id)
        client.connections.add(connection)
        client.gone_ms = None
        self._leaving.pop(client_id, None)
        return client

    def _make(self, client_id: str, peer: Peer) -> GrpcClient:
        if len(self._by_id) >= CLIENTS_MAX:
            raise CallRefused(
                GrpcCode.TOO_MANY_REQUESTS, f"there are {len(self._by_id)} clients already"
            )
        self._next_channel += 1
        client = GrpcClient(client_id, ChannelId(self._next_channel), peer)
        self._by_id[client_id] = self._by_channel[client.channel] = client
        self._opened(client.channel, peer)
        return client

    def disconnected(self, connection: RpcConnectionId, now: Now) -> None:
        """A connection is closed: clients that have no other may come back for a while."""
        for client_id in self._by_connection.pop(connection, ()):
            client = self._by_id[client_id]
            client.connections.discard(connection)
            if not client.connections:
                client.gone_ms = now.monotonic_ms
                self._leaving[client_id] = client

    def drop_gone(self, now: Now) -> None:
        """Drop clients that did not come back."""
        for client in list(self._leaving.values()):
            if client.gone_ms is not None and now.monotonic_ms - client.gone_ms >= GRACE_MS:
                self.drop(client, now)

    def drop(self, client: GrpcClient, now: Now) -> None:
        """A client is gone."""
        if self._by_id.get(client.id) is not client:
            return
        client.is_gone = True
        del self._by_id[client.id]
        del self._by_channel[client.channel]
        self._leaving.pop(client.id, None)
        for connection in client.connections:
            self._by_connection[connection].discard(client.id)
        self._closed(client, now)

    def has_leaving(self) -> bool:
        return bool(self._leaving)
