import pytest

from aerobee.model.topic import TopicConfig
from aerobee.service.broker.state.topic_entry import TopicEntry


def kinds(entry: TopicEntry) -> set[int]:
    """The kinds of sends that the short way takes."""
    return {kind for kind in range(8) if entry.kinds >> kind & 1}


def test_an_ordinary_topic_is_plain() -> None:
    entry = TopicEntry(TopicConfig("T", read_queues=4, write_queues=3))
    assert kinds(entry) == {0, 2, 3, 4, 5, 6, 7}
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
    assert kinds(TopicEntry(config)) == set()


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ("UNSPECIFIED", {0, 2, 3, 4, 5, 6, 7}),
        ("MIXED", {0, 2, 3, 4, 5, 6, 7}),
        ("DELAY", {2, 4, 5, 6}),
        ("TRANSACTION", {3}),
        ("PRIORITY", {7}),
        ("NORMAL", set()),
        ("FIFO", set()),
        ("what nobody knows", set()),
    ],
)
def test_a_topic_of_one_type_takes_that(wanted: str, expected: set[int]) -> None:
    attributes = {"message.type": wanted}
    assert kinds(TopicEntry(TopicConfig("T", attributes=attributes))) == expected
    more = {**attributes, "cleanup.policy": "DELETE"}
    assert kinds(TopicEntry(TopicConfig("T", attributes=more))) == set()


def test_every_queue_has_its_turn() -> None:
    entry = TopicEntry(TopicConfig("T", write_queues=3))
    assert sorted(entry.next_queue() for _ in range(6)) == [0, 0, 1, 1, 2, 2]


def test_one_queue_is_always_chosen() -> None:
    entry = TopicEntry(TopicConfig("T", write_queues=1))
    assert {entry.next_queue() for _ in range(3)} == {0}
