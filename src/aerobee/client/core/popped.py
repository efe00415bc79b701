"""The receipts of popped messages, from what an answer says of where they lie.

A message that comes from a retry topic brings its receipt as a property. The others are counted:
the n-th message of a queue in the answer has the n-th offset that the answer names for that queue.
Agrees with Java's ExtraInfoUtil; the texts are drawn in `protocol.pop_receipt`.
"""

from collections import Counter
from collections.abc import Iterable

from aerobee.errors import RemoteProtocolError
from aerobee.model.names import is_retry_topic
from aerobee.protocol.headers.popping import PopAnswerHeader
from aerobee.protocol.pop_receipt import (
    FROM_RETRY,
    FROM_RETRY_V2,
    FROM_TOPIC,
    PopReceipt,
    decode_pop_receipt,
)
from aerobee.protocol.received import ReceivedMessage

Places = dict[tuple[str, int], list[int]]
"""Offsets by origin and queue."""


def receipts_of(
    answer: PopAnswerHeader, broker_name: str, messages: Iterable[ReceivedMessage]
) -> list[PopReceipt]:
    """One for each message. RemoteProtocolError: the answer does not say where one lies."""
    starts, offsets = read_places(answer.start_offset_info), read_places(answer.msg_offset_info)
    seen: Counter[tuple[str, int]] = Counter()
    found = []
    for message in messages:
        if message.receipt:
            found.append(decode_pop_receipt(message.receipt))
            continue
        place = (_origin(message.queue.topic), message.queue.queue_id)
        number = seen[place]
        seen[place] += 1
        named = offsets.get(place, [])
        if named and number >= len(named):
            raise RemoteProtocolError(f"an answer names {len(named)} messages of {message.queue}")
        offset = named[number] if named else message.offset
        found.append(
            PopReceipt(
                (starts.get(place) or named or [offset])[0],
                answer.pop_time,
                answer.invisible_time,
                answer.revive_qid,
                place[0],
                broker_name,
                message.queue.queue_id,
                offset,
            )
        )
    return found


def read_places(text: str) -> Places:
    """`origin queue offset,offset;…` by origin and queue."""
    places: Places = {}
    for part in text.split(";") if text else ():
        words = part.split(" ")
        try:
            origin, queue, offsets = words
            places[origin, int(queue)] = [int(offset) for offset in offsets.split(",")]
        except ValueError:
            raise RemoteProtocolError(f"no places of messages: {part[:100]!r}") from None
    return places


def _origin(topic: str) -> str:
    if not is_retry_topic(topic):
        return FROM_TOPIC
    return FROM_RETRY_V2 if "+" in topic else FROM_RETRY
