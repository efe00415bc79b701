import pytest

from aerobee.model.topic import TopicConfig
from aerobee.service.broker.request_table import Lane
from aerobee.storage.config import StorageConfig
from tests.broker_kit import STORAGE, SYNC, BrokerKit
from tests.rows_rig import RowsRig
from tests.send_rig import send_frame
from tests.store_kit import draft

ORDERS = TopicConfig("Orders", 4, 4)


def queues(kit: BrokerKit) -> set[bytes]:
    return {queue.topic for queue in kit.store.queues()}


def append(kit: BrokerKit, *topics: bytes) -> None:
    for topic in topics:
        kit.store.append(draft(topic), kit.clock.now().wall_ms)
    kit.finish()


def empty(kit: BrokerKit, topic: bytes, queue_id: int = 0) -> None:
    """Its messages are gone, as after their time; the queue is still there."""
    queue = kit.store.queue(topic, queue_id)
    assert queue is not None
    queue.hide_below(kit.store.end_offset)


@pytest.mark.parametrize("storage", [STORAGE, SYNC], ids=["async", "sync"])
def test_a_topic_with_messages_is_never_removed_known_or_not(storage: StorageConfig) -> None:
    kit = BrokerKit(ORDERS, storage=storage)
    append(kit, b"Orders", b"Lost", b"SCHEDULE_TOPIC_XXXX", b"%LMQ%q")
    before = queues(kit)
    answer = kit.ask(316)
    assert answer.code == 0
    assert "kept those of 1 unknown topics with messages (Lost)" in answer.remark
    kit.run(3_000)
    assert queues(kit) == before
    kit.make_topic(TopicConfig("Lost", 1, 1))
    assert len(kit.messages("Lost")) == 1


def test_a_message_that_cannot_be_read_yet_counts() -> None:
    kit = BrokerKit(storage=SYNC)
    append(kit, b"Lost")
    empty(kit, b"Lost")
    kit.store.append(draft(b"Lost"), kit.clock.now().wall_ms)
    kit.tell(316)
    (answer,) = kit.heard()
    assert "kept those of 1" in answer.remark


def without_topics(kit: BrokerKit) -> BrokerKit:
    """Another process on the same store, whose table of topics got lost."""
    kit.stop()
    for name in ("topics.json", "topics.json.bak"):
        if kit.disk.exists(f"store/config/{name}"):
            kit.disk.remove(f"store/config/{name}")
    return BrokerKit(disk=kit.disk, storage=kit.store.config, clock=kit.clock)


def test_who_lost_the_table_of_topics_does_not_lose_the_messages_by_cleaning_up() -> None:
    kit = BrokerKit(ORDERS)
    append(kit, b"Orders")
    after = without_topics(kit)
    assert "kept those of 1" in after.ask(316).remark
    after.make_topic(ORDERS)
    assert len(after.messages()) == 1


def test_queues_of_unknown_topics_go_when_nothing_is_in_them() -> None:
    before = BrokerKit(TopicConfig("Gone", 1, 1))
    append(before, b"Gone", b"rmq_sys_x")
    before.beat(group="g", subscriptions={"Gone": "*"})
    fields = {"consumerGroup": "g", "topic": "Gone", "queueId": "0", "commitOffset": "1"}
    assert before.ask(15, fields).code == 0
    kit = without_topics(before)
    assert b"Gone@g" in bytes(kit.ask(43).body)
    for topic in (b"Gone", b"rmq_sys_x"):
        empty(kit, topic)
    answer = kit.ask(316)
    assert answer.remark == "removed the queues of 1 unknown topics without messages"
    kit.run(3_000)
    assert queues(kit) == {b"rmq_sys_x"}
    assert b"Gone@g" not in bytes(kit.ask(43).body)


@pytest.mark.parametrize("emptied", [0, 1])
def test_one_queue_with_a_message_keeps_all_of_its_topic(emptied: int) -> None:
    kit = BrokerKit()
    for queue_id in (0, 1):
        kit.store.append(draft(b"Lost", queue_id), kit.clock.now().wall_ms)
    kit.finish()
    empty(kit, b"Lost", emptied)
    assert "removed the queues of 0" in kit.ask(316).remark
    kit.run(3_000)
    assert queues(kit) == {b"Lost"}


def test_a_topic_that_was_kept_can_be_deleted_by_name() -> None:
    kit = BrokerKit()
    append(kit, b"Lost")
    assert kit.ask(215, {"topic": "Lost"}).code == 0
    kit.run(3_000)
    assert queues(kit) == set()


def test_only_some_names_are_shown() -> None:
    kit = BrokerKit()
    append(kit, *[b"Lost%02d" % number for number in range(12)])
    remark = kit.ask(316).remark
    assert "12 unknown topics" in remark
    assert "Lost09 and 2 more" in remark
    assert "Lost10" not in remark


def test_what_has_expired_goes_by_itself_and_the_answer_says_so() -> None:
    kit = BrokerKit(ORDERS)
    kit.send_frames(send_frame({"e": "0"}))
    kit.heard()
    for code in (306, 329):
        answer = kit.ask(code)
        assert answer.code == 0
        assert answer.remark.startswith("nothing to do")
    assert len(kit.messages()) == 1


def test_cleaning_is_for_administrators() -> None:
    rows = [row for row in RowsRig().admin if row.code in (306, 316, 329)]
    assert {row.lane for row in rows} == {Lane.ADMIN}
    assert len(rows) == 3
