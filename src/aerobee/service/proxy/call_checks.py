"""Checks of calls: names, filters and properties of messages, in the order of RocketMQ's proxy,
and the rights of callers.

Each raises CallRefused with the code that clients expect.

Imports more than 15 modules because whose a call is, and what is in it, are refused in one way.
"""

import re
from dataclasses import dataclass

from aerobee.errors import RemoteProtocolError
from aerobee.model.message_type import MessageType, find_type_fault
from aerobee.model.names import (
    SYSTEM_GROUP_PREFIX,
    SYSTEM_TOPIC_PREFIX,
    SYSTEM_TOPICS,
    find_group_fault,
    find_topic_fault,
)
from aerobee.model.properties import is_reserved
from aerobee.model.subscription import ALL, BY_SQL, BY_TAG
from aerobee.model.topic import TopicConfig
from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId
from aerobee.protocol.grpc.codes import GZIP, SQL_FILTER, GrpcCode, GrpcMessageType
from aerobee.protocol.grpc.message_mapping import plain_body
from aerobee.protocol.grpc.resources import (
    FilterExpression,
    GrpcMessage,
    Resource,
    SystemProperties,
)
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.access.gate import Gate
from aerobee.service.access.request_limits import RequestLimits
from aerobee.service.proxy.desk import Caller, Names
from aerobee.service.proxy.outcomes import CallRefused
from aerobee.service.request import Answer, InnerRequest

USER_PROPERTIES_MAX = 128
USER_PROPERTIES_BYTES_MAX = 16_384
MESSAGE_GROUP_BYTES_MAX = 64
DELAY_MS_MAX = 24 * 3_600_000
RECOVERY_SECONDS_MAX = 3_600

_NO_CHANNEL = ChannelId(0)
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")


def check_caller(
    gate: Gate, limits: RequestLimits, caller: Caller, code: RequestCode, now: Now
) -> None:
    """Check that a call is a user's. `code` is that of the request that it becomes."""
    if not gate.is_open:
        request = InnerRequest(_NO_CHANNEL, RemotingCommand(code), now, lambda answer: None)
        request.host = caller.host
        refusal = gate.refuse_stranger(request, caller.host, caller.signature, caller.connection)
        if refusal is not None:
            _raise(limits.refuse(request, is_send=False) or refusal)


def check_rights(gate: Gate, limits: RequestLimits, request: InnerRequest, caller: Caller) -> None:
    """Check that the user of a call may have a request served."""
    request.host = caller.host
    refusal = gate.refuse(request, caller.host, caller.signature)
    if refusal is not None:
        _raise(limits.refuse(request, is_send=False) or refusal)


def _raise(refusal: Answer) -> None:
    is_slowed = refusal.code is ResponseCode.FLOW_CONTROL
    code = GrpcCode.TOO_MANY_REQUESTS if is_slowed else GrpcCode.UNAUTHORIZED
    raise CallRefused(code, refusal.remark)


def topic_in(resource: Resource | None) -> str:
    """The name of a topic."""
    name = "" if resource is None else resource.name
    fault = find_topic_fault(name)
    if fault is not None:
        raise CallRefused(GrpcCode.ILLEGAL_TOPIC, fault)
    if name in SYSTEM_TOPICS or name.startswith(SYSTEM_TOPIC_PREFIX):
        raise CallRefused(GrpcCode.ILLEGAL_TOPIC, f"{name} is a system topic")
    return name


def group_in(resource: Resource | None) -> str:
    """The name of a consumer group."""
    name = "" if resource is None else resource.name
    fault = find_group_fault(name)
    if fault is None and name.startswith(SYSTEM_GROUP_PREFIX):
        fault = f"{name} is a system group"
    if fault is not None:
        raise CallRefused(GrpcCode.ILLEGAL_CONSUMER_GROUP, fault)
    return name


def names_of(topic: Resource | None, group: Resource | None = None) -> Names:
    """The names of a call that can be looked up: those that are sound."""
    topics = (topic.name,) if topic is not None and not find_topic_fault(topic.name) else ()
    groups = (group.name,) if group is not None and not find_group_fault(group.name) else ()
    return Names(topics, groups)


@dataclass(frozen=True, slots=True)
class MessageFilter:
    """A filter of messages, as pops and heartbeats name it."""

    type: str
    expression: str
    tags: frozenset[str] | None
    """The tags of messages that pass; None: the tag does not matter."""


def filter_in(wanted: FilterExpression | None) -> MessageFilter:
    text = "" if wanted is None else wanted.expression.strip()
    if wanted is not None and wanted.type == SQL_FILTER:
        if not text:
            raise CallRefused(GrpcCode.ILLEGAL_FILTER_EXPRESSION, "the SQL expression is empty")
        return MessageFilter(BY_SQL, text, None)
    if text in ("", ALL):
        return MessageFilter(BY_TAG, ALL, None)
    tags = frozenset(tag for tag in (part.strip() for part in text.split("||")) if tag)
    if not tags:
        raise CallRefused(
            GrpcCode.ILLEGAL_FILTER_EXPRESSION, f"the expression {text[:100]!r} has no tag"
        )
    return MessageFilter(BY_TAG, text, tags)


def unpack_body(message: GrpcMessage, bytes_max: int) -> None:
    """Check the body of a message, and replace a packed one by what is in it."""
    system = message.system_properties
    if system is not None and system.body_encoding == GZIP:
        try:
            message.body = plain_body(message.body, bytes_max)
        except RemoteProtocolError as error:
            raise CallRefused(GrpcCode.MESSAGE_CORRUPTED, error.message) from None
    if not message.body:
        raise CallRefused(GrpcCode.MESSAGE_BODY_EMPTY, "message body cannot be empty")
    if len(message.body) > bytes_max:
        raise CallRefused(
            GrpcCode.MESSAGE_BODY_TOO_LARGE,
            f"message body cannot exceed the max {bytes_max}: it has {len(message.body)} bytes",
        )


def check_message(message: GrpcMessage, wall_ms: int) -> None:
    """Check everything of a message but its topic and body."""
    system = message.system_properties or SystemProperties()
    _check_user_properties(message)
    _check_text(system.tag, GrpcCode.ILLEGAL_MESSAGE_TAG, "tag", forbidden="|")
    for key in system.keys:
        _check_text(key, GrpcCode.ILLEGAL_MESSAGE_KEY, "key")
    _check_size(message, system)
    if not system.message_id.strip():
        raise CallRefused(GrpcCode.ILLEGAL_MESSAGE_ID, "message id cannot be blank")
    if system.message_type == GrpcMessageType.TRANSACTION:
        recovery = system.orphaned_transaction_recovery_duration
        if recovery is not None and not 0 <= recovery.seconds <= RECOVERY_SECONDS_MAX:
            raise CallRefused(
                GrpcCode.BAD_REQUEST,
                f"maxTransactionRecoverySecond cannot exceed {RECOVERY_SECONDS_MAX}",
            )
    delivery = system.delivery_timestamp
    if delivery is not None and delivery.ms > wall_ms + DELAY_MS_MAX:
        raise CallRefused(
            GrpcCode.ILLEGAL_DELIVERY_TIME, f"the max delay time of message is {DELAY_MS_MAX} ms"
        )
    _check_text(system.message_group, GrpcCode.ILLEGAL_MESSAGE_GROUP, "message group")
    if system.message_group and len(system.message_group.encode()) >= MESSAGE_GROUP_BYTES_MAX:
        raise CallRefused(
            GrpcCode.ILLEGAL_MESSAGE_GROUP,
            f"message group exceed the max size {MESSAGE_GROUP_BYTES_MAX}",
        )
    if system.priority is not None and system.priority < 0:
        raise CallRefused(GrpcCode.BAD_REQUEST, "a priority is not below 0")


def _check_user_properties(message: GrpcMessage) -> None:
    if len(message.user_properties) > USER_PROPERTIES_MAX:
        raise CallRefused(
            GrpcCode.MESSAGE_PROPERTIES_TOO_LARGE,
            f"too many user properties, max is {USER_PROPERTIES_MAX}",
        )
    for key, value in message.user_properties.items():
        if not key or is_reserved(key):
            raise CallRefused(
                GrpcCode.ILLEGAL_MESSAGE_PROPERTY_KEY, f"property is used by system: {key}"
            )
        if _CONTROL.search(key) or _CONTROL.search(value):
            raise CallRefused(
                GrpcCode.ILLEGAL_MESSAGE_PROPERTY_KEY,
                f"the property {key[:100]!r} cannot contain a control character",
            )


def _check_text(text: str | None, code: GrpcCode, what: str, forbidden: str = "") -> None:
    if not text:
        return
    if not text.strip():
        raise CallRefused(code, f"the {what} cannot be only blanks")
    if _CONTROL.search(text) or (forbidden and forbidden in text):
        raise CallRefused(code, f"the {what} {text[:100]!r} has an illegal character")


def _check_size(message: GrpcMessage, system: SystemProperties) -> None:
    size = sum(
        len(key.encode()) + len(value.encode()) for key, value in message.user_properties.items()
    )
    size += len((system.tag or "").encode()) + sum(len(key.encode()) for key in system.keys)
    if size > USER_PROPERTIES_BYTES_MAX:
        raise CallRefused(
            GrpcCode.MESSAGE_PROPERTIES_TOO_LARGE,
            f"the total size of user property is too large, max is {USER_PROPERTIES_BYTES_MAX}",
        )


def check_type(topic: TopicConfig, actual: MessageType) -> None:
    """Check that a topic takes messages of a type: one without the attribute takes normal ones."""
    fault = find_type_fault(topic, actual, is_strict=True)
    if fault is not None:
        raise CallRefused(GrpcCode.MESSAGE_PROPERTY_CONFLICT_WITH_TYPE, fault)
