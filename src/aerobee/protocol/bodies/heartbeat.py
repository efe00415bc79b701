"""A client's heartbeat ⇄ JSON: its producer groups, its consumer groups, what they subscribe to.

    {"clientID":"10.0.0.5@4321#99","consumerDataSet":[{"consumeFromWhere":"CONSUME_FROM_LAST_OFFSET",
     "consumeType":"CONSUME_PASSIVELY","groupName":"g","messageModel":"CLUSTERING",
     "subscriptionDataSet":[…],"unitMode":false}],"heartbeatFingerprint":0,
     "producerDataSet":[{"groupName":"CLIENT_INNER_PRODUCER"}],"withoutSub":false}

Clients before 5.0 leave out the fingerprint and `withoutSub`; C++ writes enumerations as positions
and leaves out what is empty; Go says UNKNOWN where it knows no name. A name that nobody knows is
the first of its kind: a heartbeat is not refused over what is only shown.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TypeVar

from aerobee.errors import RemoteProtocolError
from aerobee.model.subscription import (
    ConsumeFrom,
    ConsumeType,
    MessageModel,
    Subscription,
)
from aerobee.protocol.bodies.subscription import subscription_from, subscription_json
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import Parsed, Value, parse, write_compact

HEARTBEAT_BYTES_MAX = 1024 * 1024
DIALECT_BYTES_MAX = 64 * 1024
CLIENT_ID_CHARS_MAX = 255
GROUP_CHARS_MAX = 255  # what 4.9 clients may have; which groups are let in is decided elsewhere
GROUPS_MAX = 1_000
SUBSCRIPTIONS_MAX = 1_000

E = TypeVar("E", bound=Enum)


@dataclass(frozen=True, slots=True)
class ConsumerBeat:
    """One consumer group in a heartbeat."""

    group: str
    consume_type: ConsumeType = ConsumeType.PASSIVELY
    message_model: MessageModel = MessageModel.CLUSTERING
    consume_from: ConsumeFrom = ConsumeFrom.LAST_OFFSET
    subscriptions: tuple[Subscription, ...] = ()
    is_unit: bool = False

    @property
    def is_clustering(self) -> bool:
        return self.message_model is MessageModel.CLUSTERING


@dataclass(frozen=True, slots=True)
class Heartbeat:
    client_id: str
    producers: tuple[str, ...] = ()
    consumers: tuple[ConsumerBeat, ...] = ()
    fingerprint: int = 0
    """A hash of what is said; 0 from clients that do not say one."""
    is_without_subscriptions: bool = False
    """They are left out because they are as they were when the fingerprint was last sent."""


def decode_heartbeat(body: bytes) -> Heartbeat:
    members = Members(
        parse(body, bytes_max=HEARTBEAT_BYTES_MAX, dialect_bytes_max=DIALECT_BYTES_MAX),
        "the heartbeat",
    )
    fingerprint = members.int32("heartbeatFingerprint", 0)
    return Heartbeat(
        _name(members, "clientID", CLIENT_ID_CHARS_MAX),
        producers=tuple(
            _name(producer, "groupName", GROUP_CHARS_MAX)
            for producer in _items(members, "producerDataSet", GROUPS_MAX)
        ),
        consumers=tuple(
            _consumer_from(consumer) for consumer in _items(members, "consumerDataSet", GROUPS_MAX)
        ),
        fingerprint=fingerprint,
        is_without_subscriptions=fingerprint != 0 and _is_true(members, "withoutSub"),
    )


def encode_heartbeat(heartbeat: Heartbeat) -> bytes:
    consumers: list[Value] = [
        {
            "consumeFromWhere": consumer.consume_from.value,
            "consumeType": consumer.consume_type.value,
            "groupName": consumer.group,
            "messageModel": consumer.message_model.value,
            "subscriptionDataSet": [subscription_json(one) for one in consumer.subscriptions],
            "unitMode": consumer.is_unit,
        }
        for consumer in heartbeat.consumers
    ]
    return write_compact(
        {
            "clientID": heartbeat.client_id,
            "consumerDataSet": consumers,
            "heartbeatFingerprint": heartbeat.fingerprint,
            "producerDataSet": [{"groupName": group} for group in heartbeat.producers],
            "withoutSub": heartbeat.is_without_subscriptions,
        }
    )


def _consumer_from(members: Members) -> ConsumerBeat:
    return ConsumerBeat(
        _name(members, "groupName", GROUP_CHARS_MAX),
        _member_of(ConsumeType, members, "consumeType", ConsumeType.PASSIVELY),
        _member_of(MessageModel, members, "messageModel", MessageModel.CLUSTERING),
        _member_of(ConsumeFrom, members, "consumeFromWhere", ConsumeFrom.LAST_OFFSET),
        tuple(
            subscription_from(one)
            for one in _items(members, "subscriptionDataSet", SUBSCRIPTIONS_MAX)
        ),
        _is_true(members, "unitMode"),
    )


def _items(members: Members, name: str, count_max: int) -> Iterator[Members]:
    items = members.array(name)
    if len(items) > count_max:
        raise RemoteProtocolError(
            f"{name} of {members.what} has {len(items)} items, at most {count_max} are read"
        )
    return (Members(item, f"an item of {name}") for item in items)


def _name(members: Members, name: str, chars_max: int) -> str:
    text = members.text(name)
    if not 0 < len(text) <= chars_max:
        raise RemoteProtocolError(
            f"{name} of {members.what} has {len(text)} characters, not from 1 to {chars_max}"
        )
    return text


def _member_of(kind: type[E], members: Members, name: str, otherwise: E) -> E:
    """One of an enumeration, by its name or by its position."""
    said: Parsed = members.plain().get(name)
    for position, member in enumerate(kind):
        if said == member.value or (said in (position, str(position)) and said is not True):
            return member
    return otherwise


def _is_true(members: Members, name: str) -> bool:
    return members.plain().get(name) in (True, "true")
