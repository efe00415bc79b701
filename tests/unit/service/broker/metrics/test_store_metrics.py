from aerobee.model.histogram import Histogram
from aerobee.service.broker.metrics.store_metrics import store_metrics
from tests.store_kit import SMALL_SYNC, StoreKit


def shown(kit: StoreKit) -> dict[str, float]:
    found = {}
    for metric in store_metrics(kit.store, kit.clock.now()):
        (sample,) = metric.samples
        assert dict(sample.labels) == {"storage_type": "local", "storage_medium": "disk"}
        value = sample.value
        found[metric.name] = value.count if isinstance(value, Histogram) else value
    return found


def test_an_empty_store_has_nothing_and_waits_for_nothing() -> None:
    found = shown(StoreKit())
    assert found["rocketmq_storage_size"] == 0
    assert found["rocketmq_storage_flush_behind_bytes"] == 0
    assert "rocketmq_storage_message_reserve_time" not in found


def test_what_is_not_on_the_disk_is_behind_until_it_is() -> None:
    kit = StoreKit(config=SMALL_SYNC)
    kit.append_many(3)
    found = shown(kit)
    assert found["rocketmq_storage_flush_behind_bytes"] == found["rocketmq_storage_size"] > 0
    # With synchronous flush nobody sees it before.
    assert found["rocketmq_storage_dispatch_behind_bytes"] == found["rocketmq_storage_size"]
    kit.settle()
    found = shown(kit)
    assert found["rocketmq_storage_flush_behind_bytes"] == 0
    assert found["rocketmq_storage_dispatch_behind_bytes"] == 0
    assert found["aerobee_storage_sync_seconds"] >= 1


def test_the_age_of_the_oldest_message_is_told_in_ms() -> None:
    kit = StoreKit()
    kit.append_many(1)
    kit.settle()
    before = shown(kit)["rocketmq_storage_message_reserve_time"]
    kit.clock.advance(5_000)
    assert shown(kit)["rocketmq_storage_message_reserve_time"] == before + 5_000


def test_a_store_that_failed_says_that_it_takes_nothing() -> None:
    kit = StoreKit(config=SMALL_SYNC)
    assert shown(kit)["aerobee_storage_refuses_writes"] == 0
    kit.disk.faults.fail_sync("*commitlog*")
    kit.append_many(1)
    kit.settle()
    assert shown(kit)["aerobee_storage_refuses_writes"] == 1
