from dataclasses import replace

from aerobee.model.group import GroupConfig


def test_a_new_group_consumes_retries_sixteen_times_and_is_told_of_changes() -> None:
    group = GroupConfig("g")
    assert (group.is_enabled, group.may_broadcast, group.is_orderly) == (True, True, False)
    assert (group.retry_queues, group.retries_max, group.retry_policy) == (
        1,
        16,
        {"type": "CUSTOMIZED"},
    )
    assert group.notifies_changes
    assert (group.broker_id, group.slow_broker_id) == (0, 1)


def test_groups_are_equal_when_everything_about_them_is() -> None:
    assert GroupConfig("g") == GroupConfig("g")
    assert GroupConfig("g") != replace(GroupConfig("g"), retry_policy={"type": "EXPONENTIAL"})
    assert GroupConfig("g") != replace(GroupConfig("g"), subscriptions=())
