"""What a subscription lets through: everything, messages with one of some tags, or those that an
SQL expression chooses.

For whoever reads queues on behalf of a consumer: pulls and pops. Retry topics are never filtered by
SQL: what is in them was chosen once, and carries other properties now.
"""

from typing import NamedTuple

from aerobee.model.names import is_retry_topic
from aerobee.model.subscription import BY_SQL, Subscription
from aerobee.protocol.property_filter import PropertyFilter
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.config import BrokerConfig
from aerobee.service.filters.filter_cache import FilterCache
from aerobee.service.live_config import LiveConfig
from aerobee.service.request import Answer


class Choice(NamedTuple):
    """What `Store.read` is given."""

    tag_codes: frozenset[int] | None
    """None: whatever the tag."""
    chosen: PropertyFilter | None = None


class Choices:
    def __init__(self, filters: FilterCache, config: LiveConfig[BrokerConfig]) -> None:
        self._filters = filters
        self._config = config

    def of(self, group: str, wanted: Subscription) -> Choice | Answer:
        """What a group gets of a topic, or why its filter cannot be used."""
        if wanted.is_by_tag:
            return Choice(wanted.tag_codes)
        if wanted.expression_type != BY_SQL or not self._config.current.allows_sql:
            return Answer(
                ResponseCode.SYSTEM_ERROR,
                "The broker does not support consumer to filter message by "
                f"{wanted.expression_type[:40]}",
            )
        if is_retry_topic(wanted.topic):
            return Choice(None)
        found = self._filters.find(group, wanted.topic, wanted.expression)
        if found.filter is None:
            return Answer(
                ResponseCode.SUBSCRIPTION_PARSE_FAILED,
                f"the filter of group {group} for topic {wanted.topic} is wrong {found.fault}",
            )
        return Choice(None, found.filter)
