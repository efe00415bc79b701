"""Reads REAL_TOPIC and REAL_QID: the topic and queue of a message that waits in a topic of the
broker's own (a delay level, the timer, half a transaction, a staged batch).

`real_place` reads the properties text of a record, `find_real_place` decoded properties; both
accept the same places. The compiled readers, `WaitingProperties` and `FastEndTransaction`, take no
place that these refuse.
"""

from collections.abc import Mapping
from typing import NamedTuple

from aerobee.errors import AerobeeError
from aerobee.model.names import SCHEDULE_TOPIC, TIMER_TOPIC, TRANSACTION_HALF_TOPIC
from aerobee.model.properties import REAL_QUEUE_ID, REAL_TOPIC, find_property

_REAL_TOPIC = REAL_TOPIC.encode()
_REAL_QUEUE_ID = REAL_QUEUE_ID.encode()
_QUEUE_DIGITS_MAX = 9  # always fits into 32 bits; the store refuses far smaller ids
WAITING_TOPICS = frozenset({TRANSACTION_HALF_TOPIC, SCHEDULE_TOPIC, TIMER_TOPIC})
"""Topics of the broker's own whose messages are delivered elsewhere, one by one."""
NO_PLACE = frozenset(topic.encode() for topic in WAITING_TOPICS)
"""Delivered there a message would be taken for half a transaction, or come back for ever."""


class Undeliverable(AerobeeError):
    """The record has no valid REAL_TOPIC and REAL_QID."""


class RealPlace(NamedTuple):
    """The topic and queue that a waiting message is for."""

    topic: str
    queue_id: int


def real_place(text: bytes) -> tuple[bytes, int]:
    """Topic and queue that properties text names. Undeliverable: it names none."""
    topic = find_property(text, _REAL_TOPIC)
    if topic is None or topic in NO_PLACE:
        raise Undeliverable(f"its {REAL_TOPIC} is {topic!r:.300}")
    queue_text = find_property(text, _REAL_QUEUE_ID)
    if queue_text is None or not _is_queue_id(queue_text):
        raise Undeliverable(f"its {REAL_QUEUE_ID} is {queue_text!r:.100}")
    return topic, int(queue_text)


def find_real_place(properties: Mapping[str, str]) -> RealPlace | None:
    """Topic and queue that decoded properties name; None: they name none."""
    topic = properties.get(REAL_TOPIC, "")
    queue_text = properties.get(REAL_QUEUE_ID, "")
    if not topic or topic in WAITING_TOPICS or not _is_queue_id(queue_text):
        return None
    return RealPlace(topic, int(queue_text))


def _is_queue_id(text: str | bytes) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _QUEUE_DIGITS_MAX
