"""Offsets of groups in answers to administrators ⇄ JSON.

{"offsetTable":{{"brokerName":"b","queueId":0,"topic":"T"}:123}}              where a reset goes
{"consumerTable":{"client":{{…}:123}},"messageQueueTable":{}}                 what clients hold
{"messageQueueTable":{{…}:123}}                                               one client's answer
{"correctionOffsets":{0:123}}
{"groupList":["g"]}
{"group":"g","subscriptionData":{…},"topic":"T"}
"""

from collections.abc import Iterable, Mapping

from aerobee.model.message_queue import MessageQueue
from aerobee.model.subscription import Subscription
from aerobee.protocol.bodies.message_queue import numbers_by_queue, queue_from, queue_key
from aerobee.protocol.bodies.subscription import subscription_from, subscription_json
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import ObjectKey, Value, parse, write_compact

STATUS_BYTES_MAX = 1024 * 1024


def encode_reset_offsets(offsets: Mapping[MessageQueue, int]) -> bytes:
    return write_compact({"offsetTable": _by_queue(offsets)})


def encode_consumer_status(clients: Mapping[str, Mapping[MessageQueue, int]]) -> bytes:
    table: dict[str, Value] = {
        client_id: _by_queue(offsets) for client_id, offsets in clients.items()
    }
    return write_compact({"consumerTable": table, "messageQueueTable": {}})


def decode_reset_offsets(body: bytes) -> dict[MessageQueue, int]:
    """Also what C++ is sent, and what Java's consumers keep in files: a list, or a map by queue."""
    members = Members(parse(body, bytes_max=STATUS_BYTES_MAX), "the offsets")
    table = members.plain().get("offsetTable")
    if isinstance(table, list):
        items = [Members(one, "an item of offsetTable") for one in table]
        return {queue_from(one): one.int64("offset") for one in items}
    return numbers_by_queue(members.object("offsetTable"))


def decode_consumer_status(body: bytes) -> dict[str, dict[MessageQueue, int]]:
    """By client id, where each client is."""
    table = Members(parse(body), "the answer").object("consumerTable")
    return {client_id: numbers_by_queue(offsets) for client_id, offsets in table.objects()}


def decode_client_status(body: bytes) -> dict[MessageQueue, int]:
    """The offsets in the answer of one client."""
    members = Members(parse(body, bytes_max=STATUS_BYTES_MAX), "the client's status")
    return numbers_by_queue(members.object("messageQueueTable"))


def encode_client_status(offsets: Mapping[MessageQueue, int]) -> bytes:
    return write_compact({"messageQueueTable": _by_queue(offsets)})


def encode_correction(offsets: Mapping[int, int]) -> bytes:
    return write_compact({"correctionOffsets": dict(offsets)})


def decode_correction(body: bytes) -> dict[int, int]:
    return Members(parse(body), "the answer").object("correctionOffsets").numbers_by_number()


def encode_group_list(groups: Iterable[str]) -> bytes:
    return write_compact({"groupList": list(groups)})


def decode_group_list(body: bytes) -> list[str]:
    return [str(name) for name in Members(parse(body), "the list").array("groupList")]


def encode_group_subscription(group: str, topic: str, subscription: Subscription | None) -> bytes:
    body: dict[str, Value] = {"group": group}
    if subscription is not None:
        body["subscriptionData"] = subscription_json(subscription)
    return write_compact({**body, "topic": topic})


def decode_group_subscription(body: bytes) -> Subscription | None:
    """None: the group is not online, or does not subscribe to the topic."""
    members = Members(parse(body), "the answer")
    if not members.has("subscriptionData"):
        return None
    return subscription_from(members.object("subscriptionData"))


def _by_queue(offsets: Mapping[MessageQueue, int]) -> dict[ObjectKey, Value]:
    return {queue_key(queue): offset for queue, offset in offsets.items()}
