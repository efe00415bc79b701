"""Checks of a pull: broker, group, topic, permissions, queue and filter. The result is a
`PullPlan`.

The order of the checks is RocketMQ's: clients act upon the first code that applies.
"""

from aerobee.model.flags import is_readable
from aerobee.model.group import GroupConfig
from aerobee.model.topic import TopicConfig
from aerobee.ports.clock import Now
from aerobee.protocol.headers.pulling import PullHeader
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.clients.consumers import Consumers
from aerobee.service.broker.config import BrokerConfig
from aerobee.service.broker.pull.held_pulls import PullPlan
from aerobee.service.broker.state.groups import Groups
from aerobee.service.broker.state.subscription_filter import SubscriptionFilters
from aerobee.service.broker.state.topics import Topics
from aerobee.service.live_config import LiveConfig
from aerobee.service.request import Answer

BULK_COUNT_MAX = 32_768
"""Most messages in one answer to a bulk reader (the Spark source)."""


class PullChecks:
    def __init__(
        self,
        topics: Topics,
        groups: Groups,
        consumers: Consumers,
        config: LiveConfig[BrokerConfig],
        subscription_filters: SubscriptionFilters,
    ) -> None:
        self._topics = topics
        self._groups = groups
        self._consumers = consumers
        self._config = config
        self._subscription_filters = subscription_filters

    def plan(self, header: PullHeader, now: Now) -> PullPlan | Answer:
        """The read that the pull asks for, or the answer that refuses it."""
        if not is_readable(self._config.current.permission):
            return _forbidden("the broker pulling message is forbidden", 1)
        group, topic = header.consumer_group, header.topic
        known = self._groups.ensure(group, now)
        if known is None:
            return Answer(
                ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST,
                f"subscription group [{group[:255]}] does not exist",
            )
        if not known.is_enabled:
            return _forbidden(f"subscription group no permission, {group}", 2)
        config = self._topics.find(topic)
        if config is None:
            return Answer(
                ResponseCode.TOPIC_NOT_EXIST,
                f"topic[{topic[:255]}] not exist, apply first please!",
            )
        if not self._groups.may_read(group, topic):
            return _forbidden(f"the group {group} may not read the topic {topic}", 5)
        if not is_readable(config.permission):
            return _forbidden(f"the topic[{topic}] pulling message is forbidden", 3)
        if not 0 <= header.queue_id < config.read_queues:
            return Answer(
                ResponseCode.INVALID_PARAMETER,
                f"queueId[{header.queue_id}] is illegal, topic:[{topic}] "
                f"topicConfig.readQueueNums:[{config.read_queues}]",
            )
        return self._filtered(header, known, config)

    def basis(self, group: str, topic: str) -> tuple[object, ...]:
        """The inputs of the decision besides the request itself, to compare with earlier ones."""
        consumers = self._consumers.find(group)
        return (
            self._config.current,
            self._groups.find(group),
            self._topics.find(topic),
            self._topics.mappings.has(topic),
            self._groups.may_read(group, topic),
            consumers.subscriptions.get(topic) if consumers is not None else None,
        )

    def _filtered(
        self, header: PullHeader, group: GroupConfig, topic: TopicConfig
    ) -> PullPlan | Answer:
        choice = self._subscription_filters.of_pull(header)
        if isinstance(choice, Answer):
            return choice
        return PullPlan(
            (topic.name.encode(), header.queue_id),
            header.queue_offset,
            max(1, min(header.max_msg_nums, self._count_max(header))),
            choice.tag_codes,
            topic.sys_flag,
            group.sys_flag,
            group.name,
            choice.chosen,
            header.is_bulk,
        )

    def _count_max(self, header: PullHeader) -> int:
        return BULK_COUNT_MAX if header.is_bulk else self._config.current.pull_count_max


def _forbidden(remark: str, kind: int) -> Answer:
    return Answer(ResponseCode.NO_PERMISSION, remark, {"forbiddenType": str(kind)})
