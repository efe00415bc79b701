"""RemoteDesk serves the requests of the messaging service by brokers that are reached over the
network.

A request is signed as the process's own user when it leaves (`gateway`), so brokers see that user's
rights, not the caller's: where callers have to be told apart, the gate here does it first.

Imports more than 15 modules because every request of the messaging service comes by here.
"""

from collections.abc import Callable, Mapping

from aerobee.model.group import GroupConfig
from aerobee.model.route import TopicRoute
from aerobee.model.topic import TopicConfig
from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId, Peer
from aerobee.protocol.bodies.heartbeat import Heartbeat, encode_heartbeat
from aerobee.protocol.headers.popping import PopHeader
from aerobee.protocol.remoting.declared_header import write_header
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.access.gate import Gate
from aerobee.service.gateway.broker_requests import BrokerRequests
from aerobee.service.gateway.configurations import Configurations
from aerobee.service.gateway.known_brokers import KnownBrokers
from aerobee.service.gateway.queue_turns import QueueTurns
from aerobee.service.gateway.registrations import Registrations
from aerobee.service.proxy.call_checks import check_rights
from aerobee.service.proxy.desk import Asked, Asker, FastDesk, Learner, QueuePlace, Then
from aerobee.service.request import OK, Answer, InnerRequest

LATE_MS = 2_000
"""A broker may answer a request that it held so much later than it was told to."""


class RemoteDesk:
    """A `service.proxy.desk.Desk`."""

    def __init__(
        self,
        body_bytes_max: int,
        gate: Gate,
        turns: QueueTurns,
        brokers: KnownBrokers,
        requests: BrokerRequests,
        configurations: Configurations,
        registrations: Registrations,
    ) -> None:
        self.body_bytes_max = body_bytes_max
        self.fast: FastDesk | None = None
        self.learner: Learner | None = configurations
        self._gate = gate
        self._turns = turns
        self._brokers = brokers
        self._configurations = configurations
        self._registrations = registrations
        self._requests = requests
        self.peers: dict[ChannelId, Peer] = {}

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
        told = write_header(header) if fields is None else fields
        command = RemotingCommand(code, ext_fields=told, body=body)
        request = InnerRequest(asker.channel, command, now, then)
        self._check(request, asker.metadata)
        address = self._brokers.address_of(broker)
        if address is None:
            remark = f"name servers know no broker {broker[:100]!r}"
            request.answer(Answer(ResponseCode.BROKER_NOT_EXIST, remark))
        else:
            wait_ms = header.poll_time + LATE_MS if isinstance(header, PopHeader) else 0
            self._requests.send(address, request, wait_ms)
        return request

    def withdraw(self, asked: Asked) -> None:
        """A broker that holds it cannot be told: the messages of its answer are given back."""

    def check(self, asker: Asker, code: RequestCode, fields: dict[str, str], now: Now) -> None:
        command = RemotingCommand(code, ext_fields=fields)
        request = InnerRequest(asker.channel, command, now, lambda answer: None)
        self._check(request, asker.metadata)

    def _check(self, request: InnerRequest, metadata: Mapping[str, str] | None) -> None:
        if metadata is not None and not self._gate.is_open:
            check_rights(self._gate, request, self.peers[request.channel].host, metadata)

    def register(self, asker: Asker, heartbeat: Heartbeat, now: Now, then: Then) -> None:
        if not self._gate.is_open:
            command = RemotingCommand(RequestCode.HEART_BEAT, body=encode_heartbeat(heartbeat))
            self._check(InnerRequest(asker.channel, command, now, then), asker.metadata)
        self._registrations.put(asker.channel, heartbeat, now)
        then(OK)

    def choose_queue(self, topic: TopicConfig, group: str) -> QueuePlace | None:
        return self._turns.queue_of(topic.name, group)

    def choose_broker(self, topic: str, wanted: str) -> str:
        return self._turns.broker_of(topic, wanted)

    def find_topic(self, name: str) -> TopicConfig | None:
        return self._configurations.find_topic(name)

    def find_group(self, name: str) -> GroupConfig | None:
        return self._configurations.find_group(name)

    def find_route(self, topic: str, now: Now, then: Callable[[TopicRoute | None], None]) -> None:
        self._configurations.find_route(topic, now, then)

    def opened(self, channel: ChannelId, peer: Peer) -> None:
        self.peers[channel] = peer

    def closed(self, channel: ChannelId) -> None:
        self._registrations.drop(channel)
        self._gate.forget(channel)
        self.peers.pop(channel, None)
