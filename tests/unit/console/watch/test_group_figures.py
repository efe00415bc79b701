from collections.abc import Mapping

from aerobee.client.admin.groups import GroupProgress
from aerobee.console.watch.group_figures import (
    GroupAnswers,
    GroupState,
    consumed_by_topic,
    groups_by_topic,
)
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.protocol.bodies.consume_stats import ConsumeProgress

QUEUE = MessageQueue("orders", "broker-a", QueueId(0))
OTHER = MessageQueue("orders", "broker-a", QueueId(1))
RETRY = MessageQueue("%RETRY%billing", "broker-a", QueueId(0))


def progress(queues: Mapping[MessageQueue, tuple[int, int]]) -> dict[str, GroupProgress]:
    """Of one group, by queue: its end, and the group's offset."""
    found = {queue: ConsumeProgress(end, at, at, 0) for queue, (end, at) in queues.items()}
    return {"billing": GroupProgress("billing", found, 0.0)}


def state(
    seconds: float,
    before: GroupState | None,
    *told: Mapping[str, GroupProgress],
    watched: tuple[str, ...] = (),
) -> GroupState:
    answers = GroupAnswers(watched)
    for one in told:
        answers.take(one)
    return answers.states(seconds, {"billing": before} if before is not None else {})["billing"]


def test_a_group_has_its_lag_its_retries_and_what_it_consumed_by_topic() -> None:
    first = state(0.0, None, progress({QUEUE: (100, 40), RETRY: (5, 2)}))
    assert (first.lag, first.retry, first.topics, first.consumed) == (60, 3, 1, None)
    second = state(2.0, first, progress({QUEUE: (100, 60), RETRY: (5, 2)}))
    assert second.consumed == 10.0
    assert (second.lag_in("orders"), second.lag_in("payments")) == (40, 0)
    assert consumed_by_topic([second, first])["orders"] == 10.0
    assert "payments" not in consumed_by_topic([second])
    moved_back = state(3.0, second, progress({QUEUE: (100, 0), RETRY: (5, 2)}))
    assert moved_back.consumed == 0.0


def test_a_queue_that_is_new_has_not_moved() -> None:
    first = state(0.0, None, progress({QUEUE: (100, 40)}))
    second = state(1.0, first, progress({QUEUE: (100, 43), OTHER: (900, 800)}))
    assert second.consumed == 3.0
    third = state(2.0, second, progress({OTHER: (900, 805)}))
    assert third.consumed == 5.0


def test_answers_of_several_brokers_are_one_group() -> None:
    on_b = MessageQueue("orders", "broker-b", QueueId(0))
    first = state(0.0, None, progress({QUEUE: (3, 0)}), progress({on_b: (4, 0)}))
    assert (first.lag, first.topics) == (7, 1)
    second = state(1.0, first, progress({QUEUE: (3, 1)}), progress({on_b: (4, 4)}))
    assert (second.lag, second.consumed) == (2, 5.0)


def test_each_queue_is_kept_only_of_groups_that_somebody_looks_at() -> None:
    told = progress({QUEUE: (100, 40), OTHER: (0, 1)})
    assert state(0.0, None, told).lags == {}
    assert state(0.0, None, told, watched=("billing",)).lags == {QUEUE: 60, OTHER: 0}


def test_groups_of_a_topic_are_counted_once_each() -> None:
    first = state(0.0, None, progress({QUEUE: (100, 40), OTHER: (5, 2), RETRY: (5, 2)}))
    second = state(0.0, None, progress({QUEUE: (100, 40)}))
    assert groups_by_topic([first, second]) == {"orders": 2, "%RETRY%billing": 1}
