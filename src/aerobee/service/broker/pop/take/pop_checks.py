"""Checks of a pop (broker, timer, topic, group, queue, filter) and of acknowledgements.

The order of the checks is RocketMQ's: clients act upon the first code that applies.

Imports more than 15 modules because all checks of POP are here.
"""

from collections.abc import Callable, Iterable

from aerobee.model.flags import is_readable
from aerobee.ports.clock import Now
from aerobee.protocol.bodies.subscription import make_subscription
from aerobee.protocol.consume.pop_receipt import ORDERLY
from aerobee.protocol.headers.popping import ANY_QUEUE, FROM_MIN, PopHeader
from aerobee.protocol.message.tag_filter import find_expression_fault
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.access.request_limits import WaitingLimits
from aerobee.service.broker.config import BrokerConfig
from aerobee.service.broker.log_access.queue_facts import QueueFacts
from aerobee.service.broker.pop.take.held_pops import PopPlan
from aerobee.service.broker.pop.take.queue_order import QueueOrders
from aerobee.service.broker.state.groups import Groups
from aerobee.service.broker.state.subscription_filter import SubscriptionFilters
from aerobee.service.broker.state.topics import Topics
from aerobee.service.live_config import LiveConfig
from aerobee.service.request import Answer

COUNT_MAX = 32
INVISIBLE_MS_MAX = 2 * 24 * 3_600_000
"""Two days: within the timer's longest delay."""
ATTEMPT_CHARS_MAX = 255


class PopChecks:
    def __init__(
        self,
        topics: Topics,
        groups: Groups,
        queues: QueueFacts,
        config: LiveConfig[BrokerConfig],
        subscription_filters: SubscriptionFilters,
        can_wait: Callable[[], bool],
        revive_queues: int,
    ) -> None:
        """`can_wait`: whether the timer takes checkpoints."""
        self._topics = topics
        self._groups = groups
        self._queues = queues
        self._config = config
        self._subscription_filters = subscription_filters
        self._can_wait = can_wait
        self.orders = QueueOrders(topics, groups, lambda: config.current)
        """The order of queues of a pop that passed."""
        self._revive_queues = revive_queues

    @property
    def waiting(self) -> WaitingLimits:
        """Pops that may wait."""
        return self._config.current.waiting

    def plan(self, header: PopHeader, now: Now) -> PopPlan | Answer:
        """The pop to be run, or the answer that refuses it."""
        if not is_readable(self._config.current.permission):
            return Answer(ResponseCode.NO_PERMISSION, "the broker peeking message is forbidden")
        if not 0 < header.max_msg_nums <= COUNT_MAX:
            return Answer(
                ResponseCode.INVALID_PARAMETER,
                f"the broker pop message's num is greater than {COUNT_MAX}, or less than 1",
            )
        if not self._can_wait():
            return Answer(
                ResponseCode.SYSTEM_ERROR,
                "the broker pop message is forbidden because timerWheelEnable is false",
            )
        fault = self.find_fault(header.topic, header.consumer_group, header.queue_id, now)
        if fault is not None:
            return fault
        if not 0 < header.invisible_time <= INVISIBLE_MS_MAX:
            return Answer(
                ResponseCode.INVALID_PARAMETER,
                f"invisibleTime is {header.invisible_time}, and must be 1 to {INVISIBLE_MS_MAX} ms",
            )
        return self._filtered(header)

    def find_fault(self, topic: str, group: str, queue_id: int, now: Now) -> Answer | None:
        """The refusal if a group may not pop this queue (or any queue) of a topic; None if it
        may."""
        config = self._topics.find(topic)
        if config is None:
            return Answer(
                ResponseCode.TOPIC_NOT_EXIST,
                f"The topic {topic[:255]} not exist, apply first please!",
            )
        if not is_readable(config.permission):
            return Answer(
                ResponseCode.NO_PERMISSION, f"the topic[{topic}] peeking message is forbidden"
            )
        if not ANY_QUEUE <= queue_id < config.read_queues:
            return Answer(
                ResponseCode.INVALID_PARAMETER,
                f"queueId[{queue_id}] is illegal, topic:[{topic}] "
                f"topicConfig.readQueueNums:[{config.read_queues}]",
            )
        known = self._groups.ensure(group, now)
        if known is None:
            return Answer(
                ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST,
                f"subscription group [{group[:255]}] does not exist",
            )
        if not known.is_enabled or not self._groups.may_read(group, topic):
            return Answer(ResponseCode.NO_PERMISSION, f"subscription group no permission, {group}")
        return None

    def basis(self, group: str, topic: str) -> tuple[object, ...]:
        """The inputs of the decision besides the request itself, to compare with earlier ones."""
        return (
            self._config.current,
            self._groups.find(group),
            self._topics.find(topic),
            self.orders.retry_topic(group, topic),
            self._groups.may_read(group, topic),
        )

    def _filtered(self, header: PopHeader) -> PopPlan | Answer:
        fault = find_expression_fault(header.exp)
        if fault is not None:
            return Answer(ResponseCode.SUBSCRIPTION_PARSE_FAILED, f"the field exp has {fault}")
        wanted = make_subscription(header.topic, header.exp, 0, header.exp_type)
        choice = self._subscription_filters.of(header.consumer_group, wanted)
        if isinstance(choice, Answer):
            return choice
        return PopPlan(
            header.topic,
            header.consumer_group,
            header.queue_id,
            header.max_msg_nums,
            header.invisible_time,
            header.init_mode == FROM_MIN,
            choice,
            header.order,
            header.attempt_id[:ATTEMPT_CHARS_MAX],
        )

    # Acknowledgements.

    def find_ack_fault(self, topic: str, queue_id: int, revive_queue: int) -> Answer | None:
        """The refusal of a request about a popped message, whatever its offset; None if it
        passes."""
        config = self._topics.find(topic)
        if config is None:
            return Answer(
                ResponseCode.TOPIC_NOT_EXIST,
                f"the topic {topic[:255]} not exist, apply first please!",
            )
        if not 0 <= queue_id < config.read_queues and not self._queues.exists(topic, queue_id):
            return Answer(
                ResponseCode.MESSAGE_ILLEGAL,
                f"queueId[{queue_id}] is illegal, topic:[{topic}] has {config.read_queues} queues",
            )
        if not 0 <= revive_queue < self._revive_queues and revive_queue != ORDERLY:
            return Answer(ResponseCode.MESSAGE_ILLEGAL, f"there is no revive queue {revive_queue}")
        return None

    def ack_bounds(self, topic: str, queue_id: int, revive_queue: int) -> tuple[int, int] | None:
        """The least and the largest offset that `find_ack_fault` and `find_offset_fault` let pass;
        None: they let none pass."""
        if self.find_ack_fault(topic, queue_id, revive_queue) is not None:
            return None
        return self._queues.min_offset(topic, queue_id), self._queues.max_offset(topic, queue_id)

    def within(self, topic: str, queue_id: int, offsets: Iterable[int]) -> list[int]:
        """The offsets that are in the queue's range."""
        low = self._queues.min_offset(topic, queue_id)
        high = self._queues.max_offset(topic, queue_id)
        return [offset for offset in offsets if low <= offset <= high]

    def find_offset_fault(self, topic: str, queue_id: int, offset: int) -> Answer | None:
        low = self._queues.min_offset(topic, queue_id)
        high = self._queues.max_offset(topic, queue_id)
        if low <= offset <= high:
            return None
        return Answer(
            ResponseCode.NO_MESSAGE,
            f"request offset[{offset}] is illegal, queue {queue_id} of {topic} has [{low}-{high}]",
        )
