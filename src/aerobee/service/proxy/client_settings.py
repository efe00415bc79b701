"""Settings that the service gives to clients: what they announced, completed by what is decided
here. And what a client is to the broker by its settings: its heartbeat, its program.

Clients refuse to start, or never consume, without a back-off policy, a maximal body and the limits
of a receive: the answer is always complete.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from aerobee.model.group import RETRIES_MAX, GroupConfig
from aerobee.model.subscription import ConsumeType, Subscription
from aerobee.ports.clock import Now
from aerobee.protocol.bodies.connections import version_number
from aerobee.protocol.bodies.heartbeat import ConsumerBeat, Heartbeat
from aerobee.protocol.bodies.subscription import make_subscription
from aerobee.protocol.grpc.codes import ClientType
from aerobee.protocol.grpc.resources import (
    ClientSettings,
    CustomizedBackoff,
    ExponentialBackoff,
    GrpcSubscription,
    Metric,
    Publishing,
    RetryPolicy,
    duration_of,
)
from aerobee.protocol.remoting.command_header import LANGUAGES, OTHER_LANGUAGE
from aerobee.protocol.remoting.remoting_command import VERSION
from aerobee.service.proxy.call_checks import filter_in, group_in, topic_in
from aerobee.service.proxy.desk import Agent
from aerobee.service.proxy.grpc_clients import GrpcClient

CONSUMERS = {
    ClientType.PUSH_CONSUMER: ConsumeType.PASSIVELY,
    ClientType.SIMPLE_CONSUMER: ConsumeType.ACTIVELY,
}
PRODUCER_ATTEMPTS = 3
RECEIVE_BATCH_MAX = 32
POLL_MS_MAX = 20_000
REQUEST_TIMEOUT_MS = 3_000

_MINUTE_MS = 60_000
_CUSTOMIZED_MS = (
    *(1_000, 5_000, 10_000, 30_000),
    *(minutes * _MINUTE_MS for minutes in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 30, 60, 120)),
)
_EXPONENTIAL = {"initial": 5_000, "max": 120 * _MINUTE_MS, "multiplier": 2}


def attempts_max(group: GroupConfig | None) -> int:
    """How often a message is handed out to a group."""
    return 1 + (RETRIES_MAX if group is None else group.retries_max)


def producer_settings(said: ClientSettings, body_bytes_max: int) -> ClientSettings:
    topics = said.publishing.topics if said.publishing is not None else []
    backoff = ExponentialBackoff(duration_of(10), duration_of(1_000), 2.0)
    return ClientSettings(
        client_type=ClientType.PRODUCER,
        access_point=said.access_point,
        backoff_policy=RetryPolicy(PRODUCER_ATTEMPTS, exponential_backoff=backoff),
        request_timeout=said.request_timeout or duration_of(REQUEST_TIMEOUT_MS),
        publishing=Publishing(topics, body_bytes_max, True),
        user_agent=said.user_agent,
        metric=Metric(False),
    )


def consumer_settings(said: ClientSettings, group: GroupConfig | None) -> ClientSettings:
    subscription = said.subscription or GrpcSubscription()
    policy = group.retry_policy if group is not None else {}
    return ClientSettings(
        client_type=said.client_type,
        access_point=said.access_point,
        backoff_policy=_retry_policy(policy, attempts_max(group)),
        request_timeout=said.request_timeout or duration_of(REQUEST_TIMEOUT_MS),
        subscription=GrpcSubscription(
            group=subscription.group,
            subscriptions=subscription.subscriptions,
            fifo=group.is_orderly if group is not None else False,
            receive_batch_size=RECEIVE_BATCH_MAX,
            long_polling_timeout=duration_of(POLL_MS_MAX),
        ),
        user_agent=said.user_agent,
        metric=Metric(False),
    )


def retry_delay_ms(group: GroupConfig | None, failures: int) -> int:
    """The time after which a message comes again that has failed so often before, by the policy of
    its group, as RocketMQ's proxy reads it."""
    backoff = _retry_policy(group.retry_policy if group is not None else {}, 0)
    if backoff.customized_backoff is not None:
        steps = backoff.customized_backoff.next
        return steps[min(failures + 2, len(steps) - 1)].ms
    told = backoff.exponential_backoff
    assert told is not None
    assert told.initial is not None
    assert told.max is not None
    return int(min(told.max.ms, told.initial.ms * told.multiplier ** min(failures, 32)))


def _retry_policy(policy: Mapping[str, Any], attempts: int) -> RetryPolicy:
    if policy.get("type") == "EXPONENTIAL":
        told = {**_EXPONENTIAL, **_numbers(policy.get("exponentialRetryPolicy"))}
        backoff = ExponentialBackoff(
            duration_of(int(told["initial"])),
            duration_of(int(told["max"])),
            float(told["multiplier"]),
        )
        return RetryPolicy(attempts, exponential_backoff=backoff)
    customized = policy.get("customizedRetryPolicy")
    told_ms = customized.get("next") if isinstance(customized, Mapping) else None
    backoffs = [duration_of(ms) for ms in _whole_numbers(told_ms) or _CUSTOMIZED_MS]
    return RetryPolicy(attempts, customized_backoff=CustomizedBackoff(backoffs))


def _numbers(said: object) -> dict[str, float]:
    if not isinstance(said, Mapping):
        return {}
    return {
        key: value
        for key, value in said.items()
        if key in _EXPONENTIAL and isinstance(value, int | float) and value > 0
    }


def _whole_numbers(said: object) -> list[int]:
    """The numbers of a list; none if it is no list of whole numbers."""
    if not isinstance(said, Sequence):
        return []
    found = [one for one in said if isinstance(one, int) and one >= 0]
    return found if len(found) == len(said) else []


# What a client is to the broker.


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
