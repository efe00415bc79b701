"""A message queue ⇄ JSON, as a value and as the key of a map.

{"brokerName":"broker-a","queueId":0,"topic":"T"}

Maps of thousands of queues, which tools are told, have their own reader and writer (`parse_queues`,
`queue_prefix`): one that looked at each character would keep a broker, and who asks it, from all
else for a tenth of a second.
"""

import re
from json import loads

from aerobee.errors import RemoteProtocolError
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.model.names import DERIVED_TOPIC_CHARS_MAX
from aerobee.protocol.text.fields import INT32
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import (
    TEXT_BYTES_MAX,
    Key,
    ObjectKey,
    Parsed,
    Value,
    parse,
    quoted,
)

BROKER_CHARS_MAX = 255
# As RocketMQ and we write it: its members in this order, names without an escape.
_KEY = re.compile(
    r'\{"brokerName":"([^"\\]{0,255})","queueId":(-?[0-9]{1,10}),"topic":"([^"\\ ]{1,255})"\}:'
)
_KEY_TEXT = r'"\2 \3 \1":'
_TEXT_KEY = re.compile(r"(-?[0-9]{1,10}) ([^ ]{1,255}) (.{0,255})", re.ASCII)
_SURROGATE = "\\ud"


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


def parse_queues(text: bytes) -> Parsed:
    """`parse` for large maps by queue, of a server that is believed: eight times as fast, because
    only compiled code looks at each character. A key becomes a text that `by_queue` reads. Of two
    equal keys the last counts, numbers may be of any size."""
    try:
        decoded = text.decode() if len(text) <= TEXT_BYTES_MAX else ""
        if _SURROGATE not in decoded.lower():
            value: Parsed = loads(_KEY.sub(_KEY_TEXT, decoded))
            return value
    except (ValueError, RecursionError):
        pass
    return parse(text)


def queue_prefix(topic: str, broker_name: str) -> tuple[str, str]:
    """What stands before and after the number of a queue, where it is the key of a map."""
    return f'{{"brokerName":{quoted(broker_name)},"queueId":', f',"topic":{quoted(topic)}}}:'


def by_queue(members: Members) -> dict[MessageQueue, Parsed]:
    """All members, where the object is a map from queues to something."""
    found = {}
    for key, value in members.plain().items():
        found[_queue_of(key, members.what)] = value
    return found


def _queue_of(key: Key, what: str) -> MessageQueue:
    if isinstance(key, tuple):
        return queue_from(Members(dict(key), f"a queue of {what}"))
    found = _TEXT_KEY.fullmatch(key) if isinstance(key, str) else None
    number = int(found[1]) if found is not None else INT32[1] + 1
    if found is None or not INT32[0] <= number <= INT32[1]:
        raise RemoteProtocolError(f"{what} has a key that is no queue")
    return MessageQueue(found[2], found[3], QueueId(number))


def numbers_by_queue(members: Members) -> dict[MessageQueue, int]:
    """All members, where the object is a map from queues to offsets."""
    found = {}
    for queue, value in by_queue(members).items():
        if isinstance(value, bool) or not isinstance(value, int):
            raise RemoteProtocolError(f"{members.what} is no map from queues to offsets")
        found[queue] = value
    return found
