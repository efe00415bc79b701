"""SubscriptionFilters makes the filter of a subscription: everything, some tags, or an SQL
expression.

Used by pulls and pops. Retry topics are never filtered by SQL: their messages passed the filter
before, and have other properties now.

A consumer gives its subscription a new version at every rebalance, and its pulls may overtake the
heartbeat that brings it. If the heartbeat's version is older, the queue is read without a filter:
the client filters again, so nothing is missed and no client has to wait. Except for SQL: clients do
not evaluate it, and messages that an older filter rejects would be lost. There the client has to
wait.
"""

from collections.abc import Callable
from typing import NamedTuple

from aerobee.model.names import is_retry_topic
from aerobee.model.subscription import BY_SQL, Subscription
from aerobee.protocol.bodies.subscription import make_subscription
from aerobee.protocol.headers.pulling import SUBSCRIPTION, PullHeader
from aerobee.protocol.message.property_filter import PropertyFilter
from aerobee.protocol.message.tag_filter import find_expression_fault
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.clients.consumers import Consumers
from aerobee.service.filters.filter_cache import FilterCache
from aerobee.service.request import Answer


class SubscriptionFilter(NamedTuple):
    """The filter arguments of `Store.read`."""

    tag_codes: frozenset[int] | None
    """None: any tag."""
    chosen: PropertyFilter | None = None


class SubscriptionFilters:
    def __init__(self, consumers: Consumers, allows_sql: Callable[[], bool]) -> None:
        self.cache = FilterCache()
        self._consumers = consumers
        self._allows_sql = allows_sql

    def of_pull(self, header: PullHeader) -> SubscriptionFilter | Answer:
        """The filter of a pull: the one in its header, or its group's."""
        wanted = self._wanted(header)
        return wanted if isinstance(wanted, Answer) else self.of(header.consumer_group, wanted)

    def _wanted(self, header: PullHeader) -> Subscription | Answer:
        if header.sys_flag & SUBSCRIPTION:
            fault = find_expression_fault(header.subscription)
            if fault is not None:
                return Answer(
                    ResponseCode.SUBSCRIPTION_PARSE_FAILED, f"the field subscription has {fault}"
                )
            return make_subscription(
                header.topic, header.subscription, header.sub_version, header.expression_type
            )
        consumers = self._consumers.find(header.consumer_group)
        known = consumers.subscriptions.get(header.topic) if consumers is not None else None
        if known is None:
            return Answer(
                ResponseCode.SUBSCRIPTION_NOT_EXIST,
                "the consumer's subscription not exist: wait for its heartbeat",
            )
        if known.version >= header.sub_version:
            return known
        if known.is_by_tag:
            return make_subscription(header.topic)
        return Answer(
            ResponseCode.SUBSCRIPTION_NOT_LATEST,
            "the consumer's subscription not latest: wait for its next heartbeat",
        )

    def of(self, group: str, wanted: Subscription) -> SubscriptionFilter | Answer:
        """The filter of a group for a topic, or the answer that refuses it."""
        if wanted.is_by_tag:
            return SubscriptionFilter(wanted.tag_codes)
        if wanted.expression_type != BY_SQL or not self._allows_sql():
            return Answer(
                ResponseCode.SYSTEM_ERROR,
                "The broker does not support consumer to filter message by "
                f"{wanted.expression_type[:40]}",
            )
        if is_retry_topic(wanted.topic):
            return SubscriptionFilter(None)
        found = self.cache.find(group, wanted.topic, wanted.expression)
        if found.filter is None:
            return Answer(
                ResponseCode.SUBSCRIPTION_PARSE_FAILED,
                f"the filter of group {group} for topic {wanted.topic} is wrong {found.fault}",
            )
        return SubscriptionFilter(None, found.filter)
