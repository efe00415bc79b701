"""Chooses the topic for a message that its consumer could not process: retry or dead letter.

    tried less often than its group allows     %RETRY%group, after a delay that grows
    tried as often, or not to be tried again   %DLQ%group, at once, for an operator

Retry n waits by delay level 3 + n, unless the consumer names a level: 10 s, 30 s, 1 min, … 2 h. The
copy has the message's body, flags and born data, one try more, and its origin: RETRY_TOPIC and
ORIGIN_MESSAGE_ID are those of the first record.
"""

from dataclasses import replace
from typing import NamedTuple

from aerobee.model.group import GroupConfig
from aerobee.model.message import StoredMessage
from aerobee.model.message_queue import LogOffset, QueueId
from aerobee.model.names import dead_letter_topic, retry_topic
from aerobee.model.properties import DEAD_LETTER_REASON, DELAY, ORIGIN_MESSAGE_ID, RETRY_TOPIC, WAIT
from aerobee.model.topic import UNIT_SUBSCRIPTION, TopicConfig

DEAD_LETTER_QUEUES = 1
FIRST_RETRY_LEVEL = 3
TIMES_VERSION_MIN = 121
"""Clients of at least this version send the number of retries that they want; older ones send
something else in the field."""

REASON_CHARS_MAX = 500

_TIMES_MAX = 2**31 - 1


class RetryPlace(NamedTuple):
    """The topic of the copy, and its delay level; 0: no delay."""

    topic: str
    queues: int
    level: int
    reason: str = ""
    """The consumer's reason for a dead letter."""

    def topic_config(self, *, is_unit: bool = False) -> TopicConfig:
        """The topic's config, if it has to be made first. `is_unit`: the group consumes across
        units."""
        sys_flag = UNIT_SUBSCRIPTION if is_unit and self.level else 0
        return TopicConfig(
            self.topic, read_queues=self.queues, write_queues=self.queues, sys_flag=sys_flag
        )

    def grown(self, known: TopicConfig | None) -> TopicConfig:
        """The topic with as many queues as it needs, or more if it has them."""
        if known is None:
            return self.topic_config()
        return replace(
            known,
            read_queues=max(known.read_queues, self.queues),
            write_queues=max(known.write_queues, self.queues),
        )


def times_allowed(group: GroupConfig, wanted: int | None, version: int) -> int:
    """The number of retries of a message: the client's, if its version may set it, else the
    group's."""
    if wanted is not None and wanted >= 0 and version >= TIMES_VERSION_MIN:
        return wanted
    return group.retries_max


def dead_letter_place(group: str) -> RetryPlace:
    return RetryPlace(dead_letter_topic(group), DEAD_LETTER_QUEUES, 0)


def place_to_return(
    group: GroupConfig, times: int, times_max: int, level: int, reason: str = ""
) -> RetryPlace:
    """The destination of a message that was retried `times` times; `level` and `reason` are the
    consumer's."""
    if times >= times_max or level < 0:
        return dead_letter_place(group.name)._replace(reason=_plain(reason))
    return RetryPlace(
        retry_topic(group.name), group.retry_queues, level or FIRST_RETRY_LEVEL + max(0, times)
    )


def copy_to_return(message: StoredMessage, place: RetryPlace, queue_id: int) -> StoredMessage:
    """The copy of a returned message, as a retry or as a dead letter."""
    properties = {**message.properties, WAIT: "false", DELAY: str(place.level)}
    properties.setdefault(RETRY_TOPIC, message.topic)
    properties.setdefault(ORIGIN_MESSAGE_ID, message.offset_message_id)
    if place.reason:
        properties[DEAD_LETTER_REASON] = place.reason
    return replace(
        message,
        topic=place.topic,
        queue_id=QueueId(queue_id),
        properties=properties,
        reconsume_times=min(message.reconsume_times + 1, _TIMES_MAX),
        prepared_offset=LogOffset(0),
    )


def _plain(reason: str) -> str:
    """The reason without control characters, which separate properties."""
    return "".join([one if one.isprintable() else " " for one in reason[:REASON_CHARS_MAX]]).strip()
