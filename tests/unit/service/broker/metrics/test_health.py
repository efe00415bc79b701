from aerobee.service.broker.metrics.health import QUIET_MS_MAX, Health
from tests.store_kit import SMALL_SYNC, StoreKit


class HealthKit:
    def __init__(self, *nameservers: str) -> None:
        self.kit = StoreKit(config=SMALL_SYNC)
        self.strangers = list(nameservers)
        now = self.kit.clock.now()
        self.health = Health(self.kit.store, nameservers, lambda: self.strangers, now)

    def ailments(self) -> list[str]:
        return self.health.ailments(self.kit.clock.now())

    def obstacles(self) -> list[str]:
        return self.health.obstacles(self.kit.clock.now())


def test_a_broker_that_is_called_and_can_write_is_well_and_ready() -> None:
    kit = HealthKit()
    assert kit.ailments() == []
    assert kit.obstacles() == []


def test_one_that_is_not_called_any_more_is_not_well() -> None:
    kit = HealthKit()
    kit.kit.clock.advance(QUIET_MS_MAX)
    assert kit.ailments() == []
    kit.kit.clock.advance(1)
    assert kit.ailments() == [f"the broker was not called for {QUIET_MS_MAX + 1} ms"]
    kit.health.on_tick(kit.kit.clock.now())
    assert kit.ailments() == []


def test_one_whose_disk_failed_is_not_well_and_says_why() -> None:
    kit = HealthKit()
    kit.kit.disk.faults.fail_sync("*commitlog*")
    kit.kit.append_many(1)
    kit.kit.settle()
    kit.health.on_tick(kit.kit.clock.now())
    (ailment,) = kit.ailments()
    assert ailment.startswith("the store takes no writes: ")
    assert "sync" in ailment
    assert kit.obstacles() == [ailment]


def test_one_that_no_name_server_knows_is_well_but_not_ready() -> None:
    kit = HealthKit("a:1", "b:2")
    assert kit.ailments() == []
    assert kit.obstacles() == ["no name server knows the broker: a:1, b:2"]
    assert kit.health.known_to() == 0


def test_one_name_server_is_enough() -> None:
    kit = HealthKit("a:1", "b:2")
    kit.strangers.remove("a:1")
    assert kit.obstacles() == []
    assert kit.health.known_to() == 1
