import pytest

from aerobee.errors import CorruptFile
from aerobee.service.broker.pop.take.order_info import OrderInfo
from aerobee.service.broker.pop.take.order_info_table import KEPT_MS, OrderInfoTable
from aerobee.service.broker.pop.take.pop_offsets import PopKey
from aerobee.sim.clock import SimClock
from aerobee.sim.disk import SimDisk
from aerobee.sim.disk_worker import SimDiskWorker
from aerobee.storage.metadata.config_file import ConfigFile

PATH = "config/consumerOrderInfo.json"
KEY = ("g", "Orders", 0)


class Rig:
    def __init__(self, disk: SimDisk | None = None) -> None:
        self.disk = disk or SimDisk()
        self.worker = SimDiskWorker()
        self.clock = SimClock()
        self.gone: set[PopKey] = set()
        self.orders = OrderInfoTable(
            ConfigFile(self.disk, PATH),
            self.worker,
            5_000,
            lambda *key: key not in self.gone,
            self.clock.now(),
        )

    def pop(self, *offsets: int, key: PopKey = KEY, attempt_id: str = "a") -> OrderInfo:
        wall_ms = self.clock.now().wall_ms
        return self.orders.popped(
            key, OrderInfo(list(offsets), wall_ms, 10_000, attempt_id, consumed_ms=wall_ms)
        )

    def save(self) -> None:
        self.orders.saving.on_tick(self.clock.advance(5_000))
        self.worker.run_all()
        self.worker.collect()

    def is_blocked(self) -> bool:
        return self.orders.is_blocked(KEY, "b", self.clock.now().wall_ms)


def test_a_queue_is_blocked_until_its_messages_are_acknowledged_or_visible() -> None:
    rig = Rig()
    assert not rig.is_blocked()
    had = rig.pop(5, 6)
    assert rig.is_blocked()
    assert rig.orders.ack(KEY, 5, had.pop_time) == 6
    assert rig.is_blocked()
    assert rig.orders.ack(KEY, 6, had.pop_time) == 7
    assert not rig.is_blocked()


def test_an_acknowledgement_of_another_pop_changes_nothing() -> None:
    rig = Rig()
    had = rig.pop(5)
    assert rig.orders.ack(KEY, 5, had.pop_time + 1) == -1
    assert rig.orders.ack(KEY, 7, had.pop_time) is None
    assert rig.is_blocked()


def test_an_acknowledgement_for_a_queue_that_nobody_knows_of_counts() -> None:
    assert Rig().orders.ack(KEY, 5, 1) == 6


def test_who_waits_hears_when_a_queue_becomes_free() -> None:
    rig = Rig()
    had = rig.pop(5)
    wall_ms = rig.clock.now().wall_ms
    rig.orders.show_at(KEY, 5, had.pop_time, wall_ms + 30_000)
    assert rig.orders.take_free(wall_ms + 10_000) == []
    assert rig.orders.ms_to_free(wall_ms + 10_000) == 20_000
    assert rig.orders.take_free(wall_ms + 30_000) == [KEY]
    assert rig.orders.take_free(wall_ms + 40_000) == []
    assert rig.orders.ms_to_free(wall_ms) is None


def test_a_queue_becomes_free_earlier_when_the_message_hidden_longest_is_acknowledged() -> None:
    rig = Rig()
    had = rig.pop(5, 6)
    wall_ms = rig.clock.now().wall_ms
    rig.orders.show_at(KEY, 5, had.pop_time, wall_ms + 3_000)
    rig.orders.ack(KEY, 6, had.pop_time)
    assert rig.orders.take_free(wall_ms + 3_000) == [KEY]


def test_it_is_all_there_after_a_stop_and_a_restart() -> None:
    rig = Rig()
    had = rig.pop(5, 6)
    rig.orders.ack(KEY, 5, had.pop_time)
    rig.orders.saving.close(rig.clock.now())
    after = Rig(rig.disk)
    assert after.orders.find(KEY) == had
    assert after.is_blocked()
    assert after.orders.take_free(had.pop_time + 10_000) == [KEY]


def test_it_is_saved_every_few_seconds_if_anything_changed() -> None:
    rig = Rig()
    rig.save()
    assert not rig.disk.exists(PATH)
    rig.pop(5)
    rig.save()
    assert Rig(rig.disk.power_cut()).orders.find(KEY) is not None


def test_a_save_that_fails_is_tried_again() -> None:
    rig = Rig()
    rig.pop(5)
    rig.disk.capacity_bytes = rig.disk.used_bytes()
    rig.save()
    assert not rig.disk.exists(PATH)
    rig.disk.capacity_bytes = 1 << 40
    rig.save()
    assert Rig(rig.disk.power_cut()).orders.find(KEY) is not None


def test_what_nobody_can_want_is_forgotten_at_a_save() -> None:
    rig = Rig()
    rig.pop(5)
    rig.pop(5, key=("g", "Gone", 0))
    rig.gone.add(("g", "Gone", 0))
    rig.save()
    assert rig.orders.find(KEY) is not None
    assert rig.orders.find(("g", "Gone", 0)) is None
    rig.clock.advance(KEPT_MS)
    rig.pop(5, key=("g", "Other", 0))
    rig.save()
    assert rig.orders.find(KEY) is None


def test_a_file_that_says_nonsense_is_refused_by_name() -> None:
    disk = SimDisk()
    ConfigFile(disk, PATH).store({"table": {"T@g": {0: {"o": "x"}}}})
    with pytest.raises(CorruptFile, match="consumerOrderInfo"):
        Rig(disk)


def test_a_file_of_apache_without_any_is_read() -> None:
    disk = SimDisk()
    ConfigFile(disk, PATH).store(
        {"orderInfoCount": 0, "orderedConsumptionLevel": "QUEUE", "table": {}}
    )
    assert Rig(disk).orders.find(KEY) is None


def test_messages_that_are_gone_or_were_stored_after_the_pop_are_forgotten() -> None:
    rig = Rig()
    had = rig.pop(5, 6)
    kept = {6: had.pop_time, 7: had.pop_time - 1}
    for stored_ms in (-1, had.pop_time + 1):
        rig.orders.forget_gone(lambda topic, queue_id, offset, ms=stored_ms: ms)  # type: ignore[misc]
        assert rig.orders.find(KEY) is None
        rig.pop(5, 6)
    rig.orders.forget_gone(lambda topic, queue_id, offset: kept[offset])
    assert rig.orders.find(KEY) is not None


def test_a_topic_that_was_deleted_blocks_nobody() -> None:
    rig = Rig()
    other = ("g", "Bills", 0)
    rig.pop(5, 6)
    rig.pop(5, 6, key=other)
    rig.save()
    rig.orders.forget_topic("Orders")
    assert not rig.is_blocked()
    assert rig.orders.find(KEY) is None
    assert rig.orders.find(other) is not None
    rig.save()
    again = Rig(rig.disk)
    assert (again.orders.find(KEY), again.orders.find(other) is not None) == (None, True)
