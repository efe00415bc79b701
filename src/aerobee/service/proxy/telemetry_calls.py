"""Telemetry, Heartbeat and NotifyClientTermination: clients announce themselves, and hear commands.

Settings are answered at once and completely (`client_settings`). They register the client with the
broker: a producer for each of its topics, a consumer with its subscriptions; heartbeats repeat
that. A producer's group is its topic.

Imports more than 15 modules because settings, heartbeats and commands of clients meet here.
"""

import logging
from collections.abc import Callable
from typing import TypeAlias

from aerobee.ports.clock import Now
from aerobee.ports.rpc import CallId, CallWrite
from aerobee.ports.service import ChannelId, Effects
from aerobee.protocol.grpc.calls import (
    HeartbeatRequest,
    NotifyClientTerminationRequest,
    StatusResponse,
    TelemetryCommand,
)
from aerobee.protocol.grpc.codes import GrpcCode, RpcStatus
from aerobee.protocol.grpc.resources import ClientSettings, Status
from aerobee.protocol.grpc.wire import encode
from aerobee.protocol.remoting.remoting_command import RemotingCommand, reply_to
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.proxy.call_checks import filter_in, group_in, names_of, topic_in
from aerobee.service.proxy.client_questions import ClientQuestions
from aerobee.service.proxy.client_settings import (
    CONSUMERS,
    agent_of,
    consumer_settings,
    heartbeat_of,
    producer_settings,
)
from aerobee.service.proxy.desk import Asker, Desk, Names
from aerobee.service.proxy.grpc_clients import GrpcClient, GrpcClients
from aerobee.service.proxy.open_call import Method, OpenCall, answering
from aerobee.service.proxy.outcomes import OK_STATUS, CallRefused
from aerobee.service.request import Answer

_log = logging.getLogger(__name__)

TOPICS_MAX = 1_000
"""Topics of one client, published or subscribed to."""
_UNKNOWN = Status(
    GrpcCode.UNRECOGNIZED_CLIENT_TYPE, "the client has no settings: write them to Telemetry first"
)


Answered: TypeAlias = Callable[[ChannelId, RemotingCommand], object]
"""Given the answer of a client to a request that the broker wrote to its channel."""
Told: TypeAlias = Callable[[RemotingCommand], object]
"""Takes the answer to a request, once."""


def unheard(channel: ChannelId, answer: RemotingCommand) -> None:
    """Takes answers where no broker writes to channels."""


class TelemetryCalls:
    def __init__(self, desk: Desk, clients: GrpcClients, outbox: Effects) -> None:
        self._desk = desk
        self._clients = clients
        self._outbox = outbox
        self.questions = ClientQuestions(self.command)

    def methods(self) -> list[Method]:
        return [
            Method(
                "Telemetry",
                RequestCode.HEART_BEAT,
                TelemetryCommand,
                self._take,
                _end_telemetry,
                _names,
                is_stream=True,
            ),
            Method(
                "Heartbeat",
                RequestCode.HEART_BEAT,
                HeartbeatRequest,
                self._beat,
                answering(StatusResponse),
            ),
            Method(
                "NotifyClientTermination",
                RequestCode.UNREGISTER_CLIENT,
                NotifyClientTerminationRequest,
                self._terminate,
                answering(StatusResponse),
            ),
        ]

    def command(self, client: GrpcClient, command: TelemetryCommand) -> bool:
        """Write a command to a client; False: it has no stream."""
        if client.telemetry is None:
            return False
        self._outbox.append(CallWrite(client.telemetry, encode(command)))
        return True

    def ask(
        self, client: GrpcClient | None, request: RemotingCommand, now: Now, told: Told
    ) -> None:
        """Have a client answer a request of a broker; None: it is gone."""
        if client is not None:
            self.questions.ask(client, request, now, told)
        else:
            told(reply_to(request, ResponseCode.SYSTEM_BUSY, remark="the client is gone"))

    def stream_ended(self, client: GrpcClient, call: CallId) -> None:
        """A stream is over: commands no longer go to it."""
        if client.telemetry == call:
            client.telemetry = None
            self.questions.stream_ended(client)

    def register_producer(self, call: OpenCall, topic: str, now: Now) -> None:
        """Register a client that sends to a topic, whether or not it announced the topic."""
        client = call.client
        if topic not in client.topics and len(client.topics) < TOPICS_MAX:
            client.topics.add(topic)
            self._announce(client, call.asker, now)

    # Settings.

    def _take(self, call: OpenCall, command: TelemetryCommand, now: Now) -> None:
        said = command.settings
        if said is None:
            self.questions.take(call.client, command, now)
            return
        if said.publishing is not None:
            settled = self._settle_producer(said)
        elif said.subscription is not None:
            settled = self._settle_consumer(said)
        else:
            raise CallRefused(GrpcCode.BAD_REQUEST, "settings without publishing or subscription")
        client = call.client
        before = client.settings, client.topics
        client.settings = settled
        if said.publishing is not None:
            client.topics = client.topics | {topic.name for topic in said.publishing.topics}
        try:
            self._announce(client, call.asker, now)
        except CallRefused:
            # Any peer can name another client: it has changed nothing of it.
            client.settings, client.topics = before
            raise
        client.telemetry = call.id
        call.send(TelemetryCommand(status=OK_STATUS, settings=settled))

    def _settle_producer(self, said: ClientSettings) -> ClientSettings:
        assert said.publishing is not None
        topics = {topic_in(topic) for topic in said.publishing.topics}
        if len(topics) > TOPICS_MAX:
            raise CallRefused(GrpcCode.BAD_REQUEST, f"more than {TOPICS_MAX} topics")
        return producer_settings(said, self._desk.body_bytes_max)

    def _settle_consumer(self, said: ClientSettings) -> ClientSettings:
        assert said.subscription is not None
        if said.client_type not in CONSUMERS:
            raise CallRefused(
                GrpcCode.UNRECOGNIZED_CLIENT_TYPE,
                f"clients of the type {said.client_type} are not served",
            )
        group = group_in(said.subscription.group)
        if len(said.subscription.subscriptions) > TOPICS_MAX:
            raise CallRefused(GrpcCode.BAD_REQUEST, f"more than {TOPICS_MAX} subscriptions")
        for entry in said.subscription.subscriptions:
            topic_in(entry.topic)
            filter_in(entry.expression)
        return consumer_settings(said, self._desk.find_group(group))

    # Registering.

    def _announce(self, client: GrpcClient, asker: Asker, now: Now) -> None:
        """Tell the broker of a client, by the heartbeat that a remoting client would send."""
        heartbeat = heartbeat_of(client, now)
        if heartbeat is None:
            return

        def beaten(answer: Answer) -> None:
            if answer.code is not ResponseCode.SUCCESS:
                _log.warning(
                    "a client of gRPC was not registered: %s",
                    answer.remark,
                    extra={"client": client.id},
                )

        self._desk.register(asker, agent_of(client), heartbeat, now, beaten)

    # Heartbeats and the end.

    def _beat(self, call: OpenCall, request: HeartbeatRequest, now: Now) -> None:
        if call.client.settings is None:
            call.answer(StatusResponse(_UNKNOWN))
            return
        self._announce(call.client, call.asker, now)
        call.answer(StatusResponse(OK_STATUS))

    def _terminate(self, call: OpenCall, request: NotifyClientTerminationRequest, now: Now) -> None:
        settings = call.client.settings
        if settings is None:
            call.answer(StatusResponse(_UNKNOWN))
            return
        # Its own group, not the one that the call names: whoever ends a client needs its rights.
        group = "" if settings.subscription is None else group_in(settings.subscription.group)
        leaving = {"clientID": call.client.id, "consumerGroup": group}
        self._desk.check(call.asker, RequestCode.UNREGISTER_CLIENT, leaving, now)
        call.answer(StatusResponse(OK_STATUS))
        self._clients.drop(call.client, now)


def _names(command: TelemetryCommand) -> Names:
    subscription = None if command.settings is None else command.settings.subscription
    group = None if subscription is None else subscription.group
    return names_of(None, group)


def _end_telemetry(
    call: OpenCall, command: TelemetryCommand | None, status: Status, now: Now
) -> None:
    """Settings that are refused end the stream with a status of gRPC; a client without rights hears
    the status first."""
    if status.code == GrpcCode.UNAUTHORIZED:
        call.answer(TelemetryCommand(status=status))
        return
    is_clients = 40_000 <= status.code < 50_000
    call.end(
        RpcStatus.INVALID_ARGUMENT if is_clients else RpcStatus.INTERNAL,
        f"process client telemetryCommand failed. {status.message}",
    )
