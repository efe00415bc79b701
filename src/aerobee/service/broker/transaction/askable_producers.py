"""Who of a producer group can be asked now: its connections by turns, each so often a second.

What was asked is forgotten every second, so nothing is kept of connections that are gone.
"""

from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId
from aerobee.service.broker.clients.producers import Producers

SECOND_MS = 1_000
_TRIES_MAX = 8  # connections of a group that are looked at for one that may be asked


class AskableProducers:
    def __init__(self, producers: Producers, asks_a_second: int) -> None:
        self._producers = producers
        self._asks_a_second = asks_a_second
        self._turn = 0
        self._second_ms = 0
        self._asked: dict[ChannelId, int] = {}
        # Of one look: a group may have thousands of members.
        self._channels: dict[str, list[ChannelId]] = {}

    def look(self, now: Now) -> None:
        """Groups may have other members than at the last look."""
        self._channels.clear()
        if now.monotonic_ms - self._second_ms >= SECOND_MS:
            self._second_ms = now.monotonic_ms
            self._asked.clear()

    def take(self, group: str) -> ChannelId | None:
        """Whom to ask; it counts as asked."""
        channels = self._channels.get(group)
        if channels is None:
            channels = [member.channel for member in self._producers.members(group)]
            self._channels[group] = channels
        for _ in range(min(len(channels), _TRIES_MAX)):
            self._turn += 1
            channel = channels[self._turn % len(channels)]
            asked = self._asked.get(channel, 0)
            if asked < self._asks_a_second:
                self._asked[channel] = asked + 1
                return channel
        return None
