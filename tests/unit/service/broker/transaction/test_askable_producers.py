from collections import Counter

from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId
from aerobee.service.broker.clients.consumers import Member
from aerobee.service.broker.clients.producers import Producers
from aerobee.service.broker.transaction.askable_producers import AskableProducers


def member(channel: int) -> Member:
    return Member(ChannelId(channel), f"c{channel}", "JAVA", 513, "10.0.0.1:1", 0, 0)


def with_members(*channels: int, a_second: int = 3) -> tuple[AskableProducers, Producers]:
    producers = Producers()
    for channel in channels:
        producers.beat("g", member(channel))
    askable = AskableProducers(producers, a_second)
    askable.look(Now(0, 10_000))
    return askable, producers


def test_members_of_a_group_are_asked_by_turns() -> None:
    askable, _ = with_members(1, 2, 3, a_second=100)
    assert Counter(askable.take("g") for _ in range(30)) == {1: 10, 2: 10, 3: 10}


def test_nobody_is_asked_in_a_group_without_members() -> None:
    askable, _ = with_members()
    assert askable.take("g") is None


def test_a_connection_is_asked_so_often_a_second_in_all_its_groups() -> None:
    askable, producers = with_members(1)
    producers.beat("h", member(1))
    assert [askable.take(group) for group in "ghg"] == [1, 1, 1]
    assert askable.take("g") is None
    askable.look(Now(0, 10_999))
    assert askable.take("h") is None
    askable.look(Now(0, 11_000))
    assert askable.take("h") == 1


def test_who_came_or_went_is_seen_at_the_next_look() -> None:
    askable, producers = with_members(1)
    producers.drop_channel(ChannelId(1))
    producers.beat("g", member(2))
    askable.look(Now(0, 10_005))
    assert askable.take("g") == 2
