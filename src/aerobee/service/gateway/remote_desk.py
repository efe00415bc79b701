"""RemoteDesk serves the requests of the messaging service by brokers that are reached over the
network.

A request is signed as the process's own user when it leaves (`gateway`), so brokers see that user's
rights, not the caller's: callers are told apart here (`callers`).

Imports more than 15 modules because every request of the messaging service comes by here.
"""

from collections.abc import Callable

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
from aerobee.service.gateway.broker_requests import BrokerRequests
from aerobee.service.gateway.callers import Callers
from aerobee.service.gateway.configurations import Configurations
from aerobee.service.gateway.known_brokers import KnownBrokers
from aerobee.service.gateway.queue_turns import QueueTurns
from aerobee.service.gateway.registrations import Registrations
from aerobee.service.gateway.viewed_topics import view_first
from aerobee.service.proxy.desk import Agent, Asked, Asker, Caller, Learner, QueuePlace, Then
from aerobee.service.request import OK, Answer, InnerRequest

LATE_MS = 2_000
"""A broker may answer a request that it held so much later than it was told to."""


class RemoteDesk:
    """A `service.proxy.desk.Desk`."""

    def __init__(
        self,
        body_bytes_max: int,
        callers: Callers,
        turns: QueueTurns,
        brokers: KnownBrokers,
        requests: BrokerRequests,
        configurations: Configurations,
        registrations: Registrations,
    ) -> None:
        self.body_bytes_max = body_bytes_max
        self.learner: Learner | None = callers.users
        self._callers = callers
        self._turns = turns
        self._brokers = brokers
        self._configurations = configurations
        self._registrations = registrations
        self._requests = requests

    def admit(self, caller: Caller, code: RequestCode, now: Now) -> None:
        self._callers.admit(caller, code, now)

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

        def answered(answer: Answer) -> None:
            if isinstance(header, PopHeader):
                answer = self._callers.handed(request, asker, header, answer)
            then(answer)

        request = InnerRequest(asker.channel, command, now, answered)
        address = self._brokers.address_of(broker)
        if address is None:
            remark = f"name servers know no broker {broker[:100]!r}"
            request.answer(Answer(ResponseCode.BROKER_NOT_EXIST, remark))
        elif code is RequestCode.CONSUMER_SEND_MSG_BACK and self._callers.asks(asker):

            def send(topic: str | None) -> None:
                self._send(address, asker, request, header, topic)

            view_first(self._requests, address, int(told["offset"]), request, send)
        else:
            # The service has found the half message that it names: it is of that topic.
            topic = told.get("topic") if code is RequestCode.END_TRANSACTION else None
            self._send(address, asker, request, header, topic)
        return request

    def _send(
        self, address: str, asker: Asker, request: InnerRequest, header: object, topic: str | None
    ) -> None:
        """Send a request, if its asker may. `topic` is that of the message at the log offset that
        it names."""
        self._callers.check(request, asker, topic)
        self._callers.count(request, asker, header)
        wait_ms = header.poll_time + LATE_MS if isinstance(header, PopHeader) else 0
        self._requests.send(address, request, wait_ms)

    def withdraw(self, asked: Asked) -> None:
        """A broker that holds it cannot be told: the messages of its answer are given back."""

    def check(self, asker: Asker, code: RequestCode, fields: dict[str, str], now: Now) -> None:
        command = RemotingCommand(code, ext_fields=fields)
        request = InnerRequest(asker.channel, command, now, lambda answer: None)
        self._callers.check(request, asker)

    def register(
        self, asker: Asker, agent: Agent, heartbeat: Heartbeat, now: Now, then: Then
    ) -> None:
        if self._callers.asks(asker):
            command = RemotingCommand(RequestCode.HEART_BEAT, body=encode_heartbeat(heartbeat))
            self._callers.check(InnerRequest(asker.channel, command, now, then), asker)
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
        self._callers.opened(channel, peer)

    def closed(self, channel: ChannelId) -> None:
        self._registrations.drop(channel)
        self._callers.closed(channel)
