import pytest

from aerobee.model.group import GroupConfig
from aerobee.model.topic import UNIT_SUBSCRIPTION
from aerobee.service.broker.log_access.retry_destination import (
    RetryPlace,
    dead_letter_place,
    place_to_return,
    times_allowed,
)

GROUP = GroupConfig("buyers", retry_queues=2, retries_max=16)


@pytest.mark.parametrize(("times", "level"), [(0, 3), (1, 4), (15, 18), (-4, 3)])
def test_each_retry_waits_longer_than_the_one_before(times: int, level: int) -> None:
    assert place_to_return(GROUP, times, 16, 0) == RetryPlace("%RETRY%buyers", 2, level)


def test_a_consumer_may_name_the_level() -> None:
    assert place_to_return(GROUP, 5, 16, 1) == RetryPlace("%RETRY%buyers", 2, 1)


@pytest.mark.parametrize(("times", "level"), [(16, 0), (17, 3), (0, -1)])
def test_what_is_not_to_be_tried_again_is_a_dead_letter(times: int, level: int) -> None:
    assert place_to_return(GROUP, times, 16, level) == RetryPlace("%DLQ%buyers", 1, 0)
    assert dead_letter_place("buyers") == RetryPlace("%DLQ%buyers", 1, 0)


@pytest.mark.parametrize(
    ("wanted", "version", "allowed"),
    [(2, 513, 2), (0, 121, 0), (2, 120, 16), (None, 513, 16), (-1, 513, 16)],
)
def test_clients_say_how_often_if_they_are_new_enough(
    wanted: int | None, version: int, allowed: int
) -> None:
    assert times_allowed(GROUP, wanted, version) == allowed


def test_the_topics_are_made_for_reading_and_writing() -> None:
    retries = place_to_return(GROUP, 0, 16, 0).topic_config()
    assert (retries.read_queues, retries.write_queues, retries.permission) == (2, 2, 6)
    letters = dead_letter_place("buyers").topic_config(is_unit=True)
    assert (letters.read_queues, letters.write_queues, letters.permission) == (1, 1, 6)
    assert (retries.sys_flag, letters.sys_flag) == (0, 0)


def test_the_retry_topic_of_a_group_in_units_says_so() -> None:
    made = place_to_return(GROUP, 0, 16, 0).topic_config(is_unit=True)
    assert made.sys_flag == UNIT_SUBSCRIPTION
