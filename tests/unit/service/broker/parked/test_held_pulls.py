"""Unit tests of held pulls: who waits, who is woken, and how many may."""

import pytest

from aerobee.ports.service import ChannelId
from aerobee.protocol.command_header import CommandHeader
from aerobee.service.broker.parked.held_pulls import HeldPull, HeldPullLimits, HeldPulls

QUEUE = (b"orders", 0)
OTHER = (b"orders", 1)


def pull(
    channel: int = 1,
    *,
    queue: tuple[bytes, int] = QUEUE,
    group: str = "g",
    deadline_ms: int = 1000,
    opaque: int = 0,
) -> HeldPull:
    request = CommandHeader(11, opaque=opaque)
    return HeldPull(ChannelId(channel), request, group, queue, 5, 32, None, deadline_ms)


def test_a_message_wakes_the_pulls_of_its_queue_and_no_others() -> None:
    pulls = HeldPulls()
    here, there = pull(1), pull(2, queue=OTHER)
    assert pulls.hold(here)
    assert pulls.hold(there)
    assert pulls.take_for(QUEUE) == [here]
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


def test_a_client_that_asks_again_has_given_the_older_pull_up() -> None:
    pulls = HeldPulls()
    pulls.hold(pull(opaque=1, deadline_ms=1000))
    newer = pull(opaque=2, deadline_ms=3000)
    pulls.hold(newer)
    assert pulls.count == 1
    assert pulls.take_due(1000) == []
    assert pulls.take_for(QUEUE) == [newer]


def test_two_groups_of_one_connection_wait_beside_each_other() -> None:
    pulls = HeldPulls()
    pulls.hold(pull(group="a"))
    pulls.hold(pull(group="b"))
    assert len(pulls.take_for(QUEUE)) == 2


def test_a_closed_connection_leaves_nothing_behind() -> None:
    pulls = HeldPulls()
    pulls.hold(pull(1))
    pulls.hold(pull(1, queue=OTHER))
    stays = pull(2)
    pulls.hold(stays)
    pulls.drop_channel(ChannelId(1))
    pulls.drop_channel(ChannelId(9))
    assert pulls.count == 1
    assert pulls.take_for(OTHER) == []
    assert pulls.take_for(QUEUE) == [stays]


@pytest.mark.parametrize(
    ("limits", "first", "second"),
    [
        (HeldPullLimits(per_queue=1), pull(1), pull(2)),
        (HeldPullLimits(per_channel=1), pull(1), pull(1, queue=OTHER)),
        (HeldPullLimits(total=1), pull(1), pull(2, queue=OTHER)),
    ],
)
def test_beyond_a_limit_a_pull_is_not_held(
    limits: HeldPullLimits, first: HeldPull, second: HeldPull
) -> None:
    pulls = HeldPulls(limits)
    assert pulls.hold(first)
    assert not pulls.hold(second)
    assert pulls.count == 1
    assert pulls.take_for(first.queue) == [first]
    assert pulls.hold(second)
