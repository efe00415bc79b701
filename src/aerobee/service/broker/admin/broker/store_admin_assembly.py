"""Builds the admin handlers for the store: queue units, statistics, cleaning, absent parts.

Returns their rows for the request table.
"""

from aerobee.service.broker.admin.broker.absent_part_handlers import AbsentPartHandlers
from aerobee.service.broker.admin.broker.cleaning_handlers import CleaningHandlers
from aerobee.service.broker.admin.broker.queue_unit_handlers import QueueUnitHandlers
from aerobee.service.broker.admin.broker.stats_data_handlers import StatsDataHandlers
from aerobee.service.broker.config import BrokerIdentity
from aerobee.service.broker.request_table import Row
from aerobee.service.broker.state.tables import Tables
from aerobee.service.broker.statistics.statistics import Statistics
from aerobee.storage.store import Store


def store_rows(
    identity: BrokerIdentity, tables: Tables, store: Store, statistics: Statistics
) -> list[Row]:
    topics, offsets = tables.topics, tables.offsets
    return [
        *CleaningHandlers(topics, offsets, store, identity, store.delete_topic).rows(),
        *QueueUnitHandlers(store, tables.consumers).rows(),
        *StatsDataHandlers(statistics).rows(),
        *AbsentPartHandlers(store, offsets).rows(),
    ]
