"""Messages of RocketMQ's `service.proto`: requests and responses of the messaging service.

Numbers and types are the protocol's; a field that no method here reads is declared all the same.
"""

from dataclasses import dataclass

from aerobee.protocol.grpc.resources import (
    Assignment,
    ClientSettings,
    Duration,
    Endpoints,
    FilterExpression,
    GrpcMessage,
    QueueEntry,
    Resource,
    Status,
    Timestamp,
)
from aerobee.protocol.grpc.wire import (
    number,
    optional_text,
    optional_truth,
    part,
    parts,
    text,
    truth,
)

SERVICE = "/apache.rocketmq.v2.MessagingService/"
"""The start of the path of every method."""


@dataclass(slots=True)
class StatusResponse:
    """The response of methods that answer a status alone."""

    status: Status | None = part(1, Status)


@dataclass(slots=True)
class QueryRouteRequest:
    topic: Resource | None = part(1, Resource)
    endpoints: Endpoints | None = part(2, Endpoints)


@dataclass(slots=True)
class QueryRouteResponse:
    status: Status | None = part(1, Status)
    message_queues: list[QueueEntry] = parts(2, QueueEntry)


@dataclass(slots=True)
class SendMessageRequest:
    messages: list[GrpcMessage] = parts(1, GrpcMessage)


@dataclass(slots=True)
class SendResultEntry:
    status: Status | None = part(1, Status)
    message_id: str = text(2)
    transaction_id: str = text(3)
    offset: int = number(4)
    recall_handle: str = text(5)


@dataclass(slots=True)
class SendMessageResponse:
    status: Status | None = part(1, Status)
    entries: list[SendResultEntry] = parts(2, SendResultEntry)


@dataclass(slots=True)
class QueryAssignmentRequest:
    topic: Resource | None = part(1, Resource)
    group: Resource | None = part(2, Resource)
    endpoints: Endpoints | None = part(3, Endpoints)


@dataclass(slots=True)
class QueryAssignmentResponse:
    status: Status | None = part(1, Status)
    assignments: list[Assignment] = parts(2, Assignment)


@dataclass(slots=True)
class ReceiveMessageRequest:
    group: Resource | None = part(1, Resource)
    message_queue: QueueEntry | None = part(2, QueueEntry)
    filter_expression: FilterExpression | None = part(3, FilterExpression)
    batch_size: int = number(4)
    invisible_duration: Duration | None = part(5, Duration)
    auto_renew: bool = truth(6)
    long_polling_timeout: Duration | None = part(7, Duration)
    attempt_id: str | None = optional_text(8)


@dataclass(slots=True)
class ReceiveMessageResponse:
    """One of the three."""

    status: Status | None = part(1, Status)
    message: GrpcMessage | None = part(2, GrpcMessage)
    delivery_timestamp: Timestamp | None = part(3, Timestamp)


@dataclass(slots=True)
class AckMessageEntry:
    message_id: str = text(1)
    receipt_handle: str = text(2)
    lite_topic: str | None = optional_text(3)


@dataclass(slots=True)
class AckMessageRequest:
    group: Resource | None = part(1, Resource)
    topic: Resource | None = part(2, Resource)
    entries: list[AckMessageEntry] = parts(3, AckMessageEntry)


@dataclass(slots=True)
class AckMessageResultEntry:
    message_id: str = text(1)
    receipt_handle: str = text(2)
    status: Status | None = part(3, Status)


@dataclass(slots=True)
class AckMessageResponse:
    status: Status | None = part(1, Status)
    entries: list[AckMessageResultEntry] = parts(2, AckMessageResultEntry)


@dataclass(slots=True)
class ForwardToDeadLettersRequest:
    """`ForwardMessageToDeadLetterQueueRequest` of the protocol."""

    group: Resource | None = part(1, Resource)
    topic: Resource | None = part(2, Resource)
    receipt_handle: str = text(3)
    message_id: str = text(4)
    delivery_attempt: int = number(5)
    max_delivery_attempts: int = number(6)
    lite_topic: str | None = optional_text(7)


@dataclass(slots=True)
class HeartbeatRequest:
    group: Resource | None = part(1, Resource)
    client_type: int = number(2)


@dataclass(slots=True)
class EndTransactionRequest:
    topic: Resource | None = part(1, Resource)
    message_id: str = text(2)
    transaction_id: str = text(3)
    resolution: int = number(4)
    source: int = number(5)
    trace_context: str = text(6)


@dataclass(slots=True)
class ThreadStackTrace:
    nonce: str = text(1)
    thread_stack_trace: str | None = optional_text(2)


@dataclass(slots=True)
class VerifyMessageResult:
    nonce: str = text(1)


@dataclass(slots=True)
class RecoverOrphanedTransactionCommand:
    message: GrpcMessage | None = part(1, GrpcMessage)
    transaction_id: str = text(2)


@dataclass(slots=True)
class PrintThreadStackTraceCommand:
    nonce: str = text(1)


@dataclass(slots=True)
class VerifyMessageCommand:
    nonce: str = text(1)
    message: GrpcMessage | None = part(2, GrpcMessage)


@dataclass(slots=True)
class TelemetryCommand:
    """A status, and one command or none."""

    status: Status | None = part(1, Status)
    settings: ClientSettings | None = part(2, ClientSettings)
    thread_stack_trace: ThreadStackTrace | None = part(3, ThreadStackTrace)
    verify_message_result: VerifyMessageResult | None = part(4, VerifyMessageResult)
    recover_orphaned_transaction_command: RecoverOrphanedTransactionCommand | None = part(
        5, RecoverOrphanedTransactionCommand
    )
    print_thread_stack_trace_command: PrintThreadStackTraceCommand | None = part(
        6, PrintThreadStackTraceCommand
    )
    verify_message_command: VerifyMessageCommand | None = part(7, VerifyMessageCommand)


@dataclass(slots=True)
class NotifyClientTerminationRequest:
    group: Resource | None = part(1, Resource)


@dataclass(slots=True)
class ChangeInvisibleDurationRequest:
    group: Resource | None = part(1, Resource)
    topic: Resource | None = part(2, Resource)
    receipt_handle: str = text(3)
    invisible_duration: Duration | None = part(4, Duration)
    message_id: str = text(5)
    lite_topic: str | None = optional_text(6)
    suspend: bool | None = optional_truth(7)


@dataclass(slots=True)
class ChangeInvisibleDurationResponse:
    status: Status | None = part(1, Status)
    receipt_handle: str = text(2)


@dataclass(slots=True)
class RecallMessageRequest:
    topic: Resource | None = part(1, Resource)
    recall_handle: str = text(2)


@dataclass(slots=True)
class RecallMessageResponse:
    status: Status | None = part(1, Status)
    message_id: str = text(2)
