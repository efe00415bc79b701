"""Reads REAL_TOPIC and REAL_QID, the destination of a message that waits in a system topic.

Delay levels and the timer deliver it there when it is due, with the properties text that it has.
"""

from aerobee.errors import AerobeeError
from aerobee.model.names import SCHEDULE_TOPIC, TIMER_TOPIC, TRANSACTION_HALF_TOPIC
from aerobee.model.properties import REAL_QUEUE_ID, REAL_TOPIC, find_property

_REAL_TOPIC = REAL_TOPIC.encode()
_REAL_QUEUE_ID = REAL_QUEUE_ID.encode()
# A message delivered there would be taken for a half message, or be delivered again for ever.
_NO_PLACE = (TRANSACTION_HALF_TOPIC.encode(), SCHEDULE_TOPIC.encode(), TIMER_TOPIC.encode())


class Undeliverable(AerobeeError):
    """The record has no valid REAL_TOPIC and REAL_QID."""


def real_place(text: bytes) -> tuple[bytes, int]:
    """Topic and queue that properties name. Undeliverable: they name none."""
    topic = find_property(text, _REAL_TOPIC)
    if topic is None or topic in _NO_PLACE:
        raise Undeliverable(f"its {REAL_TOPIC} is {topic!r:.300}")
    queue_text = find_property(text, _REAL_QUEUE_ID)
    if queue_text is None or not queue_text.isdigit() or len(queue_text) > 9:
        raise Undeliverable(f"its {REAL_QUEUE_ID} is {queue_text!r:.100}")
    return topic, int(queue_text)
