"""RpcDoor hands calls of gRPC to the messaging service, and returns the broker's effects.

The messaging service appends its effects to the broker's outbox; what is in it leaves with every
event, of whichever protocol.
"""

from collections.abc import Callable

from aerobee.ports.clock import Now
from aerobee.ports.rpc import CallId, CallStart, CallTaker, RpcConnectionId
from aerobee.ports.service import Effects, Peer
from aerobee.protocol.http2.connection import Http2Connection
from aerobee.service.access.call_signature import CallSignature
from aerobee.service.access.gate import Gate
from aerobee.service.access.request_limits import RequestLimits
from aerobee.service.proxy.messaging_service import MessagingService


class NoneInPlace:
    """Takes no call: there is no broker in this process to serve one in place."""

    paths = frozenset[str]()

    def take_all(self, http2: Http2Connection, connection: RpcConnectionId, now: Now) -> None:
        """Leave everything to the messaging service."""


class RpcDoor:
    """A `ports.rpc.RpcService`."""

    def __init__(
        self,
        messaging: MessagingService,
        gate: Gate,
        limits: RequestLimits,
        in_place: CallTaker,
    ) -> None:
        self.messaging = messaging
        self.in_place = in_place
        self._gate = gate
        self._limits = limits
        self._hosts: dict[RpcConnectionId, str] = {}
        self._sent: Callable[[], Effects] = list

    def lead_to(self, sent: Callable[[], Effects]) -> None:
        """`sent` takes all effects of the broker so far."""
        self._sent = sent

    def translate(self, effects: Effects, outbox: Effects) -> Effects:
        """Effects of the broker, and what the messaging service makes of some of them."""
        translated = self.messaging.translate(effects)
        translated += outbox
        outbox.clear()
        return translated

    @property
    def message_bytes_max(self) -> int:
        return self.messaging.message_bytes_max

    def may_open(self, connection: RpcConnectionId, peer: Peer) -> bool:
        host = peer.host.partition("%")[0]
        if self._limits.opened(host):
            self._hosts[connection] = host
            return True
        self._limits.closed(host)
        return False

    def knows(self, start: CallStart, now: Now) -> bool:
        host = start.peer.host.partition("%")[0]
        return self._gate.knows(CallSignature(start.metadata), host, now.monotonic_ms)

    def on_call(self, start: CallStart, now: Now) -> Effects:
        self.messaging.on_call(start, now)
        return self._sent()

    def on_call_message(self, call: CallId, message: bytes, now: Now) -> Effects:
        self.messaging.on_call_message(call, message, now)
        return self._sent()

    def on_call_half_closed(self, call: CallId, now: Now) -> Effects:
        self.messaging.on_call_half_closed(call, now)
        return self._sent()

    def on_call_cancelled(self, call: CallId, now: Now) -> Effects:
        self.messaging.on_call_cancelled(call, now)
        return self._sent()

    def on_rpc_closed(self, connection: RpcConnectionId, now: Now) -> Effects:
        host = self._hosts.pop(connection, None)
        if host is not None:
            self._limits.closed(host)
        self._gate.forget_calls(connection)
        self.messaging.on_rpc_closed(connection, now)
        return self._sent()
