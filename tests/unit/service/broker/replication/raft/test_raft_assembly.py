from aerobee.model.topic import TopicConfig
from tests.broker_kit import BrokerKit
from tests.member_kit import MemberGroup

ORDERS = TopicConfig("Orders", 4, 4)


def state_version(kit: BrokerKit) -> int:
    body = bytes(kit.ask(21).body)
    return int(body.partition(b'"stateVersion":')[2].partition(b"}")[0].partition(b",")[0])


def test_the_tables_of_a_leader_are_those_of_its_term() -> None:
    group = MemberGroup(3, ORDERS)
    first = group.elected()
    term = first.side.node.term
    assert state_version(first.kit) >= term
    group.run(1_000)
    group.stop(first.number)
    second = group.elected()
    assert second.side.node.term > term
    assert state_version(second.kit) > state_version(first.kit)


def test_a_broker_that_is_no_member_takes_requests_as_before() -> None:
    kit = BrokerKit(ORDERS)
    assert kit.ask(14, {"consumerGroup": "g", "topic": "Orders", "queueId": "0"}).code == 22


REGISTER, UNREGISTER = 103, 104


def test_a_leader_that_is_to_stop_leaves_the_routes_when_it_has_handed_over() -> None:
    group = MemberGroup(3, ORDERS)
    leader = group.elected()
    group.run(1_000)
    begun = len(group.told)
    leader.seat.departure.begin(group.clock.now().monotonic_ms, leads=True)
    leader.kit.tick()
    assert leader.leads
    assert leader.seat.hand_over()
    successor = group.elected(leader.number)
    group.run(10_000)
    told = [one for one in group.told[begun:] if one[1] in (REGISTER, UNREGISTER)]
    assert (successor.number, REGISTER, "0") in told
    # It lost its connection to the name server with its leadership, and registers no more.
    assert [one for one in told if one[0] == leader.number] == []


def test_a_follower_that_is_to_stop_leaves_the_routes_at_once_and_for_good() -> None:
    group = MemberGroup(3, ORDERS)
    leader = group.elected()
    follower = next(one for one in group.members if one is not leader)
    group.run(1_000)
    begun = len(group.told)
    follower.seat.departure.begin(group.clock.now().monotonic_ms, leads=False)
    group.run(20)
    assert (follower.number, UNREGISTER, str(follower.number + 1)) in group.told[begun:]
    group.run(60_000)
    follower.kit.stop()
    assert [one[1] for one in group.told[begun:] if one[0] == follower.number] == [UNREGISTER]
