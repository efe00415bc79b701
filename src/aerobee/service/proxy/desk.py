"""Desk: what the messaging service asks of the broker that it stands in front of.

The service knows nothing else of a broker: not its rooms, and not whether it is in this process.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol, TypeAlias

from aerobee.model.group import GroupConfig
from aerobee.model.route import TopicRoute
from aerobee.model.topic import TopicConfig
from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId, Peer
from aerobee.protocol.bodies.revive_records import CheckpointKey
from aerobee.protocol.message.message_draft import MessageDraft
from aerobee.protocol.request_codes import RequestCode
from aerobee.service.request import Answer, Request

Then: TypeAlias = Callable[[Answer], None]
Asked: TypeAlias = Request
"""A request that may not be answered yet."""


class Asker(NamedTuple):
    """Who asks: a client by its channel."""

    channel: ChannelId
    metadata: Mapping[str, str] | None = None
    """The metadata of the client's call, with its signature. None: the service itself asks, for a
    client that was let pass."""


class FastDesk(Protocol):
    """Serves in place the two requests that come for every message. Law: a request that is taken
    here is stored and answered as `Desk.ask` would have it."""

    draft: MessageDraft
    """What `store` stores."""

    def is_open(self, now: Now) -> bool:
        """Whether nobody has to be asked who asks, or how often, and the broker may take
        requests."""

    def store(self, channel: ChannelId, now: Now) -> int:
        """Store the draft, a normal message of a client. Its queue offset; -1: nothing was
        stored."""

    def acknowledge(
        self, key: CheckpointKey, revive_queue: int, revive_time: int, offset: int, then: Then
    ) -> bool:
        """Acknowledge a message of a pop that was not ordered; `then` is called with the answer
        when the round of reads is over. False: nothing was done."""


class Desk(Protocol):
    broker_name: str
    body_bytes_max: int
    fast: FastDesk | None
    """None: there is no way but `ask`."""

    def ask(
        self,
        asker: Asker,
        code: RequestCode,
        header: object,
        now: Now,
        then: Then,
        *,
        fields: dict[str, str] | None = None,
        body: bytes = b"",
    ) -> Asked:
        """Serve a request of a client; `then` is called with the answer, once, perhaps at once.
        `fields` are those of requests whose handler reads them itself. CallRefused: the asker may
        not ask for it, and nothing was done."""

    def withdraw(self, asked: Asked) -> None:
        """Drop a request that waits for messages: `then` is not called any more. One that does not
        wait is answered."""

    def check(self, asker: Asker, code: RequestCode, fields: dict[str, str], now: Now) -> None:
        """CallRefused: the asker may not ask for this."""

    def find_topic(self, name: str) -> TopicConfig | None: ...

    def find_group(self, name: str) -> GroupConfig | None: ...

    def find_route(self, topic: str, now: Now, then: Callable[[TopicRoute | None], None]) -> None:
        """Call `then` with the route that name servers know; None: they know none."""

    def opened(self, channel: ChannelId, peer: Peer) -> None:
        """A client has come: its requests have this channel."""

    def closed(self, channel: ChannelId) -> None:
        """A client is gone."""
