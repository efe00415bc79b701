from aerobee.ports.service import Effects
from aerobee.service.broker.config import SETTINGS, BrokerConfig
from aerobee.service.broker.delay.delay_offsets import DelayOffsets
from aerobee.service.broker.delay.levels import DelayLevels
from aerobee.service.broker.intake import Intake
from aerobee.service.broker.membership import Membership
from aerobee.service.broker.parked.client_calls import ClientCalls
from aerobee.service.broker.peers import Peers
from aerobee.service.broker.queue_facts import QueueFacts
from aerobee.service.broker.request_table import Lane, Right, Row, request_table
from aerobee.service.broker.rows import Status, admin_rows, consumer_rows, status_rows
from aerobee.service.broker.tables import Ground, open_tables
from aerobee.service.broker.throughput import Throughput
from aerobee.service.live_config import ChangesFile, LiveConfig
from tests.store_kit import StoreKit
from tests.tables_kit import IDENTITY


class Rig:
    """What the rows are made of, over one store."""

    def __init__(self) -> None:
        kit = StoreKit()
        store, now = kit.store, kit.clock.now()
        ground = Ground(store, kit.disk, kit.worker)
        changes = ChangesFile(kit.disk, "changes", {})
        config = LiveConfig(BrokerConfig(), SETTINGS, changes, kit.worker, {})
        tables = open_tables(IDENTITY, config, ground, now)
        outbox: Effects = []
        queues, calls = QueueFacts(store), ClientCalls(outbox)
        membership = Membership(
            tables.consumers, tables.producers, tables.locks, tables.groups, config, outbox
        )
        delay_offsets = DelayOffsets(ground.config_file("delayOffset.json"), kit.worker)
        levels_ms = store.config.delay_levels_ms
        intake = Intake(store, store.config.flush_mode, len(levels_ms))
        delays = DelayLevels(store, intake, delay_offsets, kit.worker, levels_ms, now)
        flow = Throughput(lambda: 0, now)
        self.consumer = consumer_rows(tables, queues, membership, Peers())
        self.admin = admin_rows(IDENTITY, tables, store, queues, calls)
        self.status = status_rows(config, store, Status(delays, delay_offsets, flow, flow, now))


def by_code(rows: list[Row]) -> set[int]:
    assert len(request_table(rows)) == len(rows), "one handler for each"
    return {int(row.code) for row in rows}


def test_consumers_are_served() -> None:
    assert by_code(Rig().consumer) >= {14, 15, 29, 30, 31, 32, 34, 35, 38, 41, 42, 46, 203, 328}


def test_tools_are_served() -> None:
    wanted = {12, 17, 21, 33, 200, 201, 202, 207, 208, 215, 222, 223, 225, 300, 303}
    wanted |= {305, 307, 309, 314, 317, 343, 345, 351, 352}
    assert by_code(Rig().admin) >= wanted


def test_status_is_served() -> None:
    assert by_code(Rig().status) == {25, 26, 28, 45}


def test_no_request_is_served_twice_and_none_that_is_a_send_or_a_pull() -> None:
    rig = Rig()
    codes = by_code([*rig.consumer, *rig.admin, *rig.status])
    assert codes.isdisjoint({10, 310, 320, 324, 325, 36, 11, 361})


def test_what_clients_say_of_themselves_is_never_held_back_and_tools_need_a_right() -> None:
    rig = Rig()
    lanes = {row.code: row.lane for row in rig.consumer}
    assert lanes[34] is lanes[15] is lanes[41] is Lane.CLIENT  # type: ignore[index]
    for row in (*rig.admin, *rig.status):
        if row.right is Right.NONE:
            raise AssertionError(f"{row.code.name} is open to everybody")
