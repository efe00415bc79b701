"""What clients say of themselves, and what consumers ask: the handlers, each given what it needs.

Rows for the broker's table.
"""

from aerobee.service.broker.clients.peers import Peers
from aerobee.service.broker.log_access.queue_facts import QueueFacts
from aerobee.service.broker.membership.filter_check_handlers import ClientConfigHandlers
from aerobee.service.broker.membership.heartbeat_handlers import ClientHandlers
from aerobee.service.broker.membership.member_lifecycle import Membership
from aerobee.service.broker.membership.member_list_handlers import GroupMemberHandlers
from aerobee.service.broker.membership.offset_handlers import OffsetHandlers
from aerobee.service.broker.membership.queue_lock_handlers import LockHandlers
from aerobee.service.broker.request_table import Row
from aerobee.service.broker.state.tables import Tables
from aerobee.storage.store import Store


def consumer_rows(tables: Tables, store: Store, membership: Membership, peers: Peers) -> list[Row]:
    """What clients say of themselves, and what consumers ask."""
    topics, groups, offsets = tables.topics, tables.groups, tables.offsets
    queues = QueueFacts(store)
    return [
        *ClientHandlers(membership, groups, topics, peers.by_channel).rows(),
        *ClientConfigHandlers(tables.choices).rows(),
        *GroupMemberHandlers(tables.consumers, tables.producers).rows(),
        *OffsetHandlers(offsets, queues, topics, groups).rows(),
        *LockHandlers(tables.locks).rows(),
    ]
