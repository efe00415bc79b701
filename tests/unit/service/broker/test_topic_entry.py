import pytest

from aerobee.model.topic import TopicConfig
from aerobee.service.broker.topic_entry import TopicEntry


def test_an_ordinary_topic_is_plain() -> None:
    entry = TopicEntry(TopicConfig("T", read_queues=4, write_queues=3))
    assert entry.is_plain
    assert (entry.name, entry.write_queues, entry.queues_end) == (b"T", 3, 4)


@pytest.mark.parametrize(
    "config",
    [
        TopicConfig("T", permission=4),
        TopicConfig("T", write_queues=0),
        TopicConfig("T", filter_type="MULTI_TAG"),
        TopicConfig("T", attributes={"queue.type": "BatchCQ"}),
        TopicConfig("T", is_order=True),
        TopicConfig("%RETRY%g"),
        TopicConfig("SCHEDULE_TOPIC_XXXX"),
        TopicConfig("rmq_sys_REVIVE_LOG_c"),
        TopicConfig("%DLQ%" + "g" * 123),
    ],
)
def test_a_topic_that_wants_more_is_not_plain(config: TopicConfig) -> None:
    assert not TopicEntry(config).is_plain


def test_every_queue_has_its_turn() -> None:
    entry = TopicEntry(TopicConfig("T", write_queues=3))
    assert sorted(entry.next_queue() for _ in range(6)) == [0, 0, 1, 1, 2, 2]


def test_one_queue_is_always_chosen() -> None:
    entry = TopicEntry(TopicConfig("T", write_queues=1))
    assert {entry.next_queue() for _ in range(3)} == {0}
