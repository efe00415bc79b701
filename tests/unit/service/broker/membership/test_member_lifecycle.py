"""Unit tests of members that come and go: who is told, which connections and locks end."""

from aerobee.model.group import GroupConfig
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.model.subscription import MessageModel
from aerobee.protocol.bodies.heartbeat import Heartbeat
from aerobee.protocol.bodies.subscription import make_subscription
from aerobee.service.broker.config import BrokerConfig
from tests.consumer_kit import ORDERS, ConsumerKit, channel_of

QUEUE = MessageQueue("Orders", "broker-a", QueueId(0))


def test_all_members_are_told_when_one_comes() -> None:
    kit = ConsumerKit()
    kit.beat("a")
    assert kit.news("a") == {"a": ["g"]}
    kit.beat("b")
    assert kit.news("a", "b") == {"a": ["g"], "b": ["g"]}
    kit.beat("b")
    assert kit.news("a", "b") == {"a": [], "b": []}


def test_all_members_are_told_when_topics_change() -> None:
    kit = ConsumerKit()
    kit.beat("a")
    kit.beat("b")
    kit.news("a", "b")
    kit.beat("b", subscriptions=(ORDERS, make_subscription("Bills")))
    assert kit.news("a", "b") == {"a": ["g"], "b": ["g"]}


def test_those_that_stay_are_told_when_one_says_goodbye() -> None:
    kit = ConsumerKit()
    for client in "abc":
        kit.beat(client)
    kit.news("a", "b", "c")
    kit.membership.leave_consumer("g", channel_of("b"))
    assert kit.news("a", "b", "c") == {"a": ["g"], "b": [], "c": ["g"]}
    kit.membership.leave_consumer("g", channel_of("b"))
    assert not kit.outbox


def test_those_that_stay_are_told_at_once_when_a_connection_closes() -> None:
    kit = ConsumerKit()
    for client in "ab":
        kit.beat(client, "g")
        kit.beat(client, "h")
    kit.news("a", "b")
    kit.close("b")
    assert kit.news("a", "b") == {"a": ["g", "h"], "b": []}
    kit.close("a")
    assert not kit.outbox
    assert kit.consumers.all() == []


def test_members_that_broadcast_are_told_nothing() -> None:
    kit = ConsumerKit()
    kit.beat("a", model=MessageModel.BROADCASTING)
    kit.beat("b", model=MessageModel.BROADCASTING)
    kit.close("b")
    assert not kit.outbox


def test_nobody_is_told_where_that_is_switched_off() -> None:
    kit = ConsumerKit(BrokerConfig(notifies_changes=False))
    kit.beat("a")
    assert not kit.outbox
    kit.change(notifyConsumerIdsChangedEnable="true")
    kit.beat("b")
    assert kit.news("a", "b") == {"a": ["g"], "b": ["g"]}
    kit.groups.put([GroupConfig("g", notifies_changes=False)], kit.clock.now(), kit.told.append)
    kit.finish()
    kit.close("b")
    assert not kit.outbox


def test_the_locks_of_a_member_are_free_when_its_connection_closes() -> None:
    kit = ConsumerKit()
    kit.beat("a")
    kit.beat("b")
    now_ms = kit.clock.now().monotonic_ms
    kit.locks.lock("g", "a", [QUEUE], now_ms)
    kit.close("b")
    assert kit.locks.lock("g", "b", [QUEUE], now_ms) == []
    kit.close("a")
    assert kit.locks.lock("g", "b", [QUEUE], now_ms) == [QUEUE]


def test_a_client_that_is_back_on_another_connection_keeps_its_locks() -> None:
    kit = ConsumerKit()
    kit.beat("a", client_id="client")
    kit.locks.lock("g", "client", [QUEUE], 0)
    kit.beat("b", client_id="client")
    kit.close("a")
    assert kit.locks.lock("g", "other", [QUEUE], 1) == []
    kit.close("b")
    assert kit.locks.lock("g", "other", [QUEUE], 1) == [QUEUE]


def test_a_client_that_falls_silent_is_removed_and_its_connection_closed() -> None:
    kit = ConsumerKit(BrokerConfig(client_ms_max=60_000))
    kit.beat("a")
    kit.beat_as("p", Heartbeat("p", ("makers",)))
    kit.pass_time(30_000)
    kit.beat("b")
    kit.news("a", "b")
    kit.pass_time(30_000)
    assert kit.closed() == []
    kit.pass_time(10_000)
    assert kit.closed() == [channel_of("p"), channel_of("a")]
    assert kit.news("a", "b") == {"a": [], "b": ["g"]}
    assert kit.producers.members("makers") == []
    assert [group.client_ids() for group in kit.consumers.all()] == [["b"]]


def test_a_client_that_gave_up_one_group_in_silence_keeps_its_connection() -> None:
    kit = ConsumerKit(BrokerConfig(client_ms_max=60_000))
    kit.beat("a", "g")
    kit.beat("a", "h")
    kit.beat_as("p", Heartbeat("p", ("makers", "others")))
    for _ in range(3):
        kit.pass_time(30_000)
        kit.beat("a", "h")
        kit.beat_as("p", Heartbeat("p", ("makers",)))
    kit.pass_time(1)
    assert kit.closed() == []
    assert [group.name for group in kit.consumers.all()] == ["h"]
    assert list(kit.producers.all()) == ["makers"]


def test_locks_that_expired_are_forgotten_in_time() -> None:
    kit = ConsumerKit()
    kit.pass_time(0)
    kit.locks.lock("g", "a", [QUEUE], kit.clock.now().monotonic_ms)
    kit.pass_time(61_001)
    assert not kit.locks.is_any_held("g", 0)
