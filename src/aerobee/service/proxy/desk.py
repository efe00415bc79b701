"""Desk: what the messaging service asks of the broker, or the brokers, that it stands in front of.

The service knows nothing else of a broker: not its rooms, and not whether it is in this process
(`service.broker.messaging_assembly`) or reached over the network (`service.gateway`).
"""

from collections.abc import Callable
from typing import NamedTuple, Protocol, TypeAlias

from aerobee.model.group import GroupConfig
from aerobee.model.route import TopicRoute
from aerobee.model.topic import TopicConfig
from aerobee.ports.clock import Now
from aerobee.ports.rpc import RpcConnectionId
from aerobee.ports.service import ChannelId, Peer
from aerobee.protocol.bodies.heartbeat import Heartbeat
from aerobee.protocol.request_codes import RequestCode
from aerobee.service.access.call_signature import CallSignature
from aerobee.service.proxy.outcomes import CallRefused
from aerobee.service.request import Answer, Request

Then: TypeAlias = Callable[[Answer], None]
Asked: TypeAlias = Request
"""A request that may not be answered yet."""


class Caller(NamedTuple):
    """Whose call it is, as the call itself shows."""

    signature: CallSignature
    host: str
    """The address that this call came from; others of its client may come from elsewhere."""
    connection: RpcConnectionId


class Asker(NamedTuple):
    """Who asks: a client by its channel."""

    channel: ChannelId
    caller: Caller | None = None
    """None: the service itself asks, for a client that was let pass."""


class Agent(NamedTuple):
    """The program of a client, as lists of clients show it."""

    language: str
    """By remoting's name for it."""
    version: int
    """By remoting's number for it."""


class Names(NamedTuple):
    """The topics and groups whose configuration a call goes by."""

    topics: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()


Learnt: TypeAlias = Callable[[CallRefused | None, Now], None]


class Learner(Protocol):
    """Looks up configurations that are kept elsewhere."""

    def learn(self, names: Names, now: Now, then: Learnt) -> bool:
        """Whether the desk can be asked about these names now. False: it is asking, and calls
        `then` once, with the refusal of a call that needs them if they could not be looked up."""


class QueuePlace(NamedTuple):
    """The queue that a message is sent to."""

    broker: str
    queue_id: int
    """-1: the next in turn."""


class Desk(Protocol):
    body_bytes_max: int
    learner: Learner | None
    """None: topics and groups are known at any time."""

    def admit(self, caller: Caller, code: RequestCode, now: Now) -> None:
        """CallRefused: nobody signed this call rightly. Asked before anything of the call is read;
        `code` is that of the request that it becomes."""

    def ask(
        self,
        asker: Asker,
        code: RequestCode,
        header: object,
        now: Now,
        then: Then,
        *,
        broker: str,
        fields: dict[str, str] | None = None,
        body: bytes = b"",
    ) -> Asked:
        """Have a broker serve a request of a client; `then` is called with the answer, once,
        perhaps at once. `fields` are those of requests whose handler reads them itself.
        CallRefused: the asker may not ask for it, or there is no such broker, and nothing was
        done."""

    def withdraw(self, asked: Asked) -> None:
        """Drop a request that waits for messages: `then` is not called any more. One that does not
        wait is answered."""

    def check(self, asker: Asker, code: RequestCode, fields: dict[str, str], now: Now) -> None:
        """CallRefused: the asker may not ask for this."""

    def register(
        self, asker: Asker, agent: Agent, heartbeat: Heartbeat, now: Now, then: Then
    ) -> None:
        """Register a client as a producer and a consumer, until it is gone. CallRefused: as for
        `ask`."""

    def choose_queue(self, topic: TopicConfig, group: str) -> QueuePlace | None:
        """The queue for the next message: of a message group, if one is named. None: the topic has
        no writable queue."""

    def choose_broker(self, topic: str, wanted: str) -> str:
        """The name of the broker that messages of a topic are received from: the wanted one, if it
        can be."""

    def find_topic(self, name: str) -> TopicConfig | None: ...

    def find_group(self, name: str) -> GroupConfig | None: ...

    def find_route(self, topic: str, now: Now, then: Callable[[TopicRoute | None], None]) -> None:
        """Call `then` with the route that name servers know; None: they know none."""

    def opened(self, channel: ChannelId, peer: Peer) -> None:
        """A client has come: its requests have this channel."""

    def closed(self, channel: ChannelId) -> None:
        """A client is gone."""
