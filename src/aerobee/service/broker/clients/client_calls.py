"""ClientCalls sends requests of the broker to its clients, and calls back with their answers.

    call ──▶ Reply to the channel ──▶ on_response: then(answer)
                    └─ deadline, connection closed, too many at once: then(None)

`then` is called exactly once. The opaques are this table's own, independent of those in clients'
requests.
"""

from collections.abc import Callable
from typing import NamedTuple

from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId, Effects, Reply
from aerobee.protocol.remoting.remoting_command import RemotingCommand

CALLS_MAX = 1_000
_OPAQUE_MAX = 2**31 - 1

Then = Callable[[RemotingCommand | None], None]


class _Call(NamedTuple):
    channel: ChannelId
    deadline_ms: int
    then: Then


class ClientCalls:
    """The calls that wait: few, because an operator or a tool waits for each."""

    def __init__(self, outbox: Effects, calls_max: int = CALLS_MAX) -> None:
        self._outbox = outbox
        self._calls_max = calls_max
        self._waiting: dict[int, _Call] = {}
        self._opaque = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def call(
        self, channel: ChannelId, command: RemotingCommand, deadline_ms: int, then: Then
    ) -> None:
        """Send a request to a client; the deadline is on the monotonic clock."""
        if len(self._waiting) >= self._calls_max:
            then(None)
            return
        self._opaque = self._opaque % _OPAQUE_MAX + 1
        command.opaque = self._opaque
        self._waiting[self._opaque] = _Call(channel, deadline_ms, then)
        self._outbox.append(Reply(channel, command))

    def on_response(self, channel: ChannelId, command: RemotingCommand) -> bool:
        """A response arrived; False if no call waits for it (any more)."""
        call = self._waiting.get(command.opaque)
        if call is None or call.channel != channel:
            return False
        del self._waiting[command.opaque]
        call.then(command)
        return True

    def take_late(self, now: Now) -> None:
        """Give up calls whose deadline has passed."""
        self._give_up(
            [key for key, call in self._waiting.items() if call.deadline_ms <= now.monotonic_ms]
        )

    def drop_channel(self, channel: ChannelId) -> None:
        """Give up the calls of a connection that is closed."""
        self._give_up([key for key, call in self._waiting.items() if call.channel == channel])

    def _give_up(self, opaques: list[int]) -> None:
        for opaque in opaques:
            call = self._waiting.pop(opaque, None)
            if call is not None:  # else the callback of another call has removed it
                call.then(None)
