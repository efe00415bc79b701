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
