"""A name server that is watched: what it knows, and when it is not well or not ready."""

from aerobee.model.topic import TopicConfig
from aerobee.service.nameserver.config import NameServerConfig
from aerobee.service.nameserver.nameserver_watch import QUIET_MS_MAX
from tests.nameserver_kit import CLIENT, NameServerKit


def numbers(kit: NameServerKit) -> dict[str, object]:
    return {
        metric.name: next(iter(metric.samples)).value
        for metric in kit.service.watch.metrics(kit.clock.now())
    }


def test_what_it_knows_is_shown() -> None:
    kit = NameServerKit()
    topics = (TopicConfig("Orders"), TopicConfig("Trades"))
    kit.register(*topics)
    kit.register(*topics, name="broker-b", address="10.0.0.2:10911", channel=CLIENT)
    assert numbers(kit) == {
        "aerobee_nameserver_brokers": 2,
        "aerobee_nameserver_topics": 2,
        "aerobee_limited_total": 0,
    }
    assert kit.service.watch.labels == {"node_type": "nameserver"}


def test_one_that_is_not_called_is_not_well_and_not_ready() -> None:
    kit = NameServerKit()
    kit.pass_time(60_000)
    watch = kit.service.watch
    assert watch.ailments(kit.clock.now()) == watch.obstacles(kit.clock.now()) == []
    quiet_ms = NameServerConfig().scan_interval_ms + QUIET_MS_MAX
    assert watch.ailments(kit.clock.advance(quiet_ms)) == []
    late = kit.clock.advance(1)
    assert watch.ailments(late) == [f"the name server was not called for {quiet_ms + 1} ms"]
    assert watch.obstacles(late) == watch.ailments(late)


def test_one_that_holds_routes_back_is_well_and_not_ready() -> None:
    kit = NameServerKit(NameServerConfig(waits_for_brokers=True, wait_ms=10_000))
    kit.pass_time(4_000)
    watch = kit.service.watch
    assert watch.ailments(kit.clock.now()) == []
    (obstacle,) = watch.obstacles(kit.clock.now())
    assert "another 6000 ms" in obstacle
    kit.pass_time(6_000)
    assert watch.obstacles(kit.clock.now()) == []
