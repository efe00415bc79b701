import pytest

from aerobee.model.route import BrokerData, QueueData, TopicRoute
from aerobee.model.topic import TopicConfig
from aerobee.protocol.bodies.topic_route import encode_topic_route
from aerobee.protocol.grpc.calls import QueryAssignmentRequest, QueryRouteRequest
from aerobee.protocol.grpc.codes import AddressScheme, GrpcCode, GrpcMessageType, QueuePermission
from aerobee.protocol.grpc.resources import Address, Endpoints, Resource
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.service.proxy.route_calls import accepted_types
from tests.grpc_kit import ADDRESS, GrpcKit, typed

ORDERS = Resource("ns", "orders")
OWN = Endpoints(AddressScheme.IPV4, [Address(ADDRESS.host, ADDRESS.port)])
RW, R, W = QueuePermission.READ_WRITE, QueuePermission.READ, QueuePermission.WRITE


def test_the_route_of_an_own_topic_has_its_queues_and_our_address() -> None:
    kit = GrpcKit(typed("orders", "FIFO", queues=2))
    response = kit.call("QueryRoute", QueryRouteRequest(ORDERS))
    assert response.status.code == GrpcCode.OK
    assert [(queue.id, queue.permission) for queue in response.message_queues] == [(0, RW), (1, RW)]
    first = response.message_queues[0]
    assert first.topic == ORDERS
    assert first.accept_message_types == [GrpcMessageType.FIFO]
    assert (first.broker.name, first.broker.id, first.broker.endpoints) == ("broker-a", 0, OWN)


@pytest.mark.parametrize(
    ("reads", "writes", "permission", "expected"),
    [(3, 2, 6, [RW, RW, R]), (2, 3, 6, [RW, RW, W]), (2, 3, 4, [R, R]), (2, 1, 2, [W])],
)
def test_queues_that_are_read_and_written_come_first(
    reads: int, writes: int, permission: int, expected: list[QueuePermission]
) -> None:
    kit = GrpcKit(
        TopicConfig("orders", read_queues=reads, write_queues=writes, permission=permission)
    )
    response = kit.call("QueryRoute", QueryRouteRequest(ORDERS))
    assert [queue.permission for queue in response.message_queues] == expected


def test_a_topic_that_nobody_has_is_not_found() -> None:
    kit = GrpcKit()
    response = kit.call("QueryRoute", QueryRouteRequest(Resource("", "unknown")))
    assert response.status.code == GrpcCode.TOPIC_NOT_FOUND
    request = QueryAssignmentRequest(Resource("", "unknown"), Resource("", "g"))
    assert kit.call("QueryAssignment", request).status.code == GrpcCode.TOPIC_NOT_FOUND


def test_members_of_a_group_receive_from_any_queue_of_each_broker() -> None:
    kit = GrpcKit(typed("orders", "NORMAL", queues=3))
    request = QueryAssignmentRequest(ORDERS, Resource("", "g"))
    (one,) = kit.call("QueryAssignment", request).assignments
    assert (one.message_queue.id, one.message_queue.permission) == (-1, RW)
    assert one.message_queue.broker.endpoints == OWN


def test_an_ordered_group_is_assigned_each_queue() -> None:
    kit = GrpcKit(typed("orders", "FIFO", queues=3))
    kit.ask(200, body=b'{"groupName":"fifo","consumeMessageOrderly":true}')
    request = QueryAssignmentRequest(ORDERS, Resource("", "fifo"))
    found = kit.call("QueryAssignment", request).assignments
    assert [one.message_queue.id for one in found] == [0, 1, 2]


def test_a_topic_without_a_readable_queue_is_forbidden() -> None:
    kit = GrpcKit(TopicConfig("orders", permission=2))
    request = QueryAssignmentRequest(ORDERS, Resource("", "g"))
    assert kit.call("QueryAssignment", request).status.code == GrpcCode.FORBIDDEN


def test_brokers_that_name_servers_know_have_their_host_and_our_port() -> None:
    kit = GrpcKit(typed("orders", "NORMAL", queues=1), addresses=("n:9876",))
    call = kit.begin("QueryRoute", QueryRouteRequest(ORDERS))
    dial = next(one for one in kit.dialed if one.command.ext_fields.get("topic") == "orders")
    other = BrokerData("c", "broker-b", {0: "10.0.0.2:10911", 1: "host-b:10911"})
    route = TopicRoute((QueueData("broker-b", 1, 1, 6, 0),), (other,))
    answer = RemotingCommand(0, body=encode_topic_route(route, is_standard=True))
    kit.carry_out(kit.broker.on_answer(dial.ticket, answer, kit.clock.now()))
    (response,) = kit.responses(call)
    assert [
        (broker.name, broker.id, broker.endpoints.scheme, broker.endpoints.addresses)
        for broker in (one.broker for one in response.message_queues)
    ] == [
        ("broker-a", 0, AddressScheme.IPV4, [Address("10.0.0.1", 8081)]),
        ("broker-b", 0, AddressScheme.IPV4, [Address("10.0.0.2", 8081)]),
        ("broker-b", 1, AddressScheme.DOMAIN_NAME, [Address("host-b", 8081)]),
    ]


@pytest.mark.parametrize(
    ("attribute", "types"),
    [
        (None, [1]),
        ("NORMAL", [1]),
        ("FIFO", [2]),
        ("DELAY", [3]),
        ("TRANSACTION", [4]),
        ("PRIORITY", [6]),
        ("MIXED", [1, 2, 3, 4]),
        ("UNSPECIFIED", [0]),
    ],
)
def test_a_topics_attribute_says_what_it_accepts(attribute: str | None, types: list[int]) -> None:
    assert accepted_types(attribute) == types
