"""TRANS_CHECK_MAX_TIME_TOPIC, the topic of transactions that were given up: made when first needed.

As in Apache's broker, one that never gives up a transaction does not have the topic.
"""

import logging

from aerobee.model.names import TRANSACTION_GIVEN_UP_TOPIC
from aerobee.model.topic import TopicConfig
from aerobee.ports.clock import Now
from aerobee.service.broker.state.topics import Topics

_log = logging.getLogger(__name__)


class GivenUpTopic:
    def __init__(self, topics: Topics) -> None:
        self._topics = topics
        self._is_being_made = False

    def is_there(self, now: Now) -> bool:
        """Whether the topic exists; if not, begin to make it."""
        if self._topics.find(TRANSACTION_GIVEN_UP_TOPIC) is not None:
            return True
        if not self._is_being_made:
            self._is_being_made = True
            config = TopicConfig(TRANSACTION_GIVEN_UP_TOPIC, read_queues=1, write_queues=1)
            self._topics.add([config], now, self._made)
        return False

    def _made(self, error: BaseException | None) -> None:
        self._is_being_made = False
        if error is not None:
            _log.error("the topic %s was not made: %s", TRANSACTION_GIVEN_UP_TOPIC, error)
