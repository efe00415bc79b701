"""Puts the admin room together: builds the handlers for topics, groups, clients and queues.

Imports more than 15 modules because it puts the others together.
"""

from functools import partial

from aerobee.service.broker.admin.broker.query_handlers import QueryHandlers
from aerobee.service.broker.admin.broker.store_admin_assembly import store_rows
from aerobee.service.broker.admin.group.client_relay import ClientRelay
from aerobee.service.broker.admin.group.client_status_handlers import ClientStatusHandlers
from aerobee.service.broker.admin.group.consume_directly_handlers import ConsumeDirectlyHandlers
from aerobee.service.broker.admin.group.group_handlers import GroupHandlers
from aerobee.service.broker.admin.group.group_status_handlers import GroupStatusHandlers
from aerobee.service.broker.admin.group.group_topic_handlers import GroupTopicHandlers
from aerobee.service.broker.admin.group.offset_reset_handlers import OffsetResetHandlers
from aerobee.service.broker.admin.topic.topic_cleanup import set_cleanup
from aerobee.service.broker.admin.topic.topic_handlers import (
    Announce,
    DeleteMessages,
    TopicHandlers,
)
from aerobee.service.broker.admin.topic.topic_query_handlers import TopicQueryHandlers
from aerobee.service.broker.admin.topic.topic_stats_handlers import TopicStatsHandlers
from aerobee.service.broker.clients.client_calls import ClientCalls
from aerobee.service.broker.config import BrokerIdentity
from aerobee.service.broker.log_access.queue_facts import QueueFacts
from aerobee.service.broker.request_table import Row
from aerobee.service.broker.state.tables import Tables
from aerobee.service.broker.statistics.statistics import Statistics
from aerobee.storage.store import Store


def admin_rows(
    identity: BrokerIdentity,
    tables: Tables,
    store: Store,
    calls: ClientCalls,
    statistics: Statistics,
    announce: Announce,
    delete_messages: DeleteMessages,
) -> list[Row]:
    """The rows of the request table for admin tools."""
    topics, groups, offsets, consumers = (
        tables.topics,
        tables.groups,
        tables.offsets,
        tables.consumers,
    )
    queues = QueueFacts(store)
    clean_up = partial(set_cleanup, store)
    # Before the store's first step, which may clean up.
    for topic in topics.all():
        clean_up(topic)
    owned = (delete_messages, clean_up, announce)
    relay = ClientRelay(consumers, calls)
    watched = (identity, offsets, queues, topics, groups)
    return [
        *TopicHandlers(topics, offsets, identity, *owned).rows(),
        *TopicQueryHandlers(topics, identity).rows(),
        *TopicStatsHandlers(topics, queues, identity, statistics).rows(),
        *GroupHandlers(groups, offsets).rows(),
        *GroupStatusHandlers(*watched, consumers, statistics).rows(),
        *GroupTopicHandlers(identity, offsets, queues, groups, consumers).rows(),
        *OffsetResetHandlers(*watched).rows(),
        *QueryHandlers(store).rows(),
        *ClientStatusHandlers(consumers, calls, relay).rows(),
        *ConsumeDirectlyHandlers(identity, store, topics, groups, relay).rows(),
        *store_rows(identity, tables, store, statistics),
    ]
