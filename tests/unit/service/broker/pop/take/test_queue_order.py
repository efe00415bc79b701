from collections import Counter

import pytest

from aerobee.service.broker.pop.take.queue_order import RETRY_FIRST_EVERY, QueueOrder

TURNS = range(1_000)


def test_queues_without_priorities_take_turns_and_one_pop_in_five_begins_with_retries() -> None:
    order = QueueOrder(3)
    assert [order.in_turn(3, turn) for turn in range(3)] == [[0, 1, 2], [1, 2, 0], [2, 0, 1]]
    assert sum(map(order.is_retry_first, TURNS)) == len(TURNS) // RETRY_FIRST_EVERY
    assert not any(map(order.is_by_priority, TURNS))


def test_the_last_queue_has_the_highest_priority_or_the_first_one_has() -> None:
    for turn in TURNS:
        assert QueueOrder(3, 1, 100).in_turn(3, turn) == [2, 1, 0]
        assert QueueOrder(3, 1, 100, is_rising=False).in_turn(3, turn) == [0, 1, 2]


@pytest.mark.parametrize("percent", [0, 1, 30, 99, 100])
def test_a_priority_factor_is_the_percentage_of_pops_that_go_by_priority(percent: int) -> None:
    order = QueueOrder(4, 1, percent)
    assert sum(map(order.is_by_priority, TURNS)) == len(TURNS) * percent // 100


@pytest.mark.parametrize("queues", [1, 4, 5, 100, 101])
@pytest.mark.parametrize("percent", [0, 1, 50, 80, 99])
def test_the_other_pops_begin_with_every_queue(percent: int, queues: int) -> None:
    order = QueueOrder(queues, 1, percent)
    others = [turn for turn in range(200_000) if not order.is_by_priority(turn)]
    firsts = Counter(order.in_turn(queues, turn)[0] for turn in others[:2_000])
    assert len(firsts) == queues
    assert max(firsts.values()) < 2 * len(others[:2_000]) / queues + 10


def test_pops_by_priority_are_spread_over_the_others() -> None:
    order = QueueOrder(4, 1, 50)
    kinds = [order.is_by_priority(turn) for turn in TURNS]
    longest = max(len(run) for run in "".join("x" if one else " " for one in kinds).split())
    assert longest <= 3


@pytest.mark.parametrize("percent", [0, 25, 100])
def test_retries_come_first_in_a_percentage_of_pops_by_priority(percent: int) -> None:
    order = QueueOrder(4, 4, 100, True, percent)
    assert sum(map(order.is_retry_first, TURNS)) == len(TURNS) * percent // 100
