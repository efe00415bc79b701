import pytest

from aerobee.client.admin.admin import Admin
from aerobee.client.admin.brokers import ROCKSDB, RuntimeInfo
from aerobee.errors import RemoteAnswer
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.testing import Cluster
from tests.admin_kit import put, with_admin


def test_a_broker_says_how_it_is_doing() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        await admin.topics.create("orders", queues=1)
        await put(cluster.client, MessageQueue("orders", "broker-a", QueueId(0)), b"x")
        runtime = await admin.brokers.runtime()
        assert list(runtime) == ["broker-a", "broker-b"]
        first = runtime["broker-a"]
        assert (first.version, first.log_start) == ("V5_5_0", 0)
        assert first.log_end > 0
        assert first.started_ms > 1_700_000_000_000
        assert 0 <= first.disk_used_ratio <= 1
        assert first.earliest_ms >= first.started_ms

    with_admin(test, brokers=2)


def test_figures_that_are_not_there_are_nothing() -> None:
    empty = RuntimeInfo({})
    assert (empty.version, empty.started_ms, empty.sends_a_second) == ("", 0, 0.0)
    old = RuntimeInfo({"getTransferedTps": "3.5 2.0 1.0", "putTps": "odd"})
    assert (old.receives_a_second, old.sends_a_second) == (3.5, 0.0)
    odd = RuntimeInfo({"getTransferedTps": "NaN 2.0 1.0", "putTps": "Infinity 1.0"})
    assert (odd.receives_a_second, odd.sends_a_second) == (0.0, 0.0)


def test_settings_are_shown_and_changed_or_refused_by_name() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        assert await admin.brokers.set_config({"autoCreateTopicEnable": "false"}) == ["broker-a"]
        config = (await admin.brokers.config())["broker-a"]
        assert config["autoCreateTopicEnable"] == "false"
        with pytest.raises(RemoteAnswer, match="storePathRootDir"):
            await admin.brokers.set_config({"storePathRootDir": "/"})

    with_admin(test)


def test_producers_are_sent_away_from_a_broker_and_back() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        await admin.topics.create("orders")
        (count,) = (await admin.brokers.forbid_writes("broker-a")).values()
        assert count > 0
        (queues,) = (await admin.topics.route("orders")).queues
        assert queues.permission == 4
        await admin.brokers.allow_writes("broker-a")
        (queues,) = (await admin.topics.route("orders")).queues
        assert queues.permission == 6

    with_admin(test)


def test_of_a_new_broker_nothing_waits() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        assert await admin.brokers.delay_offsets() == {"broker-a": {}}
        assert await admin.brokers.waiting_for_a_time() == {"broker-a": {}}

    with_admin(test)


def test_a_figure_that_was_never_counted_is_none() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        assert await admin.brokers.stats("TOPIC_PUT_NUMS", "nothing") == {"broker-a": None}
        await admin.topics.create("orders", queues=1)
        await put(cluster.client, MessageQueue("orders", "broker-a", QueueId(0)), b"x")
        counted = (await admin.brokers.stats("TOPIC_PUT_NUMS", "orders"))["broker-a"]
        assert counted is not None

    with_admin(test)


def test_cleaning_up_says_what_was_done() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        for clean in (
            admin.brokers.clean_unused_topics,
            admin.brokers.clean_expired_queues,
            admin.brokers.delete_expired_log,
        ):
            assert (await clean(on="broker-a"))["broker-a"]

    with_admin(test)


def test_a_broker_without_these_says_why() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        assert await admin.tuning.cold_limits() == {"broker-a": {}}
        cold = await admin.tuning.cold_state()
        assert cold == {"broker-a": {"runtimeTable": {}, "configTable": {}}}
        (light,) = (await admin.tuning.light_state()).values()
        assert isinstance(light, dict)
        assert light["currentLmqNum"] == 0
        for asked, said in (
            (admin.tuning.set_cold_limit("g", 1), "no limits per group"),
            (admin.tuning.remove_cold_limit("g"), "no limits per group"),
            (admin.tuning.set_read_ahead(is_on=True), "no mode to set"),
            (admin.tuning.switch_timer_engine(ROCKSDB), "one engine"),
        ):
            with pytest.raises(RemoteAnswer, match=said):
                await asked

    with_admin(test)
