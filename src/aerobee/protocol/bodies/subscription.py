"""A subscription ⇄ JSON, as in heartbeats and in what administrators are shown.

    {"classFilterMode":false,"codeSet":[2598919],"expressionType":"TAG","subString":"TagA",
     "subVersion":1700000000000,"tagsSet":["TagA"],"topic":"T"}

C++ leaves out what is empty and the type, and writes the version as text. The hashes are never
read: Go writes them as text, C++ wrong; the expression says what they are.
"""

from typing import NamedTuple

from aerobee.errors import RemoteProtocolError
from aerobee.model.names import DERIVED_TOPIC_CHARS_MAX
from aerobee.model.subscription import BY_TAG, Subscription
from aerobee.protocol.message.tag_filter import ALL, find_expression_fault, tag_codes, tags_of
from aerobee.protocol.primitives.java_hash import tag_code
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import Value, parse, write_compact

CHECK_BYTES_MAX = 256 * 1024
GROUP_CHARS_MAX = 255


def make_subscription(
    topic: str, expression: str = ALL, version: int = 0, expression_type: str = BY_TAG
) -> Subscription:
    """A subscription with the tags and hashes that its expression says."""
    kind = expression_type or BY_TAG
    if kind != BY_TAG:
        return Subscription(topic, expression, None, version, kind)
    text = expression or ALL
    return Subscription(topic, text, tag_codes(text), version, BY_TAG, tags_of(text))


def subscription_json(subscription: Subscription) -> dict[str, Value]:
    return {
        "classFilterMode": False,
        "codeSet": [tag_code(tag.encode()) for tag in subscription.tags],
        "expressionType": subscription.expression_type,
        "subString": subscription.expression,
        "subVersion": subscription.version,
        "tagsSet": list(subscription.tags),
        "topic": subscription.topic,
    }


def subscription_from(members: Members) -> Subscription:
    topic = members.text("topic")
    if not 0 < len(topic) <= DERIVED_TOPIC_CHARS_MAX:
        raise RemoteProtocolError(f"topic of {members.what} has {len(topic)} characters")
    expression = members.text("subString", "")
    if not expression:
        expression = "||".join(map(str, members.array("tagsSet"))) or ALL
    fault = find_expression_fault(expression)
    if fault is not None:
        raise RemoteProtocolError(f"subString of {members.what} has {fault}")
    return make_subscription(
        topic,
        expression,
        members.int64("subVersion", 0),
        members.text("expressionType", BY_TAG),
    )


class SubscriptionCheck(NamedTuple):
    """The body of CHECK_CLIENT_CONFIG: whether a broker can filter by a subscription."""

    group: str
    subscription: Subscription


def encode_subscription_check(check: SubscriptionCheck, client_id: str) -> bytes:
    return write_compact(
        {
            "clientId": client_id,
            "group": check.group,
            "namespace": "",
            "subscriptionData": subscription_json(check.subscription),
        }
    )


def decode_subscription_check(body: bytes) -> SubscriptionCheck:
    """{"clientId":"c","group":"g","namespace":"","subscriptionData":{…}}"""
    members = Members(parse(body, bytes_max=CHECK_BYTES_MAX), "the request")
    return SubscriptionCheck(
        members.text("group", "")[:GROUP_CHARS_MAX],
        subscription_from(members.object("subscriptionData")),
    )
