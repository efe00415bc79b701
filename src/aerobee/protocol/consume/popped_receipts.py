"""Receipts of a pop answer: the offsets that it names, matched to its messages one by one.

A message from a retry topic has its receipt as a property. The others are counted: the n-th message
of a queue in the answer has the n-th offset that the answer names for that queue. Agrees with
Java's ExtraInfoUtil; the texts are drawn in `pop_receipt`.
"""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from aerobee.errors import RemoteProtocolError
from aerobee.model.names import is_retry_topic
from aerobee.protocol.consume.pop_receipt import (
    FROM_RETRY,
    FROM_RETRY_V2,
    FROM_TOPIC,
    PopReceipt,
    decode_pop_receipt,
)

Places = dict[tuple[str, int], list[int]]
"""Offsets by origin and queue."""


class PoppedMessage(NamedTuple):
    """The place of a message of an answer, as its record has it."""

    topic: str
    queue_id: int
    offset: int
    receipt: str
    """Its property POP_CK; empty: it has none."""


class PopTerms(NamedTuple):
    """The parts of an answer's header that its receipts have in common."""

    pop_time: int
    invisible_ms: int
    revive_queue: int
    start_offset_info: str
    msg_offset_info: str


def receipts_of(
    terms: PopTerms, broker_name: str, messages: Iterable[PoppedMessage]
) -> list[PopReceipt]:
    """A receipt for each message. RemoteProtocolError: the answer has no offset for one."""
    starts, offsets = read_places(terms.start_offset_info), read_places(terms.msg_offset_info)
    seen: Counter[tuple[str, int]] = Counter()
    found = []
    for message in messages:
        if message.receipt:
            found.append(decode_pop_receipt(message.receipt))
            continue
        place = (origin_of(message.topic), message.queue_id)
        number = seen[place]
        seen[place] += 1
        named = offsets.get(place, [])
        if named and number >= len(named):
            raise RemoteProtocolError(
                f"an answer names {len(named)} messages of {message.topic}@{message.queue_id}"
            )
        offset = named[number] if named else message.offset
        found.append(
            PopReceipt(
                (starts.get(place) or named or [offset])[0],
                terms.pop_time,
                terms.invisible_ms,
                terms.revive_queue,
                place[0],
                broker_name,
                message.queue_id,
                offset,
            )
        )
    return found


def read_places(text: str) -> Places:
    """The offsets of a text `origin queue offset,offset;…`, by origin and queue."""
    places: Places = {}
    for part in text.split(";") if text else ():
        words = part.split(" ")
        try:
            origin, queue, offsets = words
            places[origin, int(queue)] = [int(offset) for offset in offsets.split(",")]
        except ValueError:
            raise RemoteProtocolError(f"no places of messages: {part[:100]!r}") from None
    return places


def read_counts(text: str) -> dict[tuple[str, int, int], int]:
    """The delivery counts of a text `origin qo<queue>%<offset> count;…`, by origin, queue and
    offset; the least of each queue is left out."""
    counts = {}
    for part in text.split(";") if text else ():
        words = part.split(" ")
        try:
            origin, place, count = words
            if place.startswith("qo"):
                queue, _, offset = place[2:].partition("%")
                counts[origin, int(queue), int(offset)] = int(count)
        except ValueError:
            raise RemoteProtocolError(f"no counts of messages: {part[:100]!r}") from None
    return counts


def origin_of(topic: str) -> str:
    """The origin that receipts of messages of a topic name."""
    if not is_retry_topic(topic):
        return FROM_TOPIC
    return FROM_RETRY_V2 if "+" in topic else FROM_RETRY
