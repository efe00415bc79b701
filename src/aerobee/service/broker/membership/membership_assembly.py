"""Puts the membership room together: builds its handlers, and returns their rows.

Heartbeats, filter checks, member lists, offsets and queue locks.
"""

from aerobee.service.broker.clients.peers import Peers
from aerobee.service.broker.log_access.queue_facts import QueueFacts
from aerobee.service.broker.membership.filter_check_handlers import FilterCheckHandlers
from aerobee.service.broker.membership.heartbeat_handlers import HeartbeatHandlers
from aerobee.service.broker.membership.member_lifecycle import MemberLifecycle
from aerobee.service.broker.membership.member_list_handlers import MemberListHandlers
from aerobee.service.broker.membership.offset_handlers import OffsetHandlers
from aerobee.service.broker.membership.queue_lock_handlers import QueueLockHandlers
from aerobee.service.broker.request_table import Row
from aerobee.service.broker.state.tables import Tables
from aerobee.storage.store import Store


def membership_rows(
    tables: Tables, store: Store, lifecycle: MemberLifecycle, peers: Peers
) -> list[Row]:
    """The rows of the request table for group members."""
    topics, groups, offsets = tables.topics, tables.groups, tables.offsets
    queues = QueueFacts(store)
    return [
        *HeartbeatHandlers(lifecycle, groups, topics, peers.by_channel).rows(),
        *FilterCheckHandlers(tables.subscription_filters).rows(),
        *MemberListHandlers(tables.consumers, tables.producers).rows(),
        *OffsetHandlers(offsets, queues, topics, groups).rows(),
        *QueueLockHandlers(tables.locks).rows(),
    ]
