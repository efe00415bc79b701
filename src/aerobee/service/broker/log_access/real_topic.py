"""Where a message that waits in a topic of the broker's own belongs: REAL_TOPIC and REAL_QID.

Delay levels and the timer put it there when its time has come, with the properties text it has.
"""

from aerobee.errors import AerobeeError
from aerobee.model.names import SCHEDULE_TOPIC, TIMER_TOPIC, TRANSACTION_HALF_TOPIC
from aerobee.model.properties import REAL_QUEUE_ID, REAL_TOPIC, find_property

_REAL_TOPIC = REAL_TOPIC.encode()
_REAL_QUEUE_ID = REAL_QUEUE_ID.encode()
# Delivered there it would be taken for half a transaction, or come back for ever.
_NO_PLACE = (TRANSACTION_HALF_TOPIC.encode(), SCHEDULE_TOPIC.encode(), TIMER_TOPIC.encode())


class Undeliverable(AerobeeError):
    """The record does not say where its message belongs, or not so that it can go there."""


def real_place(text: bytes) -> tuple[bytes, int]:
    """Topic and queue that properties name. Undeliverable: they name none."""
    topic = find_property(text, _REAL_TOPIC)
    if topic is None or topic in _NO_PLACE:
        raise Undeliverable(f"its {REAL_TOPIC} is {topic!r:.300}")
    queue_text = find_property(text, _REAL_QUEUE_ID)
    if queue_text is None or not queue_text.isdigit() or len(queue_text) > 9:
        raise Undeliverable(f"its {REAL_QUEUE_ID} is {queue_text!r:.100}")
    return topic, int(queue_text)
