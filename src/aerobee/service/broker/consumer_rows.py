"""What clients say of themselves, and what consumers ask: the handlers, each given what it needs.

Rows for the broker's table.
"""

from aerobee.service.broker.handlers.client_config import ClientConfigHandlers
from aerobee.service.broker.handlers.clients import ClientHandlers
from aerobee.service.broker.handlers.group_members import GroupMemberHandlers
from aerobee.service.broker.handlers.locks import LockHandlers
from aerobee.service.broker.handlers.offsets import OffsetHandlers
from aerobee.service.broker.membership import Membership
from aerobee.service.broker.peers import Peers
from aerobee.service.broker.queue_facts import QueueFacts
from aerobee.service.broker.request_table import Row
from aerobee.service.broker.tables import Tables
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
