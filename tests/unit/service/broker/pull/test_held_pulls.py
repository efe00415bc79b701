"""Held pulls: who waits, who is woken, and how many may."""

import pytest

from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.service.broker.pull.held_pulls import HeldPull, HeldPullLimits, HeldPulls, PullPlan
from aerobee.service.request import Request

QUEUE = (b"orders", 0)
OTHER = (b"orders", 1)


def pull(
    channel: int = 1, *, queue: tuple[bytes, int] = QUEUE, deadline_ms: int = 1000
) -> HeldPull:
    request = Request(ChannelId(channel), RemotingCommand(11), Now(0, 0), [])
    return HeldPull(request, PullPlan(queue, 5, 32, None), deadline_ms)


def test_a_message_wakes_the_pulls_of_its_queue_and_no_others() -> None:
    pulls = HeldPulls()
    here, there = pull(1), pull(2, queue=OTHER)
    assert pulls.hold(here)
    assert pulls.hold(there)
    assert pulls.has(QUEUE)
    assert pulls.take_for(QUEUE) == [here]
    assert not pulls.has(QUEUE)
    assert pulls.count == 1
    assert pulls.take_for(QUEUE) == []
    assert pulls.take_for(OTHER) == [there]


def test_a_pull_is_due_at_its_deadline_and_not_before() -> None:
    pulls = HeldPulls()
    late, early = pull(1, deadline_ms=2000), pull(2, deadline_ms=1000)
    pulls.hold(late)
    pulls.hold(early)
    assert pulls.take_due(999) == []
    assert pulls.take_due(1000) == [early]
    assert pulls.take_due(5000) == [late]
    assert pulls.count == 0


def test_a_woken_pull_is_not_due_again() -> None:
    pulls = HeldPulls()
    pulls.hold(pull())
    pulls.take_for(QUEUE)
    assert pulls.take_due(10_000) == []


def test_two_pulls_of_one_connection_both_wait() -> None:
    pulls = HeldPulls()
    first, second = pull(), pull()
    pulls.hold(first)
    pulls.hold(second)
    assert pulls.take_for(QUEUE) == [first, second]


def test_a_connection_that_is_gone_takes_its_pulls_along() -> None:
    pulls = HeldPulls()
    stays = pull(2)
    for one in (pull(1), pull(1, queue=OTHER), stays):
        pulls.hold(one)
    pulls.drop_channel(ChannelId(1))
    assert pulls.count == 1
    assert pulls.take_due(10_000) == [stays]
    pulls.drop_channel(ChannelId(9))


@pytest.mark.parametrize(
    ("limits", "refused"),
    [
        (HeldPullLimits(per_queue=1), pull(2)),
        (HeldPullLimits(per_channel=1), pull(1, queue=OTHER)),
        (HeldPullLimits(total=1), pull(2, queue=OTHER)),
    ],
)
def test_too_many_are_refused_and_leave_nothing_behind(
    limits: HeldPullLimits, refused: HeldPull
) -> None:
    pulls = HeldPulls(limits)
    assert pulls.hold(pull(1))
    assert not pulls.hold(refused)
    assert pulls.count == 1
    pulls.take_for(QUEUE)
    assert pulls.hold(refused)


def test_a_busy_queue_leaves_no_heap_of_old_deadlines() -> None:
    pulls = HeldPulls()
    for _ in range(5000):
        pulls.hold(pull(deadline_ms=10**9))
        pulls.take_for(QUEUE)
    assert len(pulls._deadlines) <= 1001


def test_the_tags_of_all_pulls_that_wait_are_bounded() -> None:
    def tagged(*codes: int) -> HeldPull:
        one = pull()
        return one._replace(plan=one.plan._replace(tag_codes=frozenset(codes)))

    pulls = HeldPulls(HeldPullLimits(tags=3))
    assert pulls.hold(tagged(1, 2))
    assert not pulls.hold(tagged(1, 2))
    assert pulls.hold(tagged(1))
    assert pulls.hold(pull())  # wants everything
    assert (pulls.count, pulls.tags) == (3, 3)
    pulls.take_for(QUEUE)
    assert pulls.tags == 0


def test_the_next_deadline_is_never_told_too_late() -> None:
    pulls = HeldPulls()
    assert pulls.next_due_ms() is None
    pulls.hold(pull(1, deadline_ms=2000))
    pulls.hold(pull(2, deadline_ms=1000))
    assert pulls.next_due_ms() == 1000
    pulls.take_due(1000)
    assert pulls.next_due_ms() == 2000
