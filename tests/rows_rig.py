"""The rows of a broker's table, made over one store."""

from aerobee.ports.service import Effects
from aerobee.service.broker.admin.admin_assembly import admin_rows
from aerobee.service.broker.admin.broker.broker_status import BrokerStatus
from aerobee.service.broker.clients.client_calls import ClientCalls
from aerobee.service.broker.clients.peers import Peers
from aerobee.service.broker.config import SETTINGS, BrokerConfig
from aerobee.service.broker.delay.delay_levels import DelayLevels
from aerobee.service.broker.log_access.message_writer import MessageWriter
from aerobee.service.broker.log_access.safe_answers import SafeAnswers
from aerobee.service.broker.membership.member_lifecycle import MemberLifecycle
from aerobee.service.broker.membership.membership_assembly import membership_rows
from aerobee.service.broker.request_table import Row, request_table
from aerobee.service.broker.state.delay_offsets import DelayOffsets
from aerobee.service.broker.state.tables import Ground, open_tables
from aerobee.service.broker.statistics.request_times import RequestTimes
from aerobee.service.broker.statistics.statistics import Statistics
from aerobee.service.broker.timer.timers import Timers
from aerobee.service.live_config import ChangesFile, LiveConfig
from tests.store_kit import StoreKit
from tests.tables_kit import IDENTITY, at_once


class RowsRig:
    """What the rows are made of, over one store."""

    def __init__(self) -> None:
        kit = StoreKit()
        store, now = kit.store, kit.clock.now()
        ground = Ground(store, kit.disk, kit.worker)
        changes = ChangesFile(kit.disk, "changes", {})
        config = LiveConfig(BrokerConfig(), SETTINGS, changes, kit.worker, {})
        tables = open_tables(IDENTITY, config, ground, now)
        outbox: Effects = []
        membership = MemberLifecycle(
            tables.consumers, tables.producers, tables.locks, tables.groups, config, outbox
        )
        delay_offsets = DelayOffsets(ground.config_file("delayOffset.json"), kit.worker)
        levels_ms = store.config.delay_levels_ms
        intake = MessageWriter(store, SafeAnswers(store, lambda: 5_000), len(levels_ms))
        delays = DelayLevels(store, intake, delay_offsets, kit.worker, levels_ms, now)
        self.consumer = membership_rows(tables, store, membership, Peers())
        statistics = Statistics([], lambda topic: False, now)
        asked = (ClientCalls(outbox), statistics, at_once)
        self.admin = admin_rows(IDENTITY, tables, store, *asked, lambda topics, done: done(None))
        self.inside = (IDENTITY, tables, store, statistics)
        timers = Timers(ground, intake, config, now)
        status = BrokerStatus(lambda: 0, lambda: 0, RequestTimes(), timers, store, now)
        self.status = status.rows(config, delays, is_active=True)
        self.watched = (RequestTimes(), timers, store)


def by_code(rows: list[Row]) -> set[int]:
    assert len(request_table(rows)) == len(rows), "one handler for each"
    return {int(row.code) for row in rows}
