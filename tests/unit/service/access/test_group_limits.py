"""Unit tests of the limits of consumer groups."""

from aerobee.ports.service import ChannelId
from aerobee.service.access import group_limits
from aerobee.service.access.group_limits import GroupLimits
from aerobee.service.broker.statistics.flow import Flow

ONE, TWO = ChannelId(1), ChannelId(2)


class Counted:
    """A limited group `g` with one topic, whose flow a test adds to."""

    def __init__(self, requests: int = 0, size: int = 0) -> None:
        self.flows: dict[tuple[str, str], Flow] = {}
        self.limits = GroupLimits(lambda group, topic: self.flows.get((group, topic)))
        self.limits.set(requests, size)

    def ask(self, channel: ChannelId = ONE, group: str = "g", now_ms: int = 0) -> int:
        """The wait of a request of the general path, which is counted if it has none."""
        wait_ms = self.limits.wait_ms(channel, group, ("t", "retry"), now_ms)
        if not wait_ms:
            self.limits.take(group, now_ms)
        return wait_ms


def test_requests_of_the_general_path_are_counted() -> None:
    counted = Counted(requests=10)
    assert [counted.ask() for _ in range(10)] == [0] * 10
    assert counted.ask(TWO) == 101
    assert counted.ask(group="other") == 0
    assert counted.ask(now_ms=101) == 0


def test_answers_of_fast_paths_are_counted_once() -> None:
    counted = Counted(requests=10)
    flow = counted.flows["g", "t"] = Flow()
    assert counted.ask() == 0
    for _ in range(12):
        flow.add_fast(32, 4_000)
    assert not counted.limits.may_be_fast(ONE, 0)
    assert counted.limits.may_be_fast(TWO, 0)  # nobody of the group was seen there
    # Three in debt, and one to have: no more of it is taken by further looks.
    assert counted.ask() == 401
    assert not counted.limits.may_be_fast(ONE, 399)
    assert counted.limits.may_be_fast(ONE, 401)


def test_bytes_of_all_answers_are_counted_of_the_retry_topic_too() -> None:
    counted = Counted(size=1_000)
    counted.flows["g", "t"] = Flow()
    counted.flows["g", "retry"] = Flow()
    assert counted.ask() == 0
    counted.flows["g", "t"].add(1, 600)
    assert counted.ask() == 0
    counted.flows["g", "retry"].add(1, 600)
    assert counted.ask() == 202
    assert counted.ask(now_ms=202) == 0


def test_what_was_handed_out_before_the_limit_is_not_counted() -> None:
    counted = Counted()
    counted.flows["g", "t"] = Flow()
    counted.flows["g", "t"].add(1_000, 1_000_000)
    counted.limits.set(0, 1_000)
    assert counted.ask() == 0
    assert counted.limits.may_be_fast(ONE, 0)


def test_a_flow_that_begins_anew_is_counted_from_there() -> None:
    counted = Counted(size=1_000)
    counted.flows["g", "t"] = Flow()
    counted.flows["g", "t"].add(1, 900)
    assert counted.ask() == 0
    counted.flows["g", "t"] = Flow()
    assert counted.ask() == 0
    counted.flows["g", "t"].add(1, 1_500)
    assert counted.ask() == 502


def test_a_connection_of_many_groups_is_not_served_by_fast_paths() -> None:
    counted = Counted(requests=10)
    for number in range(group_limits.PAIRS_MAX):
        counted.ask(group=f"g{number}")
    assert not counted.limits.may_be_fast(ONE, 0)
    counted.limits.forget(ONE)
    assert counted.limits.may_be_fast(ONE, 0)


def test_a_limit_that_is_taken_away_is_forgotten() -> None:
    counted = Counted(requests=1)
    counted.ask()
    assert counted.ask() > 0
    counted.limits.set(0, 0)
    assert not counted.limits.is_on
    counted.limits.set(1, 0)
    assert counted.ask() == 0
