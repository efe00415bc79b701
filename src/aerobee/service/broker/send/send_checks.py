"""Checks of a send on the general path: its topic, made if need be, its queue, size and
permissions.

The order of the checks is RocketMQ's: a size is refused last. A topic that has to be made is on the
disk before the message is stored: otherwise a crash could leave a message that no consumer can
reach. None is made for a message that is too large as it came.

Imports more than 15 modules because all checks of a send are here.
"""

from aerobee.model.group import GroupConfig
from aerobee.model.names import (
    RETRY_PREFIX,
    TOPIC_CHARS_MAX,
    find_topic_fault,
    is_broker_written,
    is_retry_topic,
    pop_retry_topic,
    topic_chars_max,
)
from aerobee.model.properties import DELAY, ORIGIN_GROUP
from aerobee.model.topic import TopicConfig
from aerobee.ports.clock import Now
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.clients.queue_locks import QueueLocks
from aerobee.service.broker.config import BrokerConfig
from aerobee.service.broker.log_access.retry_destination import (
    FIRST_RETRY_LEVEL,
    RetryPlace,
    dead_letter_place,
    times_allowed,
)
from aerobee.service.broker.log_access.store_refusals import message_too_large
from aerobee.service.broker.send.send_request import SendRequest
from aerobee.service.broker.state.groups import Groups
from aerobee.service.broker.state.topics import Topics
from aerobee.service.live_config import LiveConfig
from aerobee.service.request import Answer, excess_remark

_SHOWN_CHARS_MAX = 255  # of a name that is too long


class SendChecks:
    def __init__(
        self,
        topics: Topics,
        groups: Groups,
        locks: QueueLocks,
        config: LiveConfig[BrokerConfig],
    ) -> None:
        self._topics = topics
        self._groups = groups
        self._locks = locks
        self._config = config

    def find_fault(self, sending: SendRequest) -> Answer | None:
        """The refusal of a send by checks that need no topic; None if it passes."""
        fault = _find_name_fault(sending.topic)
        if fault is not None:
            return Answer(ResponseCode.INVALID_PARAMETER, fault)
        if is_broker_written(sending.topic):
            return Answer(
                ResponseCode.NO_PERMISSION,
                f"Sending message to topic[{sending.topic}] is forbidden.",
            )
        if sending.is_half:
            fault_of_half = self._find_half_fault(sending)
            if fault_of_half is not None:
                return fault_of_half
        if sending.is_batch and (
            is_retry_topic(sending.topic) or len(sending.topic) > TOPIC_CHARS_MAX
        ):
            return Answer(
                ResponseCode.MESSAGE_ILLEGAL, "a batch cannot be sent to this topic: send singly"
            )
        return None

    def find_size_fault(self, sending: SendRequest) -> Answer | None:
        """The refusal of a send that is too large to be stored."""
        bytes_max = self._config.current.body_bytes_max
        if sending.has_long_properties or len(sending.body) > bytes_max:
            return message_too_large(bytes_max)
        if sending.excess:
            return Answer(ResponseCode.MESSAGE_ILLEGAL, excess_remark(sending.excess))
        return None

    def _find_half_fault(self, sending: SendRequest) -> Answer | None:
        if self._config.current.rejects_transactions:
            return Answer(
                ResponseCode.NO_PERMISSION, "the broker sending transaction message is forbidden"
            )
        if sending.is_batch:
            return Answer(
                ResponseCode.MESSAGE_ILLEGAL, "a batch cannot be part of a transaction: send singly"
            )
        return None

    def topic_to_make(self, sending: SendRequest, now: Now) -> TopicConfig | Answer | None:
        """The topic that has to be made first; None: it exists. A retry beyond the group's limit is
        turned into a dead letter here."""
        if is_retry_topic(sending.topic):
            group = self._retry_group(sending, now)
            if group is None:
                return Answer(
                    ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST,
                    f"subscription group not exist, {sending.topic.removeprefix(RETRY_PREFIX)}",
                )
            place = self._retry_place(sending, group, now)
            if place.level == 0:
                sending.topic, sending.queue_id = place.topic, 0
                sending.properties.pop(DELAY, None)
            return None if self._topics.find(place.topic) is not None else place.topic_config()
        if self._topics.find(sending.topic) is not None:
            return None
        made = self._topics.from_template(
            sending.topic, sending.default_topic, sending.default_queues
        )
        if made is not None:
            return made
        return Answer(
            ResponseCode.TOPIC_NOT_EXIST,
            f"topic[{sending.topic}] not exist, apply first please! "
            "(create it, or set autoCreateTopicEnable)",
        )

    def _retry_group(self, sending: SendRequest, now: Now) -> GroupConfig | None:
        """The group of a retry topic. That of popped messages is named for the group and a topic,
        and gets messages from an acting master."""
        group = self._groups.find(sending.topic.removeprefix(RETRY_PREFIX))
        origin = sending.properties.get(ORIGIN_GROUP, "")
        if group is None and origin and sending.topic.startswith(pop_retry_topic(origin, "")):
            return self._groups.ensure(origin, now)
        return group

    def _retry_place(self, sending: SendRequest, group: GroupConfig, now: Now) -> RetryPlace:
        times_max = times_allowed(group, sending.reconsume_times_max, sending.version)
        is_spent = sending.reconsume_times > times_max
        if is_spent or self._locks.is_any_held(group.name, now.monotonic_ms):
            return dead_letter_place(group.name)
        return RetryPlace(sending.topic, group.retry_queues, FIRST_RETRY_LEVEL)

    def check_topic(self, sending: SendRequest) -> TopicConfig | Answer:
        """The topic's config, if the send may go into the queue that it names; else the refusal."""
        config = self._topics.find(sending.topic)
        if config is None:
            return Answer(ResponseCode.TOPIC_NOT_EXIST, f"topic[{sending.topic}] is gone")
        if not self._topics.takes_sends(config):
            return Answer(
                ResponseCode.NO_PERMISSION,
                f"the topic[{sending.topic}] sending message is forbidden",
            )
        queues = max(config.read_queues, config.write_queues)
        if sending.queue_id >= queues:
            return Answer(
                ResponseCode.INVALID_PARAMETER,
                f"request queueId[{sending.queue_id}] is illegal, the topic {sending.topic} "
                f"has {queues} queues",
            )
        size_fault = self.find_size_fault(sending)
        if size_fault is not None:
            return size_fault
        if config.is_compacted and not sending.has_keys():
            return Answer(ResponseCode.MESSAGE_ILLEGAL, "Required message key is missing")
        fault = sending.type_fault(config) if self._config.current.checks_message_types else None
        return config if fault is None else Answer(ResponseCode.MESSAGE_ILLEGAL, fault)


def _find_name_fault(topic: str) -> str | None:
    """The fault of a topic's name, if there is one; a length in RocketMQ's own words."""
    chars_max = topic_chars_max(topic)
    if len(topic) > chars_max:
        shown = topic[:_SHOWN_CHARS_MAX]
        return f"The specified topic: {shown}, is longer than topic max length: {chars_max}"
    return find_topic_fault(topic)
