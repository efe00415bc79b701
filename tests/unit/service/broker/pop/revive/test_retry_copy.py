from dataclasses import replace

from aerobee.model.flags import BORN_HOST_V6
from aerobee.model.group import GroupConfig
from aerobee.model.message import Host
from aerobee.protocol.bodies.revive_records import Checkpoint
from aerobee.service.broker.pop.revive.retry_copy import (
    Origin,
    copy_to_revive,
    origin_topic,
    place_to_revive,
)
from tests.delay_kit import message

CHECKPOINT = Checkpoint("Orders", "g", 0, 5, 1_700_000_000_000, 10_000, "b", (0,))
OF_RETRY = replace(CHECKPOINT, topic="%RETRY%g_Orders")
SUSPENDED = replace(CHECKPOINT, is_suspended=True)
GROUP = GroupConfig("g", retries_max=2)
ORIGIN = Origin(Host("127.0.0.1", 10_911), False)


def test_a_message_goes_to_the_retry_topic_of_its_group_and_topic() -> None:
    assert place_to_revive(CHECKPOINT, message(), GROUP).topic == "%RETRY%g_Orders"
    assert place_to_revive(OF_RETRY, message(), GROUP).topic == "%RETRY%g_Orders"


def test_a_message_that_was_tried_as_often_as_its_group_allows_is_a_dead_letter() -> None:
    tried = replace(message(), reconsume_times=2)
    assert place_to_revive(OF_RETRY, tried, GROUP).topic == "%DLQ%g"
    once = replace(message(), reconsume_times=1)
    assert place_to_revive(OF_RETRY, once, GROUP).topic == "%RETRY%g_Orders"
    assert place_to_revive(SUSPENDED, tried, GROUP).topic == "%RETRY%g_Orders"


def test_the_copy_was_tried_once_more_and_remembers_when_and_for_whom() -> None:
    had = replace(message(b"body", TAGS="A", KEYS="k"), reconsume_times=0, sys_flag=BORN_HOST_V6)
    copy = copy_to_revive(CHECKPOINT, had, place_to_revive(CHECKPOINT, had, GROUP), ORIGIN)
    assert (copy.topic, copy.queue_id, copy.reconsume_times) == ("%RETRY%g_Orders", 0, 1)
    assert copy.properties == {
        "TAGS": "A",
        "KEYS": "k",
        "ORIGIN_GROUP": "g",
        "1ST_POP_TIME": "1700000000000",
    }
    assert (copy.body, copy.born_timestamp) == (had.body, had.born_timestamp)
    assert (copy.born_host, copy.sys_flag) == (ORIGIN.host, 0)


def test_a_copy_keeps_the_number_of_its_queue_if_the_retry_topic_has_it() -> None:
    for queue_id, queues, expected in ((3, 4, 3), (3, 3, 0), (3, 1, 0)):
        had = message(queue_id=queue_id)
        place = place_to_revive(CHECKPOINT, had, GROUP, queues)
        assert copy_to_revive(CHECKPOINT, had, place, ORIGIN).queue_id == expected
    dead = replace(message(queue_id=3), reconsume_times=2)
    place = place_to_revive(CHECKPOINT, dead, GROUP, 4)
    copy = copy_to_revive(CHECKPOINT, dead, place, ORIGIN)
    assert (copy.topic, copy.queue_id) == ("%DLQ%g", 0)


def test_the_first_pop_stays_the_first() -> None:
    had = replace(message(), properties={"1ST_POP_TIME": "7"})
    copy = copy_to_revive(CHECKPOINT, had, place_to_revive(CHECKPOINT, had, GROUP), ORIGIN)
    assert copy.properties["1ST_POP_TIME"] == "7"


def test_a_message_that_was_suspended_was_not_tried() -> None:
    had = message()
    copy = copy_to_revive(SUSPENDED, had, place_to_revive(SUSPENDED, had, GROUP), ORIGIN)
    assert copy.reconsume_times == 0


def test_a_dead_letter_says_where_it_came_from() -> None:
    had = replace(message(topic="%RETRY%g_Orders"), reconsume_times=2)
    copy = copy_to_revive(OF_RETRY, had, place_to_revive(OF_RETRY, had, GROUP), ORIGIN)
    assert copy.topic == "%DLQ%g"
    assert copy.properties["RETRY_TOPIC"] == "Orders"
    assert copy.properties["ORIGIN_MESSAGE_ID"] == had.offset_message_id


def test_a_broker_of_ipv6_says_so() -> None:
    origin = Origin(Host("::1", 10_911), True)
    copy = copy_to_revive(
        CHECKPOINT, message(), place_to_revive(CHECKPOINT, message(), GROUP), origin
    )
    assert copy.sys_flag == BORN_HOST_V6


def test_the_topic_is_the_one_that_was_sent_to() -> None:
    assert origin_topic(CHECKPOINT) == "Orders"
    assert origin_topic(OF_RETRY) == "Orders"
