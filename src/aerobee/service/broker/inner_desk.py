"""InnerDesk serves the requests of the messaging service of gRPC by the broker in the same process.

A request is a value and so is its answer, but the row of the request table that serves it is the
one that serves remoting clients, behind the same gate.

Imports more than 15 modules because every request of the messaging service comes by here.
"""

from collections.abc import Callable

from aerobee.model.flags import is_writable
from aerobee.model.group import GroupConfig
from aerobee.model.route import MASTER_ID, BrokerData, QueueData, TopicRoute
from aerobee.model.topic import TopicConfig
from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId, Peer
from aerobee.protocol.bodies.heartbeat import Heartbeat, encode_heartbeat
from aerobee.protocol.grpc.codes import GrpcCode
from aerobee.protocol.grpc.group_queues import queue_of_group
from aerobee.protocol.remoting.declared_header import NoHeader, write_header
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.service.broker.parts import Parts
from aerobee.service.broker.request_table import Reception, consumer_of
from aerobee.service.proxy.call_checks import check_caller, check_rights
from aerobee.service.proxy.desk import Agent, Asked, Asker, Caller, Learner, QueuePlace, Then
from aerobee.service.proxy.outcomes import CallRefused
from aerobee.service.request import InnerRequest, answer_with


class InnerDesk:
    """A `service.proxy.desk.Desk`."""

    def __init__(
        self,
        broker_name: str,
        body_bytes_max: int,
        parts: Parts,
        reception: Reception,
    ) -> None:
        self.learner: Learner | None = None
        self._broker_name = broker_name
        self.body_bytes_max = body_bytes_max
        self._parts = parts
        self._reception = reception

    def admit(self, caller: Caller, code: RequestCode, now: Now) -> None:
        check_caller(self._reception.gate, self._reception.limits, caller, code, now)

    def ask(
        self,
        asker: Asker,
        code: RequestCode,
        header: object,
        now: Now,
        then: Then,
        *,
        broker: str = "",
        fields: dict[str, str] | None = None,
        body: bytes = b"",
    ) -> Asked:
        command = RemotingCommand(code, ext_fields=fields or {}, body=body)
        return self._serve(asker, command, header, now, then)

    def _serve(
        self, asker: Asker, command: RemotingCommand, header: object, now: Now, then: Then
    ) -> Asked:
        """Have a request served by the row of its code, behind the gate."""
        self._parts.pulls.settle()  # a request sees messages that were sent before it
        heard = self._parts.watching.times.heard
        row = self._reception.table[command.code]
        request = InnerRequest(asker.channel, command, now, then, heard)
        gate, limits = self._reception.gate, self._reception.limits
        if asker.caller is not None and not gate.is_open:
            if not command.ext_fields:
                command.ext_fields = write_header(header)
            check_rights(gate, limits, request, asker.caller)
        if asker.caller is not None:
            request.host = asker.caller.host
            group, topic = getattr(header, "consumer_group", ""), getattr(header, "topic", "")
            consumer = consumer_of(row.lane, group, topic)
            refusal = self._reception.limited(request, row.lane, consumer)
            if refusal is not None:
                raise CallRefused(GrpcCode.TOO_MANY_REQUESTS, refusal.remark)
        answer_with(lambda request: row.handle(request, header), request)
        return request

    def withdraw(self, asked: Asked) -> None:
        self._parts.pops.withdraw(asked)

    def check(self, asker: Asker, code: RequestCode, fields: dict[str, str], now: Now) -> None:
        if asker.caller is not None and not self._reception.gate.is_open:
            command = RemotingCommand(code, ext_fields=fields)
            request = InnerRequest(asker.channel, command, now, lambda answer: None)
            check_rights(self._reception.gate, self._reception.limits, request, asker.caller)

    def register(
        self, asker: Asker, agent: Agent, heartbeat: Heartbeat, now: Now, then: Then
    ) -> None:
        code, body = RequestCode.HEART_BEAT, encode_heartbeat(heartbeat)
        command = RemotingCommand(code, language=agent.language, version=agent.version, body=body)
        self._serve(asker, command, NoHeader(), now, then)

    def choose_queue(self, topic: TopicConfig, group: str) -> QueuePlace | None:
        if not is_writable(topic.permission) or topic.write_queues <= 0:
            return None
        queue_id = queue_of_group(group, topic.write_queues) if group else -1
        return QueuePlace(self._broker_name, queue_id)

    def choose_broker(self, topic: str, wanted: str) -> str:
        return self._broker_name

    def find_topic(self, name: str) -> TopicConfig | None:
        return self._parts.tables.topics.find(name)

    def find_group(self, name: str) -> GroupConfig | None:
        return self._parts.tables.groups.find(name)

    def find_route(self, topic: str, now: Now, then: Callable[[TopicRoute | None], None]) -> None:
        """The route has this broker's queues as its own table has them: a topic that was just
        created is found at once."""
        self._parts.cluster.routes.find(
            topic, now, lambda route: then(self._with_own(topic, route))
        )

    def _with_own(self, topic: str, route: TopicRoute | None) -> TopicRoute | None:
        own, name = self.find_topic(topic), self._broker_name
        if own is None:
            return route
        told = route or TopicRoute((), ())
        queues = [data for data in told.queues if data.broker_name != name]
        queues.append(
            QueueData(name, own.read_queues, own.write_queues, own.permission, own.sys_flag)
        )
        brokers = list(told.brokers)
        if all(broker.name != name for broker in brokers):
            brokers.append(BrokerData("", name, {MASTER_ID: ""}))
        return TopicRoute(
            tuple(sorted(queues)), tuple(sorted(brokers, key=lambda broker: broker.name))
        )

    def opened(self, channel: ChannelId, peer: Peer) -> None:
        self._parts.peers.opened(channel, peer)

    def closed(self, channel: ChannelId) -> None:
        self._parts.close_channel(channel)
        self._parts.peers.closed(channel)
        self._reception.forget(channel)
