from aerobee.model.route import BrokerData, QueueData, TopicRoute
from aerobee.ports.clock import Now
from aerobee.ports.service import Dial, Effects
from aerobee.protocol.bodies.topic_route import encode_topic_route
from aerobee.protocol.grpc.group_queues import queue_of_group
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.service.gateway.queue_turns import QueueTurns
from aerobee.service.proxy.desk import QueuePlace
from aerobee.service.topic_routes import TopicRoutes


def turns_in(*queues: QueueData, masters: str = "ab") -> QueueTurns:
    """Queues of brokers of which only some have a master."""
    brokers = tuple(BrokerData("c", name, {0 if name in masters else 1: "x:1"}) for name in "ab")
    outbox: Effects = []
    routes = TopicRoutes(("ns:1",), outbox)
    routes.find("t", Now(0, 0), lambda route: None)
    (dial,) = outbox
    assert isinstance(dial, Dial)
    body = encode_topic_route(TopicRoute(queues, brokers), is_standard=True)
    routes.on_answer(dial.ticket, RemotingCommand(0, body=body), Now(0, 0))
    return QueueTurns(routes)


A, B = QueueData("a", 2, 2, 6, 0), QueueData("b", 1, 1, 6, 0)


def test_messages_go_to_the_writable_queues_of_all_masters_in_turn() -> None:
    turns = turns_in(B, A)
    chosen = {turns.queue_of("t", "") for _ in range(3)}
    assert chosen == {QueuePlace("a", 0), QueuePlace("a", 1), QueuePlace("b", 0)}
    alone = turns_in(A, B, masters="b")
    assert {alone.queue_of("t", "") for _ in range(3)} == {QueuePlace("b", 0)}
    assert turns_in(A._replace(permission=4)).queue_of("t", "") is None
    assert turns.queue_of("unknown", "") is None


def test_a_message_group_keeps_its_queue_whatever_order_routes_have() -> None:
    places = [QueuePlace("a", 0), QueuePlace("a", 1), QueuePlace("b", 0)]
    for group in ("x", "y", "z"):
        expected = places[queue_of_group(group, 3)]
        assert turns_in(B, A).queue_of("t", group) == expected
        assert turns_in(A, B).queue_of("t", group) == expected


def test_the_wanted_broker_is_received_from_if_it_serves_and_else_another() -> None:
    assert turns_in(A, B).broker_of("t", "b") == "b"
    assert turns_in(A, B, masters="a").broker_of("t", "b") == "a"
    assert turns_in(A, B._replace(permission=2)).broker_of("t", "b") == "a"
    assert turns_in(A, B).broker_of("t", "") in ("a", "b")
    assert turns_in(A, masters="").broker_of("t", "a") == ""
