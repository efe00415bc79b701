"""Desk: what the messaging service asks of the broker that it stands in front of.

The service knows nothing else of a broker: not its rooms, and not whether it is in this process.
"""

from collections.abc import Callable
from typing import Protocol, TypeAlias

from aerobee.model.group import GroupConfig
from aerobee.model.route import TopicRoute
from aerobee.model.topic import TopicConfig
from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId, Peer
from aerobee.protocol.request_codes import RequestCode
from aerobee.service.request import Answer

Then: TypeAlias = Callable[[Answer], None]


class Desk(Protocol):
    broker_name: str
    body_bytes_max: int

    def ask(
        self,
        channel: ChannelId,
        code: RequestCode,
        header: object,
        now: Now,
        then: Then,
        *,
        fields: dict[str, str] | None = None,
        body: bytes = b"",
    ) -> None:
        """Serve a request of a client; `then` is called with the answer, once, perhaps at once.
        `fields` are those of requests whose handler reads them itself."""

    def find_topic(self, name: str) -> TopicConfig | None: ...

    def find_group(self, name: str) -> GroupConfig | None: ...

    def find_route(self, topic: str, now: Now, then: Callable[[TopicRoute | None], None]) -> None:
        """Call `then` with the route that name servers know; None: they know none."""

    def opened(self, channel: ChannelId, peer: Peer) -> None:
        """A client has come: its requests have this channel."""

    def closed(self, channel: ChannelId) -> None:
        """A client is gone."""
