"""Offsets of a stream: the next offset of each queue ⇄ the text that a checkpoint keeps.

    {"o":{"orders":{"broker-a":{"0":123,"1":88}}},"p":8,"v":1}

An offset is the NEXT one to read. `p` is the maximal number of partitions of the batch that ends
here: a batch that is repeated is cut as before, on any machine. Queues are always in the same
order: Spark compares offsets as text, so equal offsets must be equal text. In options, people may
leave out the envelope, as Kafka's users do, and write -2 for the earliest and -1 for the latest.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, TypeGuard

from aerobee.errors import Misuse
from aerobee.model.message_queue import MessageQueue, QueueId

EARLIEST = -2
LATEST = -1
VERSION = 1
_HINT = '{"topic":{"broker":{"0":123}}}: the next offset to read; -2 earliest, -1 latest'


Offsets = Mapping[MessageQueue, int]


def as_dict(offsets: Offsets, pieces: int = 0) -> dict[str, Any]:
    """Return the offsets as a dict, which Spark stores as JSON: always in the order of queues."""
    nested: dict[str, dict[str, dict[str, int]]] = {}
    for queue in sorted(offsets):
        brokers = nested.setdefault(queue.topic, {})
        brokers.setdefault(queue.broker_name, {})[str(queue.queue_id)] = offsets[queue]
    return {"o": nested, **({"p": pieces} if pieces else {}), "v": VERSION}


def read_offsets(text: str) -> dict[MessageQueue, int]:
    """Parse offsets that a person wrote. Misuse."""
    try:
        parsed = json.loads(text)
    except ValueError as error:
        raise Misuse(f"offsets that are no JSON: {error}", hint=_HINT) from None
    return from_dict(parsed)


def from_dict(told: object) -> dict[MessageQueue, int]:
    """Read the dict that `as_dict` makes; the envelope may be left out."""
    if is_enveloped(told):
        if told["v"] != VERSION:
            raise Misuse(
                f"a checkpoint of version {told['v']}; this is version {VERSION}",
                hint="use the version of aerobee that wrote it, or a new checkpoint folder",
            )
        told = told["o"]
    found = {}
    for topic, brokers in _members(told, "offsets"):
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


def is_enveloped(told: object) -> TypeGuard[dict[str, Any]]:
    """Whether this has the form that `as_dict` makes."""
    return isinstance(told, dict) and told.keys() - {"p"} == {"o", "v"}


def pieces_in(told: Mapping[str, Any]) -> int:
    """Return the maximal number of partitions of the batch that ends here; 0: not given."""
    pieces = told.get("p")
    return pieces if type(pieces) is int and pieces > 0 else 0


def _members(value: object, what: str) -> Iterator[tuple[str, object]]:
    if not isinstance(value, dict):
        raise Misuse(f"{what} is {value!r}, not an object", hint=_HINT)
    yield from value.items()
