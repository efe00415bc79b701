"""The queue of a message group: the consistent hash that RocketMQ's proxy uses.

A group keeps its queue whichever of the two stores its messages, and most groups keep it when a
topic gets more queues.
"""

from aerobee.protocol.primitives.java_hash import tag_code

_MULTIPLIER = 2862933555777941757
_INT64 = 1 << 64


def queue_of_group(group: str, queues: int) -> int:
    """The queue, of so many, that messages of a group go to."""
    state = tag_code(group.encode()) % _INT64
    found, following = -1, 0
    while following < queues:
        found = following
        state = (_MULTIPLIER * state + 1) % _INT64
        share = ((state >> 33) + 1) / 2**31
        following = int((found + 1) / share)
    return found
