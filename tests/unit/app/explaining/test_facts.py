from aerobee.app.explaining.facts import GroupFacts, MessageFacts, QueueFacts
from aerobee.model.message import Host, StoredMessage
from aerobee.model.message_queue import LogOffset, QueueId, QueueOffset
from aerobee.model.names import SCHEDULE_TOPIC, TIMER_TOPIC
from aerobee.model.subscription import MessageModel


def copy(topic: str, stored_ms: int, **properties: str) -> tuple[str, StoredMessage]:
    host = Host("10.0.0.1", 1)
    return "broker-a", StoredMessage(
        topic, QueueId(0), QueueOffset(0), LogOffset(0), b"", properties, 1, host, stored_ms, host
    )


def test_lag_is_what_is_still_there_and_never_below_nothing() -> None:
    assert QueueFacts(0, 10, 4).lag == 6
    assert QueueFacts(5, 10, 2).lag == 5
    assert QueueFacts(0, 10, -1).lag == 10
    assert QueueFacts(0, 10, 12).lag == 0


def test_copies_are_by_topic_in_the_order_in_which_they_were_stored() -> None:
    late, early = copy("T", 9), copy("T", 3)
    facts = MessageFacts("ID", "T", copies=(late, copy("U", 1), early))
    assert facts.in_topic("T") == [early, late]


def test_what_waits_for_a_topic_is_told_from_what_waits_for_another() -> None:
    timed = copy(TIMER_TOPIC, 1, REAL_TOPIC="T")
    by_level = copy(SCHEDULE_TOPIC, 5, REAL_TOPIC="T")
    other = copy(SCHEDULE_TOPIC, 7, REAL_TOPIC="%RETRY%g")
    facts = MessageFacts("ID", "T", copies=(by_level, other, timed, copy("T", 9)))
    assert facts.waiting_for("T") == [timed[1], by_level[1]]


def test_a_group_broadcasts_only_if_its_members_say_so() -> None:
    assert GroupFacts("g", 0, model=MessageModel.BROADCASTING).is_broadcasting
    assert not GroupFacts("g", 0, model=MessageModel.CLUSTERING).is_broadcasting
    assert not GroupFacts("g", 0).is_broadcasting
