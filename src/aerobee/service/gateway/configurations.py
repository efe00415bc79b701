"""Configurations of topics and groups, as brokers have them: looked up before a call goes by them.

    learn ─▶ the route of a topic, or of the cluster ─▶ a broker of it ─▶ `find_topic`, `find_group`

An answer is believed for some seconds, and lookups meanwhile share one request. A name that nobody
knows is looked up each time: it may have been created since. If nobody answers, what was known
holds on; if nothing was known, the call is refused.

Imports more than 15 modules because names, routes and brokers meet here.
"""

from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, TypeAlias, TypeVar

from aerobee.errors import ProtocolError
from aerobee.model.group import GroupConfig
from aerobee.model.route import TopicRoute
from aerobee.model.topic import TopicConfig
from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId
from aerobee.protocol.bodies.group_config import decode_group_config
from aerobee.protocol.bodies.topic_table import decode_topic_config
from aerobee.protocol.grpc.codes import GrpcCode
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.gateway.broker_requests import BrokerRequests
from aerobee.service.gateway.known_brokers import KnownBrokers, serving_address
from aerobee.service.proxy.desk import Learnt, Names
from aerobee.service.proxy.outcomes import CallRefused, status_of
from aerobee.service.request import Answer, InnerRequest
from aerobee.service.topic_routes import TopicRoutes

BELIEVED_MS = 5_000
NAMES_MAX = 20_000
_SERVICE = ChannelId(0)
_UNKNOWN = (
    ResponseCode.TOPIC_NOT_EXIST,
    ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST,
    ResponseCode.REQUEST_CODE_NOT_SUPPORTED,  # RocketMQ 4
)

C = TypeVar("C")
Told: TypeAlias = Callable[[CallRefused | None], None]


class _Known(NamedTuple, Generic[C]):
    config: C | None
    """None: brokers have none of this name."""
    until_ms: int


class _Table(Generic[C]):
    """The configurations of one kind."""

    def __init__(
        self, code: RequestCode, field: str, decode: Callable[[bytes], C], waiting_max: int
    ) -> None:
        """`code` asks for one, whose name is in `field`."""
        self.code = code
        self.field = field
        self.decode = decode
        self._waiting_max = waiting_max
        self._known: dict[str, _Known[C]] = {}
        self._waiting: dict[str, list[Told]] = {}

    def find(self, name: str) -> C | None:
        known = self._known.get(name)
        return None if known is None else known.config

    def is_fresh(self, name: str, now: Now) -> bool:
        known = self._known.get(name)
        return known is not None and now.monotonic_ms < known.until_ms

    def wait(self, name: str, told: Told) -> bool:
        """Wait for a configuration; whether it has to be asked for: nobody waited yet."""
        if name not in self._waiting and len(self._waiting) >= self._waiting_max:
            told(CallRefused(GrpcCode.TOO_MANY_REQUESTS, "too many names are looked up"))
            return False
        waiting = self._waiting.setdefault(name, [])
        waiting.append(told)
        return len(waiting) == 1

    def learnt(self, name: str, config: C | None, now: Now) -> None:
        if len(self._known) >= NAMES_MAX:
            self._known.clear()
        believed_ms = 0 if config is None else BELIEVED_MS
        self._known[name] = _Known(config, now.monotonic_ms + believed_ms)
        self._tell(name, None)

    def failed(self, name: str, refusal: CallRefused, now: Now) -> None:
        """Nobody said anything of use: what is known holds on."""
        known = self._known.get(name)
        if known is not None and known.config is not None:
            self.learnt(name, known.config, now)
        else:
            self._tell(name, refusal)

    def _tell(self, name: str, refusal: CallRefused | None) -> None:
        for told in self._waiting.pop(name, []):
            told(refusal)


class Configurations:
    """A `service.proxy.desk.Learner`."""

    def __init__(
        self, cluster: str, routes: TopicRoutes, brokers: KnownBrokers, requests: BrokerRequests
    ) -> None:
        """Brokers of `cluster` are asked about groups."""
        self._cluster = cluster
        self._routes = routes
        self._brokers = brokers
        self._requests = requests
        self._now = Now(0, 0)
        self._topics = _Table(RequestCode.GET_TOPIC_CONFIG, "topic", decode_topic_config, NAMES_MAX)
        self._groups = _Table(
            RequestCode.GET_SUBSCRIPTIONGROUP_CONFIG, "group", decode_group_config, NAMES_MAX
        )

    def find_topic(self, name: str) -> TopicConfig | None:
        return self._topics.find(name)

    def find_group(self, name: str) -> GroupConfig | None:
        return self._groups.find(name)

    def at(self, now: Now) -> None:
        """It is this late: what is learnt from now on is learnt now."""
        self._now = now

    def learn(self, names: Names, now: Now, then: Learnt) -> bool:
        self._now = now
        topics = [name for name in names.topics if not self._topics.is_fresh(name, now)]
        groups = [name for name in names.groups if not self._groups.is_fresh(name, now)]
        if not topics and not groups:
            return True
        left = len(topics) + len(groups)
        refusals: list[CallRefused] = []

        def told(refusal: CallRefused | None) -> None:
            nonlocal left
            left -= 1
            if refusal is not None:
                refusals.append(refusal)
            if left == 0:
                then(refusals[0] if refusals else None, self._now)

        for name in topics:
            if self._topics.wait(name, told):
                self._look_up(self._topics, name, name)
        for name in groups:
            if self._groups.wait(name, told):
                self._look_up(self._groups, name, self._cluster)
        return False

    def find_route(self, topic: str, now: Now, then: Callable[[TopicRoute | None], None]) -> None:
        """Call `then` with the route of a topic, whose brokers can be asked from then on."""

        def found(route: TopicRoute | None) -> None:
            if route is not None:
                self._brokers.note(route)
            then(route)

        self._routes.find(topic, now, found)

    def find_cluster(self, now: Now, then: Callable[[Sequence[str]], None]) -> None:
        """Call `then` with the addresses of the cluster's brokers, none if nobody knows them."""
        self.find_route(self._cluster, now, lambda route: then(_addresses(route)))

    def _look_up(self, table: _Table[C], name: str, topic: str) -> None:
        """Ask a broker of a topic's route about a name."""

        def found(route: TopicRoute | None) -> None:
            if route is not None:
                self._ask(table, name, _addresses(route))
            elif self._routes.is_silent:
                refusal = CallRefused(GrpcCode.PROXY_TIMEOUT, "no name server answers the proxy")
                table.failed(name, refusal, self._now)
            elif topic == self._cluster:
                refusal = CallRefused(
                    GrpcCode.INTERNAL_SERVER_ERROR,
                    f"the name servers know no cluster {topic}: see rocketMQClusterName",
                )
                table.failed(name, refusal, self._now)
            else:
                table.learnt(name, None, self._now)

        self.find_route(topic, self._now, found)

    def _ask(self, table: _Table[C], name: str, addresses: Sequence[str]) -> None:
        """Ask one broker after the other, until one knows."""
        if not addresses:
            refusal = CallRefused(GrpcCode.INTERNAL_SERVER_ERROR, f"no broker of {name} is there")
            table.failed(name, refusal, self._now)
            return

        def answered(answer: Answer) -> None:
            rest = addresses[1:]
            if answer.code is ResponseCode.SUCCESS:
                try:
                    table.learnt(name, table.decode(answer.body), self._now)
                    return
                except ProtocolError as error:
                    answer = Answer(ResponseCode.SYSTEM_ERROR, f"{addresses[0]} said: {error}")
            if rest:
                self._ask(table, name, rest)
            elif answer.code in _UNKNOWN:
                table.learnt(name, None, self._now)
            else:
                status = status_of(answer)
                refusal = CallRefused(GrpcCode(status.code), status.message)
                table.failed(name, refusal, self._now)

        command = RemotingCommand(table.code, ext_fields={table.field: name})
        self._requests.send(addresses[0], InnerRequest(_SERVICE, command, self._now, answered))


def _addresses(route: TopicRoute | None) -> list[str]:
    """Where its brokers take requests, in order."""
    found = [serving_address(broker) for broker in (() if route is None else route.brokers)]
    return sorted(one for one in found if one is not None)
