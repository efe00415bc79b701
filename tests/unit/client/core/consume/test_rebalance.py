from aerobee.client.core.consume.allocation import Averagely
from aerobee.client.core.consume.rebalance import TopicShare, change, wanted_queues
from aerobee.model.message_queue import MessageQueue, QueueId

ONE, TWO = (MessageQueue("T", "b", QueueId(number)) for number in range(2))
OTHER = MessageQueue("U", "b", QueueId(0))


def test_what_changes_hands_is_what_differs() -> None:
    moved = change([ONE], frozenset({TWO}))
    assert (set(moved.lost), set(moved.gained)) == ({ONE}, {TWO})
    assert change([ONE], frozenset({ONE})).is_none


def test_a_topic_that_cannot_be_told_is_kept_and_one_that_is_not_wanted_is_not() -> None:
    assert wanted_queues("a", {"T": None}, [ONE, OTHER], Averagely()) == {ONE}


def test_queues_are_shared_with_the_members_there_are() -> None:
    share = TopicShare((TWO, ONE), ("b", "a"))
    assert wanted_queues("a", {"T": share}, [TWO], Averagely()) == {ONE}
    assert wanted_queues("c", {"T": share}, [TWO], Averagely()) == set()


def test_where_nobody_shares_everyone_has_all() -> None:
    assert wanted_queues("a", {"T": TopicShare((ONE, TWO), None)}, [], Averagely()) == {ONE, TWO}
