"""The heartbeat that a client of gRPC stands for: what a remoting client with its settings would
send, and the program that it is.
"""

from aerobee.model.subscription import ConsumeType, Subscription
from aerobee.ports.clock import Now
from aerobee.protocol.bodies.connections import version_number
from aerobee.protocol.bodies.heartbeat import ConsumerBeat, Heartbeat
from aerobee.protocol.bodies.subscription import make_subscription
from aerobee.protocol.grpc.codes import ClientType
from aerobee.protocol.grpc.resources import ClientSettings
from aerobee.protocol.remoting.command_header import LANGUAGES, OTHER_LANGUAGE
from aerobee.protocol.remoting.remoting_command import VERSION
from aerobee.service.proxy.call_checks import filter_in, group_in, topic_in
from aerobee.service.proxy.desk import Agent
from aerobee.service.proxy.grpc_clients import GrpcClient

CONSUMERS = {
    ClientType.PUSH_CONSUMER: ConsumeType.PASSIVELY,
    ClientType.SIMPLE_CONSUMER: ConsumeType.ACTIVELY,
}


def agent_of(client: GrpcClient) -> Agent:
    """The program of a client. A language without a name in remoting is OTHER, a version without a
    number there the server's own, as with RocketMQ's proxy."""
    named = client.language in LANGUAGES
    number = version_number(client.version)
    return Agent(
        client.language if named else LANGUAGES[OTHER_LANGUAGE],
        VERSION if number is None else number,
    )


def heartbeat_of(client: GrpcClient, now: Now) -> Heartbeat | None:
    """Its heartbeat; None: it neither produces nor consumes."""
    settings = client.settings
    beats: tuple[ConsumerBeat, ...] = ()
    if settings is not None and settings.subscription is not None:
        beats = (_consumer_beat(settings, now),)
    if not beats and not client.topics:
        return None
    return Heartbeat(client.id, tuple(sorted(client.topics)), beats)


def _consumer_beat(settings: ClientSettings, now: Now) -> ConsumerBeat:
    assert settings.subscription is not None
    subscriptions: list[Subscription] = []
    for entry in settings.subscription.subscriptions:
        wanted = filter_in(entry.expression)
        subscriptions.append(
            make_subscription(topic_in(entry.topic), wanted.expression, now.wall_ms, wanted.type)
        )
    return ConsumerBeat(
        group_in(settings.subscription.group),
        CONSUMERS[ClientType(settings.client_type or 0)],
        subscriptions=tuple(subscriptions),
    )
