"""Unit tests of producer groups: members by connection, clients by where they are reached."""

import pytest

from aerobee.errors import RemoteProtocolError
from aerobee.ports.service import ChannelId
from aerobee.service.broker.clients.consumers import Member, MemberLimits
from aerobee.service.broker.clients.producers import Producers

C1, C2, C3 = ChannelId(1), ChannelId(2), ChannelId(3)


def member(channel: ChannelId, client_id: str = "a", beaten_ms: int = 0) -> Member:
    return Member(channel, client_id, "JAVA", 513, "10.0.0.5:1", beaten_ms, 0)


def test_a_heartbeat_makes_a_member_that_can_be_reached() -> None:
    producers = Producers()
    producers.beat("p", member(C1))
    producers.beat("p", member(C2, "b"))
    producers.beat("q", member(C1))
    assert producers.members("p") == [member(C1), member(C2, "b")]
    assert producers.members("x") == []
    assert producers.find_client("a") == C1
    assert producers.find_client("x") is None
    assert producers.all() == {"p": [member(C1), member(C2, "b")], "q": [member(C1)]}


def test_a_client_is_reached_until_its_last_membership_ends() -> None:
    producers = Producers()
    producers.beat("p", member(C1))
    producers.beat("q", member(C1))
    assert producers.unregister("p", C1) == member(C1)
    assert producers.unregister("p", C1) is None
    assert producers.find_client("a") == C1
    producers.unregister("q", C1)
    assert producers.find_client("a") is None
    assert producers.all() == {}
    assert not producers.has_channel(C1)


def test_a_client_that_came_back_is_reached_on_the_newer_connection() -> None:
    producers = Producers()
    producers.beat("p", member(C1))
    producers.beat("p", member(C2))
    producers.beat("p", member(C1))
    assert producers.find_client("a") == C2
    assert producers.drop_channel(C1) == ["p"]
    assert producers.find_client("a") == C2


def test_a_connection_that_changes_its_client_leaves_nothing_of_the_old_one() -> None:
    producers = Producers()
    producers.beat("p", member(C1, "a"))
    producers.beat("q", member(C1, "a"))
    producers.beat("p", member(C1, "b"))
    assert producers.find_client("a") == C1  # it still is, for q
    producers.beat("q", member(C1, "b"))
    assert producers.find_client("a") is None
    producers.beat("q", member(C1, "c"))
    producers.unregister("q", C1)
    assert producers.find_client("c") is None
    assert producers.find_client("b") == C1


def test_a_closed_connection_ends_all_its_memberships() -> None:
    producers = Producers()
    producers.beat("q", member(C1))
    producers.beat("p", member(C1))
    producers.beat("p", member(C2, "b"))
    assert producers.drop_channel(C1) == ["p", "q"]
    assert producers.drop_channel(C1) == []
    assert producers.all() == {"p": [member(C2, "b")]}
    assert producers.find_client("a") is None


def test_members_are_silent_when_their_last_heartbeat_is_too_old() -> None:
    producers = Producers()
    producers.beat("p", member(C1, beaten_ms=0))
    producers.beat("p", member(C2, beaten_ms=1))
    assert producers.find_silent(100, 100) == []
    assert producers.find_silent(101, 100) == [("p", member(C1, beaten_ms=0))]


def test_members_and_memberships_are_bounded() -> None:
    producers = Producers(MemberLimits(members_max=2, groups_max=2))
    producers.beat("p", member(C1))
    producers.beat("p", member(C2))
    with pytest.raises(RemoteProtocolError, match="2 members"):
        producers.beat("p", member(C3, "c"))
    producers.beat("q", member(C1))
    with pytest.raises(RemoteProtocolError, match="2 groups"):
        producers.beat("r", member(C1))
    assert producers.find_client("c") is None
    assert not producers.has_channel(C3)
    assert "r" not in producers.all()
    producers.beat("p", member(C1))  # those that are there go on


def test_members_of_all_groups_are_bounded_together() -> None:
    producers = Producers(MemberLimits(memberships_max=2))
    producers.beat("p", member(C1))
    producers.beat("q", member(C2))
    with pytest.raises(RemoteProtocolError, match="2 members in all"):
        producers.beat("r", member(C3))
    producers.beat("p", member(C1))
    producers.drop_channel(C1)
    producers.beat("r", member(C3))
    with pytest.raises(RemoteProtocolError, match="2 members in all"):
        producers.beat("p", member(C1))
