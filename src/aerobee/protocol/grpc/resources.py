"""Messages of RocketMQ's `definition.proto`: resources, routes, messages, settings of clients.

A class has the protocol's name, unless another layer has a class of that name already.
"""

from dataclasses import dataclass

from aerobee.protocol.grpc.wire import (
    data,
    fraction,
    number,
    numbers,
    optional_number,
    optional_text,
    optional_truth,
    part,
    parts,
    text,
    text_map,
    texts,
    truth,
)


@dataclass(slots=True)
class Duration:
    seconds: int = number(1)
    nanos: int = number(2)

    @property
    def ms(self) -> int:
        return self.seconds * 1_000 + self.nanos // 1_000_000


@dataclass(slots=True)
class Timestamp:
    seconds: int = number(1)
    nanos: int = number(2)

    @property
    def ms(self) -> int:
        return self.seconds * 1_000 + self.nanos // 1_000_000


def duration_of(ms: int) -> Duration:
    return Duration(ms // 1_000, ms % 1_000 * 1_000_000)


def timestamp_of(ms: int) -> Timestamp:
    return Timestamp(ms // 1_000, ms % 1_000 * 1_000_000)


@dataclass(slots=True)
class Resource:
    resource_namespace: str = text(1)
    name: str = text(2)


@dataclass(slots=True)
class Status:
    code: int = number(1)
    message: str = text(2)


@dataclass(slots=True)
class FilterExpression:
    type: int = number(1)
    expression: str = text(2)


@dataclass(slots=True)
class SubscriptionEntry:
    topic: Resource | None = part(1, Resource)
    expression: FilterExpression | None = part(2, FilterExpression)


@dataclass(slots=True)
class Address:
    host: str = text(1)
    port: int = number(2)


@dataclass(slots=True)
class Endpoints:
    scheme: int = number(1)
    addresses: list[Address] = parts(2, Address)


@dataclass(slots=True)
class BrokerEntry:
    """`Broker` of the protocol."""

    name: str = text(1)
    id: int = number(2)
    endpoints: Endpoints | None = part(3, Endpoints)


@dataclass(slots=True)
class QueueEntry:
    """`MessageQueue` of the protocol."""

    topic: Resource | None = part(1, Resource)
    id: int = number(2)
    permission: int = number(3)
    broker: BrokerEntry | None = part(4, BrokerEntry)
    accept_message_types: list[int] = numbers(5)


@dataclass(slots=True)
class Assignment:
    message_queue: QueueEntry | None = part(1, QueueEntry)


@dataclass(slots=True)
class ExponentialBackoff:
    initial: Duration | None = part(1, Duration)
    max: Duration | None = part(2, Duration)
    multiplier: float = fraction(3)


@dataclass(slots=True)
class CustomizedBackoff:
    next: list[Duration] = parts(1, Duration)


@dataclass(slots=True)
class RetryPolicy:
    max_attempts: int = number(1)
    exponential_backoff: ExponentialBackoff | None = part(2, ExponentialBackoff)
    customized_backoff: CustomizedBackoff | None = part(3, CustomizedBackoff)


@dataclass(slots=True)
class Digest:
    type: int = number(1)
    checksum: str = text(2)


@dataclass(slots=True)
class DeadLetterQueue:
    topic: str = text(1)
    message_id: str = text(2)


@dataclass(slots=True)
class SystemProperties:
    tag: str | None = optional_text(1)
    keys: list[str] = texts(2)
    message_id: str = text(3)
    body_digest: Digest | None = part(4, Digest)
    body_encoding: int = number(5)
    message_type: int = number(6)
    born_timestamp: Timestamp | None = part(7, Timestamp)
    born_host: str = text(8)
    store_timestamp: Timestamp | None = part(9, Timestamp)
    store_host: str = text(10)
    delivery_timestamp: Timestamp | None = part(11, Timestamp)
    receipt_handle: str | None = optional_text(12)
    queue_id: int = number(13)
    queue_offset: int | None = optional_number(14)
    invisible_duration: Duration | None = part(15, Duration)
    delivery_attempt: int | None = optional_number(16)
    message_group: str | None = optional_text(17)
    trace_context: str | None = optional_text(18)
    orphaned_transaction_recovery_duration: Duration | None = part(19, Duration)
    dead_letter_queue: DeadLetterQueue | None = part(20, DeadLetterQueue)
    lite_topic: str | None = optional_text(21)
    priority: int | None = optional_number(22)


@dataclass(slots=True)
class GrpcMessage:
    """`Message` of the protocol."""

    topic: Resource | None = part(1, Resource)
    user_properties: dict[str, str] = text_map(2)
    system_properties: SystemProperties | None = part(3, SystemProperties)
    body: bytes = data(4)


@dataclass(slots=True)
class UserAgent:
    language: int = number(1)
    version: str = text(2)
    platform: str = text(3)
    hostname: str = text(4)


@dataclass(slots=True)
class Publishing:
    topics: list[Resource] = parts(1, Resource)
    max_body_size: int = number(2)
    validate_message_type: bool = truth(3)


@dataclass(slots=True)
class GrpcSubscription:
    """`Subscription` of the protocol."""

    group: Resource | None = part(1, Resource)
    subscriptions: list[SubscriptionEntry] = parts(2, SubscriptionEntry)
    fifo: bool | None = optional_truth(3)
    receive_batch_size: int | None = optional_number(4)
    long_polling_timeout: Duration | None = part(5, Duration)
    lite_subscription_quota: int | None = optional_number(6)
    max_lite_topic_size: int | None = optional_number(7)


@dataclass(slots=True)
class Metric:
    on: bool = truth(1)
    endpoints: Endpoints | None = part(2, Endpoints)


@dataclass(slots=True)
class ClientSettings:
    """`Settings` of the protocol."""

    client_type: int | None = optional_number(1)
    access_point: Endpoints | None = part(2, Endpoints)
    backoff_policy: RetryPolicy | None = part(3, RetryPolicy)
    request_timeout: Duration | None = part(4, Duration)
    publishing: Publishing | None = part(5, Publishing)
    subscription: GrpcSubscription | None = part(6, GrpcSubscription)
    user_agent: UserAgent | None = part(7, UserAgent)
    metric: Metric | None = part(8, Metric)
    client_properties: dict[str, str] = text_map(9)
