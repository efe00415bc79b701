"""Where a reader stands in each queue of its topics ⇄ the text that a checkpoint keeps.

    {"o":{"orders":{"broker-a":{"0":123,"1":88}}},"v":1}

An offset is the NEXT one to read. Keys are sorted and nothing is spaced: Spark compares offsets as
text, and the same places must be the same text. Whoever starts or ends a query by hand may leave
out the envelope, as Kafka's users do, and write -2 for the earliest and -1 for the latest.
"""

import json
from collections.abc import Iterator, Mapping

from aerobee.errors import Misuse
from aerobee.model.message_queue import MessageQueue, QueueId

EARLIEST = -2
LATEST = -1
VERSION = 1
_HINT = '{"topic":{"broker":{"0":123}}}: the next offset to read; -2 earliest, -1 latest'


Offsets = Mapping[MessageQueue, int]


def write_offsets(offsets: Offsets) -> str:
    """The text of a checkpoint."""
    return json.dumps({"o": as_dict(offsets), "v": VERSION}, sort_keys=True, separators=(",", ":"))


def as_dict(offsets: Offsets) -> dict[str, dict[str, dict[str, int]]]:
    """By topic, broker and queue: what Spark hands around as the offset of a stream."""
    nested: dict[str, dict[str, dict[str, int]]] = {}
    for key in sorted(offsets):
        brokers = nested.setdefault(key.topic, {})
        brokers.setdefault(key.broker_name, {})[str(key.queue_id)] = offsets[key]
    return nested


def read_offsets(text: str) -> dict[MessageQueue, int]:
    """What a checkpoint, or a person, wrote. Misuse says what is wrong with it."""
    try:
        parsed = json.loads(text)
    except ValueError as error:
        raise Misuse(f"offsets that are no JSON: {error}", hint=_HINT) from None
    if isinstance(parsed, dict) and parsed.keys() == {"o", "v"}:
        if parsed["v"] != VERSION:
            raise Misuse(
                f"a checkpoint of version {parsed['v']}; this is version {VERSION}",
                hint="use the version of aerobee that wrote it, or a new checkpoint folder",
            )
        parsed = parsed["o"]
    return from_dict(parsed)


def from_dict(nested: object) -> dict[MessageQueue, int]:
    """The other way of `as_dict`."""
    found = {}
    for topic, brokers in _members(nested, "offsets"):
        for broker_name, queues in _members(brokers, topic):
            for queue_id, offset in _members(queues, f"{topic}@{broker_name}"):
                if not queue_id.isascii() or not queue_id.isdigit():
                    raise Misuse(f"{queue_id!r} of {topic}@{broker_name} is no queue", hint=_HINT)
                if isinstance(offset, bool) or not isinstance(offset, int) or offset < EARLIEST:
                    raise Misuse(
                        f"{offset!r} is no offset of {topic}@{broker_name}:{queue_id}", hint=_HINT
                    )
                found[MessageQueue(topic, broker_name, QueueId(int(queue_id)))] = offset
    return found


def _members(value: object, what: str) -> Iterator[tuple[str, object]]:
    if not isinstance(value, dict):
        raise Misuse(f"{what} is {value!r}, not an object", hint=_HINT)
    yield from value.items()
