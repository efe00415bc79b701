"""RpcDoor hands calls of gRPC to the messaging service, and returns the broker's effects.

The messaging service appends its effects to the broker's outbox; what is in it leaves with every
event, of whichever protocol.
"""

from collections.abc import Callable

from aerobee.ports.clock import Now
from aerobee.ports.rpc import CallId, CallStart, RpcConnectionId
from aerobee.ports.service import Effects
from aerobee.service.proxy.messaging_service import MessagingService


class RpcDoor:
    """A `ports.rpc.RpcService`."""

    def __init__(self, messaging: MessagingService) -> None:
        self.messaging = messaging
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
        self.messaging.on_rpc_closed(connection, now)
        return self._sent()
