"""A message queue ⇄ JSON, as a value and as the key of a map.

{"brokerName":"broker-a","queueId":0,"topic":"T"}
"""

from aerobee.errors import RemoteProtocolError
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.model.names import DERIVED_TOPIC_CHARS_MAX
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import ObjectKey, Parsed, Value

BROKER_CHARS_MAX = 255


def queue_json(queue: MessageQueue) -> dict[str, Value]:
    return {
        "brokerName": queue.broker_name,
        "queueId": queue.queue_id,
        "topic": queue.topic,
    }


def queue_key(queue: MessageQueue) -> ObjectKey:
    return (
        ("brokerName", queue.broker_name),
        ("queueId", queue.queue_id),
        ("topic", queue.topic),
    )


def queue_from(members: Members) -> MessageQueue:
    topic, broker = members.text("topic"), members.text("brokerName", "")
    if not 0 < len(topic) <= DERIVED_TOPIC_CHARS_MAX or len(broker) > BROKER_CHARS_MAX:
        raise RemoteProtocolError(f"{members.what} has a name of a length that no name has")
    return MessageQueue(topic, broker, QueueId(members.int32("queueId")))


def by_queue(members: Members) -> dict[MessageQueue, Parsed]:
    """All members, where the object is a map from queues to something."""
    found = {}
    for key, value in members.plain().items():
        if not isinstance(key, tuple):
            raise RemoteProtocolError(f"{members.what} has a key that is no queue")
        found[queue_from(Members(dict(key), f"a queue of {members.what}"))] = value
    return found


def numbers_by_queue(members: Members) -> dict[MessageQueue, int]:
    """All members, where the object is a map from queues to offsets."""
    found = {}
    for queue, value in by_queue(members).items():
        if isinstance(value, bool) or not isinstance(value, int):
            raise RemoteProtocolError(f"{members.what} is no map from queues to offsets")
        found[queue] = value
    return found
