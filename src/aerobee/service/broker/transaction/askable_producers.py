"""Chooses the producer connection of a group for a check-back: round robin, with a limit per
second.

The counts are cleared every second, so nothing is kept of connections that are gone.
"""

from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId
from aerobee.service.broker.clients.producers import Producers

SECOND_MS = 1_000
_TRIES_MAX = 8  # connections of a group that are tried to find one below its limit


class AskableProducers:
    def __init__(self, producers: Producers, asks_a_second: int) -> None:
        self._producers = producers
        self._asks_a_second = asks_a_second
        self._turn = 0
        self._second_ms = 0
        self._asked: dict[ChannelId, int] = {}
        # Cached until the next `look`: a group may have thousands of members.
        self._channels: dict[str, list[ChannelId]] = {}

    def look(self, now: Now) -> None:
        """A new tick: forget the cached members of groups."""
        self._channels.clear()
        if now.monotonic_ms - self._second_ms >= SECOND_MS:
            self._second_ms = now.monotonic_ms
            self._asked.clear()

    def take(self, group: str) -> ChannelId | None:
        """The connection to ask, counted as asked; None: there is none below its limit."""
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
