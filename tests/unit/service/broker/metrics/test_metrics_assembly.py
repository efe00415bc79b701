from dataclasses import replace

import pytest

from aerobee.model.topic import TopicConfig
from aerobee.service.broker.config import SETTINGS, BrokerConfig
from aerobee.service.broker.metrics.metrics_assembly import MetricsAssembly
from aerobee.service.broker.state.tables import Ground, open_tables
from aerobee.service.live_config import ChangesFile, LiveConfig
from tests.broker_kit import IDENTITY, STORAGE, BrokerKit
from tests.send_rig import send_frame
from tests.store_kit import StoreKit, draft, properties

HOUR = 3_600_000


def test_a_tick_keeps_the_broker_well_and_the_counts_in_time() -> None:
    kit = BrokerKit(TopicConfig("Orders", read_queues=1, write_queues=1))
    kit.send_frames(send_frame({"e": "0"}))
    kit.run(3 * HOUR, 60_000)
    watch = kit.broker.watch
    assert watch.ailments(kit.clock.now()) == []
    late = kit.clock.advance(HOUR)
    assert watch.ailments(late) == [f"the broker was not called for {HOUR} ms"]


def test_what_was_there_before_is_not_counted() -> None:
    kit = BrokerKit(TopicConfig("Orders", read_queues=1, write_queues=1))
    kit.send_frames(send_frame({"e": "0"}) * 3)
    after = kit.killed()
    text = "".join(
        f"{metric.name} {[sample.value for sample in metric.samples]}\n"
        for metric in after.broker.watch.metrics(after.clock.now())
    )
    assert "rocketmq_messages_in_total []\n" in text


def test_the_systems_topics_are_told_apart() -> None:
    kit = StoreKit()
    now, changes = kit.clock.now(), ChangesFile(kit.disk, "changes", {})
    config = LiveConfig(BrokerConfig(), SETTINGS, changes, kit.worker, {})
    tables = open_tables(IDENTITY, config, Ground(kit.store, kit.disk, kit.worker), now)
    watching = MetricsAssembly(IDENTITY, config, tables, kit.store, now)
    system = watching.statistics.flow_of("g", "RMQ_SYS_TRANS_HALF_TOPIC")
    system.add(2, 200)
    watching.statistics.flow_of("g", "Orders").add(3, 300)
    view = watching.statistics.view("BROKER_GET_NUMS_WITHOUT_SYSTEM_TOPIC", "c", now)
    assert view is not None
    assert view.minute.sum == 3


def test_why_the_log_cannot_be_cleaned_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    storage = replace(STORAGE, log_file_bytes=1 << 13, compaction_interval_ms=1000)
    topic = TopicConfig("Prices", 1, 1, attributes={"cleanup.policy": "COMPACTION"})
    kit = BrokerKit(topic, storage=storage)
    for name in (b"Prices", *[b"Filler"] * 20):
        message = draft(name, 0, bytes(900), properties(KEYS="k"))
        kit.store.append(message, kit.clock.now().wall_ms)
    for number in range(1, 10):
        kit.disk.faults.fail_sync("*.new", number)
    kit.run(60_000)
    assert [record.getMessage()[:37] for record in caplog.records] == [
        "the log cannot be cleaned: queue 0 of"
    ]
    (stuck,) = [
        metric.samples
        for metric in kit.broker.watch.metrics(kit.clock.now())
        if metric.name == "aerobee_storage_compaction_stuck"
    ]
    assert [sample.value for sample in stuck] == [1]
