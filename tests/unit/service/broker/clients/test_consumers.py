"""Unit tests of consumer groups: members by connection, subscriptions by group."""

import logging

import pytest

from aerobee.errors import RemoteProtocolError
from aerobee.model.subscription import ConsumeFrom, ConsumeType, MessageModel, Subscription
from aerobee.ports.service import ChannelId
from aerobee.protocol.bodies.heartbeat import ConsumerBeat
from aerobee.protocol.bodies.subscription import make_subscription
from aerobee.service.broker.clients.consumers import ConsumerGroup, Consumers, Member, MemberLimits

C1, C2, C3 = ChannelId(1), ChannelId(2), ChannelId(3)
ORDERS = make_subscription("Orders", "*", 1)
BILLS = make_subscription("Bills", "*", 1)


def member(channel: ChannelId, client_id: str = "", beaten_ms: int = 0) -> Member:
    return Member(channel, client_id or f"c{channel}", "JAVA", 513, "10.0.0.5:1", beaten_ms, 0)


def beat(group: str = "g", *subscriptions: Subscription) -> ConsumerBeat:
    return ConsumerBeat(group, subscriptions=subscriptions or (ORDERS,))


def found(consumers: Consumers, group: str = "g") -> ConsumerGroup:
    known = consumers.find(group)
    assert known is not None
    return known


def said_manner(said: ConsumerBeat) -> tuple[ConsumeType, MessageModel]:
    return said.consume_type, said.message_model


def test_a_heartbeat_makes_a_member_and_says_how_the_group_consumes() -> None:
    consumers = Consumers()
    assert consumers.find("g") is None
    said = ConsumerBeat(
        "g",
        ConsumeType.ACTIVELY,
        MessageModel.BROADCASTING,
        ConsumeFrom.TIMESTAMP,
        (ORDERS,),
    )
    assert consumers.beat(said, member(C1))
    group = found(consumers)
    assert group.members == {C1: member(C1)}
    assert group.subscriptions == {"Orders": ORDERS}
    assert (group.consume_type, group.message_model) == said_manner(said)
    assert group.is_broadcasting
    assert group.consume_from is ConsumeFrom.TIMESTAMP
    consumers.beat(beat(), member(C1))
    assert (group.consume_type, group.message_model) == said_manner(beat())
    assert consumers.all() == [group]


def test_the_others_are_told_of_a_new_member_and_of_new_topics_only() -> None:
    consumers = Consumers()
    assert consumers.beat(beat(), member(C1))
    assert not consumers.beat(beat(), member(C1, beaten_ms=5))
    assert consumers.beat(beat(), member(C2))
    assert consumers.beat(beat("g", ORDERS, BILLS), member(C1))
    assert not consumers.beat(beat("g", BILLS, ORDERS), member(C2))
    assert consumers.beat(beat("g", BILLS), member(C2))
    assert not consumers.beat(beat("g", make_subscription("Bills", "x", 9)), member(C2))
    assert consumers.beat(beat("g", BILLS), member(C2, "another client"))


def test_of_two_subscriptions_the_later_counts() -> None:
    consumers = Consumers()
    later = make_subscription("Orders", "b", 7)
    consumers.beat(beat("g", make_subscription("Orders", "a", 5)), member(C1))
    consumers.beat(beat("g", later), member(C2))
    consumers.beat(beat("g", make_subscription("Orders", "a", 6)), member(C1))
    assert found(consumers).subscriptions["Orders"] is later
    consumers.beat(beat("g", make_subscription("Orders", "c", 7)), member(C1))
    assert found(consumers).subscriptions["Orders"] is later


def test_a_heartbeat_without_subscriptions_leaves_them_as_they_are() -> None:
    consumers = Consumers()
    consumers.beat(beat("g", ORDERS, BILLS), member(C1))
    assert not consumers.beat(ConsumerBeat("g"), member(C1), has_subscriptions=False)
    assert list(found(consumers).subscriptions) == ["Orders", "Bills"]
    assert consumers.beat(ConsumerBeat("g"), member(C1))
    assert found(consumers).subscriptions == {}


def test_a_group_is_gone_with_its_last_member() -> None:
    consumers = Consumers()
    consumers.beat(beat(), member(C1))
    consumers.beat(beat(), member(C2))
    assert consumers.unregister("g", C1) == member(C1)
    assert consumers.unregister("g", C1) is None
    assert consumers.unregister("h", C2) is None
    assert found(consumers).client_ids() == ["c2"]
    consumers.unregister("g", C2)
    assert consumers.find("g") is None
    assert not consumers.has_channel(C2)


def test_a_closed_connection_ends_all_its_memberships() -> None:
    consumers = Consumers()
    for group in ("h", "g"):
        consumers.beat(beat(group), member(C1))
    consumers.beat(beat("g"), member(C2))
    assert consumers.memberships(C1) == [("g", member(C1)), ("h", member(C1))]
    assert consumers.drop_channel(C1) == ["g", "h"]
    assert consumers.drop_channel(C1) == []
    assert consumers.find("h") is None
    assert list(found(consumers, "g").members) == [C2]


def test_a_client_with_two_connections_is_listed_once_and_reached_on_the_newer() -> None:
    consumers = Consumers()
    consumers.beat(beat(), member(C2, "a"))
    consumers.beat(beat(), member(C1, "a"))
    consumers.beat(beat(), member(C3, "b"))
    group = found(consumers)
    assert group.client_ids() == ["a", "b"]
    assert consumers.client_channel("g", "a") == C2
    assert consumers.client_channel("g", "x") is None
    assert consumers.client_channel("h", "a") is None
    consumers.unregister("g", C2)
    assert group.has_client("a")
    consumers.unregister("g", C1)
    assert not group.has_client("a")


def test_members_are_silent_when_their_last_heartbeat_is_too_old() -> None:
    consumers = Consumers()
    consumers.beat(beat("g"), member(C1, beaten_ms=0))
    consumers.beat(beat("g"), member(C2, beaten_ms=1))
    consumers.beat(beat("h"), member(C1, beaten_ms=50))
    assert consumers.find_silent(100, 100) == []
    assert consumers.find_silent(101, 100) == [("g", member(C1, beaten_ms=0))]


def test_the_groups_of_a_topic_are_those_that_subscribe_to_it() -> None:
    consumers = Consumers()
    consumers.beat(beat("h", ORDERS, BILLS), member(C1))
    consumers.beat(beat("g"), member(C1))
    assert consumers.groups_of("Orders") == ["g", "h"]
    assert consumers.groups_of("Bills") == ["h"]
    assert consumers.groups_of("Other") == []


def test_members_and_memberships_are_bounded() -> None:
    consumers = Consumers(MemberLimits(members_max=2, groups_max=2))
    consumers.beat(beat("g"), member(C1))
    consumers.beat(beat("g"), member(C2))
    with pytest.raises(RemoteProtocolError, match="2 members"):
        consumers.beat(beat("g"), member(C3))
    consumers.beat(beat("h"), member(C1))
    with pytest.raises(RemoteProtocolError, match="2 groups"):
        consumers.beat(beat("i"), member(C1))
    assert consumers.find("i") is None
    assert not consumers.has_channel(C3)
    consumers.beat(beat("g"), member(C1))  # those that are there go on


def test_members_of_all_groups_are_bounded_together() -> None:
    consumers = Consumers(MemberLimits(memberships_max=2))
    consumers.beat(beat("g"), member(C1))
    consumers.beat(beat("h"), member(C2))
    with pytest.raises(RemoteProtocolError, match="2 members in all"):
        consumers.beat(beat("i"), member(C3))
    assert consumers.find("i") is None
    consumers.beat(beat("g"), member(C1))
    consumers.unregister("g", C1)
    consumers.beat(beat("i"), member(C3))
    with pytest.raises(RemoteProtocolError, match="2 members in all"):
        consumers.beat(beat("g"), member(C1))


def test_subscriptions_and_tags_of_all_groups_are_bounded_together() -> None:
    consumers = Consumers(MemberLimits(subscriptions_max=4))
    tagged = make_subscription("Orders", "a||b", 1)
    consumers.beat(beat("g", tagged), member(C1))
    consumers.beat(beat("g", tagged), member(C1))  # the same again is no more
    with pytest.raises(RemoteProtocolError, match="4 subscriptions and tags"):
        consumers.beat(beat("h", ORDERS, BILLS), member(C2))
    assert consumers.find("h") is None
    with pytest.raises(RemoteProtocolError, match="4 subscriptions and tags"):
        consumers.beat(beat("g", make_subscription("Orders", "a||b||c||d", 2)), member(C1))
    assert found(consumers).subscriptions == {"Orders": tagged}
    consumers.beat(beat("h", BILLS), member(C2))
    consumers.unregister("g", C1)
    consumers.beat(beat("h", ORDERS, BILLS), member(C2))
    consumers.beat(beat("h", BILLS), member(C2))
    consumers.beat(beat("g", tagged), member(C1))


def test_members_that_subscribe_to_different_things_are_found_until_they_agree(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    consumers = Consumers()
    consumers.beat(beat("g", make_subscription("Orders", "a", 1)), member(C1))
    consumers.beat(beat("h", ORDERS), member(C1))
    consumers.beat(beat("g", make_subscription("Orders", "a", 2)), member(C2))
    assert consumers.mismatches() == []
    consumers.beat(beat("g", make_subscription("Orders", "b", 3)), member(C2))
    assert consumers.mismatches() == [found(consumers)]
    assert found(consumers).said_differently() == {"Orders": {"TAG: a": ["c1"], "TAG: b": ["c2"]}}
    for _ in range(3):
        consumers.tell_mismatches()
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert caplog.records[0].__dict__["said"] == found(consumers).said_differently()
    consumers.unregister("g", C2)
    consumers.tell_mismatches()
    assert consumers.mismatches() == []
    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]


def test_a_heartbeat_without_subscriptions_does_not_change_what_its_member_said() -> None:
    consumers = Consumers()
    consumers.beat(beat("g", make_subscription("Orders", "a", 1)), member(C1))
    consumers.beat(beat("g", make_subscription("Orders", "b", 2)), member(C2))
    consumers.beat(beat("g", BILLS), member(C2), has_subscriptions=False)
    consumers.beat(beat("g", BILLS), member(C3), has_subscriptions=False)
    assert found(consumers).said_differently() == {"Orders": {"TAG: a": ["c1"], "TAG: b": ["c2"]}}


def test_views_beyond_the_bound_are_not_compared() -> None:
    consumers = Consumers(MemberLimits(subscriptions_max=10))
    long = [make_subscription("Orders", "x" * 900, 1, "SQL92"), ORDERS]
    for number, said in enumerate(long * 3):
        consumers.beat(beat(f"g{number}", said), member(C1))
        consumers.unregister(f"g{number}", C1)
    consumers.beat(beat("g", long[0]), member(C1))
    with pytest.raises(RemoteProtocolError, match="subscriptions"):
        consumers.beat(beat("h", long[0]), member(C2))
    consumers.beat(beat("g", long[1]), member(C2))
    assert len(consumers.mismatches()) == 1
    consumers.beat(beat("g", make_subscription("Orders", "z", 1)), member(C3))
    assert len(found(consumers).said_differently()["Orders"]) == 2
