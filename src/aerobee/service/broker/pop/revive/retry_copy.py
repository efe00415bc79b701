"""Builds the copy of a popped message that was not acknowledged in time, and chooses its topic.

    tried less often than its group allows    %RETRY%group_topic, queue 0
    tried as often                            %DLQ%group

A message of the retry topic goes back to the same one. Where retries are separated, the retry topic
has as many queues as the topic, and a copy keeps the number of its queue: that is its priority. The
copy has one try more, unless its
consumer asked to suspend it without counting a try; it has the time of its first pop and the
group. Body, flags, tag, keys and the sender's timestamp are the message's own.
"""

from dataclasses import replace
from typing import NamedTuple

from aerobee.model.flags import BORN_HOST_V6
from aerobee.model.group import GroupConfig
from aerobee.model.message import Host, StoredMessage
from aerobee.model.message_queue import LogOffset, QueueId
from aerobee.model.names import is_retry_topic, pop_retry_topic
from aerobee.model.properties import (
    FIRST_POP_TIME,
    ORIGIN_GROUP,
    ORIGIN_MESSAGE_ID,
    POP_CHECKPOINT,
    RETRY_TOPIC,
)
from aerobee.protocol.bodies.revive_records import Checkpoint
from aerobee.service.broker.log_access.retry_destination import RetryPlace, dead_letter_place

_TIMES_MAX = 2**31 - 1


class Origin(NamedTuple):
    """The born host of copies: the broker's address."""

    host: Host
    is_v6: bool


def place_to_revive(
    checkpoint: Checkpoint, message: StoredMessage, group: GroupConfig, queues: int = 1
) -> RetryPlace:
    """`queues`: of the retry topic."""
    if message.reconsume_times >= group.retries_max and not checkpoint.is_suspended:
        return dead_letter_place(group.name)
    topic = checkpoint.topic
    if not is_retry_topic(topic):
        topic = pop_retry_topic(group.name, topic)
    return RetryPlace(topic, queues, 0)


def copy_to_revive(
    checkpoint: Checkpoint, message: StoredMessage, place: RetryPlace, origin: Origin
) -> StoredMessage:
    """The copy, in the queue of the message's own number if the place has that one, else in
    queue 0."""
    properties = {**message.properties, ORIGIN_GROUP: checkpoint.group}
    properties.setdefault(FIRST_POP_TIME, str(checkpoint.pop_time))
    properties.pop(POP_CHECKPOINT, None)
    if place == dead_letter_place(checkpoint.group):
        properties.setdefault(RETRY_TOPIC, origin_topic(checkpoint))
        properties.setdefault(ORIGIN_MESSAGE_ID, message.offset_message_id)
    flags = message.sys_flag & ~BORN_HOST_V6
    times = message.reconsume_times + (not checkpoint.is_suspended)
    return replace(
        message,
        topic=place.topic,
        queue_id=QueueId(message.queue_id if message.queue_id < place.queues else 0),
        properties=properties,
        born_host=origin.host,
        sys_flag=flags | BORN_HOST_V6 if origin.is_v6 else flags,
        reconsume_times=min(times, _TIMES_MAX),
        prepared_offset=LogOffset(0),
    )


def origin_topic(checkpoint: Checkpoint) -> str:
    """The topic that the message was first sent to."""
    return checkpoint.topic.removeprefix(pop_retry_topic(checkpoint.group, ""))
