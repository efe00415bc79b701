import pytest

from aerobee.client.core.consume.process_queue import FlowLimits, ProcessQueue
from aerobee.errors import Misuse
from tests.received_kit import received


def test_what_may_be_committed_is_the_smallest_that_is_not_settled() -> None:
    in_hand = ProcessQueue(5, FlowLimits())
    assert in_hand.commit_offset() == 5
    messages = received(5, 6, 8, 9)
    in_hand.put([*messages], 12)
    in_hand.settle(messages[1])
    in_hand.settle(messages[2])
    assert in_hand.commit_offset() == 5
    in_hand.settle(messages[0])
    assert in_hand.commit_offset() == 9
    in_hand.settle(messages[3])
    assert in_hand.commit_offset() == 12
    assert (in_hand.count, in_hand.size) == (0, 0)


def test_a_pull_that_found_nothing_wanted_goes_on() -> None:
    in_hand = ProcessQueue(5, FlowLimits())
    in_hand.put([], 40)
    assert in_hand.commit_offset() == 40


def test_a_message_is_settled_once() -> None:
    in_hand = ProcessQueue(0, FlowLimits())
    messages = received(0, 1)
    in_hand.put([*messages], 2)
    assert in_hand.settle(messages[0])
    assert not in_hand.settle(messages[0])
    assert in_hand.count == 1
    assert in_hand.unsettled() == [messages[1]]


def test_many_are_settled_together_and_each_of_them_once() -> None:
    in_hand = ProcessQueue(5, FlowLimits())
    messages = received(5, 6, 8, 9)
    in_hand.put([*messages], 12)
    in_hand.settle(messages[1])
    assert in_hand.settle_all([messages[3], messages[1]]) == [messages[3]]
    assert (in_hand.commit_offset(), in_hand.count) == (5, 2)
    assert in_hand.settle_all([*messages]) == [messages[0], messages[2]]
    assert (in_hand.commit_offset(), in_hand.count, in_hand.size) == (12, 0, 0)
    assert in_hand.settle_all([]) == []


@pytest.mark.parametrize(
    "limits",
    [
        FlowLimits(count_max=3),
        FlowLimits(bytes_max=received(0)[0].size * 3),
        FlowLimits(span_max=9),
    ],
)
def test_each_limit_stops_the_pulling_by_itself(limits: FlowLimits) -> None:
    in_hand = ProcessQueue(0, limits)
    messages = received(0, 1, 9)
    in_hand.put([*messages[:2]], 2)
    assert not in_hand.is_full()
    in_hand.put([*messages[2:]], 10)
    assert in_hand.is_full()
    in_hand.settle(messages[0])
    assert not in_hand.is_full()


def test_a_limit_that_nothing_fits_is_refused() -> None:
    with pytest.raises(Misuse):
        FlowLimits(count_max=0)
