"""The handlers of everything but sends and pulls, each given what it needs: rows for the table.

Imports more than 15 modules because it puts the others together.
"""

from typing import NamedTuple

from aerobee.ports.clock import Now
from aerobee.service.broker.client_relay import ClientRelay
from aerobee.service.broker.config import BrokerConfig, BrokerIdentity
from aerobee.service.broker.delay.delay_offsets import DelayOffsets
from aerobee.service.broker.delay.levels import DelayLevels
from aerobee.service.broker.handlers.broker_status import BrokerStatusHandlers, Flows
from aerobee.service.broker.handlers.client_status import ClientStatusHandlers
from aerobee.service.broker.handlers.clients import ClientHandlers
from aerobee.service.broker.handlers.consume_directly import ConsumeDirectlyHandlers
from aerobee.service.broker.handlers.delay_offsets import DelayOffsetHandlers
from aerobee.service.broker.handlers.group_members import GroupMemberHandlers
from aerobee.service.broker.handlers.group_status import GroupStatusHandlers
from aerobee.service.broker.handlers.group_topics import GroupTopicHandlers
from aerobee.service.broker.handlers.groups import GroupHandlers
from aerobee.service.broker.handlers.locks import LockHandlers
from aerobee.service.broker.handlers.offset_reset import OffsetResetHandlers
from aerobee.service.broker.handlers.offsets import OffsetHandlers
from aerobee.service.broker.handlers.queries import QueryHandlers
from aerobee.service.broker.handlers.topic_queries import TopicQueries
from aerobee.service.broker.handlers.topics import TopicHandlers
from aerobee.service.broker.membership import Membership
from aerobee.service.broker.parked.client_calls import ClientCalls
from aerobee.service.broker.peers import Peers
from aerobee.service.broker.queue_facts import QueueFacts
from aerobee.service.broker.request_table import Row
from aerobee.service.broker.tables import Tables
from aerobee.service.broker.throughput import Throughput
from aerobee.service.live_config import LiveConfig
from aerobee.storage.store import Store


def consumer_rows(
    tables: Tables, queues: QueueFacts, membership: Membership, peers: Peers
) -> list[Row]:
    """What clients say of themselves, and what consumers ask."""
    topics, groups, offsets = tables.topics, tables.groups, tables.offsets
    return [
        *ClientHandlers(membership, groups, topics, peers.by_channel).rows(),
        *GroupMemberHandlers(tables.consumers, tables.producers).rows(),
        *OffsetHandlers(offsets, queues, topics, groups).rows(),
        *LockHandlers(tables.locks).rows(),
    ]


def admin_rows(
    identity: BrokerIdentity, tables: Tables, store: Store, queues: QueueFacts, calls: ClientCalls
) -> list[Row]:
    """What tools ask of topics, groups and clients."""
    topics, groups, offsets, consumers = (
        tables.topics,
        tables.groups,
        tables.offsets,
        tables.consumers,
    )
    relay = ClientRelay(consumers, calls)
    return [
        *TopicHandlers(topics, offsets, store, identity, store.delete_topic).rows(),
        *TopicQueries(topics, queues, identity).rows(),
        *GroupHandlers(groups, offsets).rows(),
        *GroupStatusHandlers(identity, offsets, queues, topics, groups, consumers).rows(),
        *GroupTopicHandlers(identity, offsets, queues, groups, consumers).rows(),
        *OffsetResetHandlers(identity, offsets, queues, topics, groups).rows(),
        *QueryHandlers(store).rows(),
        *ClientStatusHandlers(consumers, calls, relay).rows(),
        *ConsumeDirectlyHandlers(identity, store, topics, groups, relay).rows(),
    ]


class Status(NamedTuple):
    """What a broker can tell of how it is doing."""

    delays: DelayLevels
    delay_offsets: DelayOffsets
    put: Throughput
    got: Throughput
    started: Now


def status_rows(config: LiveConfig[BrokerConfig], store: Store, status: Status) -> list[Row]:
    flows = Flows(status.put, status.got)
    return [
        *DelayOffsetHandlers(status.delay_offsets).rows(),
        *BrokerStatusHandlers(config, store, status.delays, flows, status.started).rows(),
    ]
