import re

import pytest

from aerobee.errors import Misuse
from aerobee.model import names


@pytest.mark.parametrize("name", ["orders", "%RETRY%billing", "a|b_c-d%9", "T" * 127])
def test_a_name_of_allowed_characters_has_no_fault(name: str) -> None:
    assert names.find_topic_fault(name) is None
    names.check_topic(name)


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("", "blank"),
        ("  ", "blank"),
        ("a/b", "'/'"),
        ("../../etc/passwd", "'.'"),
        ("a b", "' '"),
        ("a\x00b", "x00"),
        ("a\n", "n'"),
        ("订单", "'订'"),
        ("billing+orders", "'+'"),
        ("T" * 128, "128 characters, at most 127"),
    ],
)
def test_a_bad_topic_name_is_told_what_is_wrong_with_it(name: str, fault: str) -> None:
    with pytest.raises(Misuse, match=re.escape(fault)):
        names.check_topic(name)


def test_derived_topics_may_be_longer_because_they_hold_a_group_name() -> None:
    assert names.find_topic_fault("%RETRY%" + "g" * 248) is None
    assert names.find_topic_fault("%DLQ%" + "g" * 250) is None
    assert names.find_topic_fault("%RETRY%" + "g" * 249) is not None
    assert names.find_topic_fault("%LMQ%" + "g" * 123) is not None


def test_a_group_name_has_at_most_120_characters() -> None:
    names.check_group("g" * 120)
    with pytest.raises(Misuse, match="group name has 121 characters"):
        names.check_group("g" * 121)
    with pytest.raises(Misuse, match="group name is blank"):
        names.check_group("")


@pytest.mark.parametrize(
    "name",
    ["TBW102", "SCHEDULE_TOPIC_XXXX", "rmq_sys_anything", "c1", "b1", "c1_REPLY_TOPIC"],
)
def test_the_systems_own_topics_are_known(name: str) -> None:
    assert names.is_system_topic(name, cluster="c1", broker="b1")


def test_a_topic_named_like_another_cluster_is_the_users() -> None:
    assert not names.is_system_topic("c2", cluster="c1", broker="b1")
    assert not names.is_system_topic("RMQ_SYS_MINE", cluster="c1", broker="b1")


def test_every_topic_that_clients_may_not_send_to_is_a_system_topic() -> None:
    assert names.UNSENDABLE_TOPICS < names.SYSTEM_TOPICS


def test_system_groups_are_known_by_name_and_by_prefix() -> None:
    assert names.is_system_group("TOOLS_CONSUMER")
    assert names.is_system_group("CID_RMQ_SYS_REVIVE_GROUP")
    assert not names.is_system_group("billing")


def test_derived_names() -> None:
    assert names.retry_topic("g") == "%RETRY%g"
    assert names.dead_letter_topic("g") == "%DLQ%g"
    assert names.pop_retry_topic("g", "t") == "%RETRY%g_t"
    assert names.reply_topic("DefaultCluster") == "DefaultCluster_REPLY_TOPIC"
    assert names.revive_topic("DefaultCluster") == "rmq_sys_REVIVE_LOG_DefaultCluster"
    assert names.is_retry_topic(names.retry_topic("g"))
    assert not names.is_retry_topic(names.dead_letter_topic("g"))
    assert names.is_dead_letter_topic(names.dead_letter_topic("g"))


def test_a_name_that_is_no_text_is_told_so() -> None:
    for check, fault in (
        (names.check_topic, "a topic's name is text, not None"),
        (names.check_group, "a group's name is text, not None"),
    ):
        with pytest.raises(Misuse, match=fault):
            check(None)  # type: ignore[arg-type]
