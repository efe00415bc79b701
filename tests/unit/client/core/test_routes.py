import pytest

from aerobee.client.core.routes import (
    ClientRoute,
    broker_addresses,
    client_route,
    route_of_new_topic,
)
from aerobee.errors import Misuse
from aerobee.model.message_id import OffsetMessageId
from aerobee.model.message_queue import LogOffset, MessageQueue, QueueId
from aerobee.model.route import BrokerData, QueueData, TopicRoute

READ, WRITE = 4, 2


def _broker(name: str, **addresses: str) -> BrokerData:
    return BrokerData("c", name, {int(number[1:]): text for number, text in addresses.items()})


def _queues(route: ClientRoute) -> tuple[list[str], list[str]]:
    def names(queues: tuple[MessageQueue, ...]) -> list[str]:
        return [f"{queue.broker_name}{queue.queue_id}" for queue in queues]

    return names(route.writable), names(route.readable)


def test_queues_come_in_order_of_broker_and_number() -> None:
    route = client_route(
        "t",
        TopicRoute(
            (QueueData("b", 2, 1, READ | WRITE, 0), QueueData("a", 1, 2, READ | WRITE, 0)),
            (_broker("a", _0="a:1"), _broker("b", _0="b:1")),
        ),
    )
    assert _queues(route) == (["a0", "a1", "b0"], ["a0", "b0", "b1"])
    assert route.writable[0] == MessageQueue("t", "a", QueueId(0))


def test_only_a_master_with_the_right_is_written_to() -> None:
    route = client_route(
        "t",
        TopicRoute(
            (QueueData("a", 1, 1, READ, 0), QueueData("b", 1, 1, 6, 0), QueueData("c", 1, 1, 2, 0)),
            (_broker("a", _0="a:1"), _broker("b", _1="b:1"), _broker("c", _0="c:1")),
        ),
    )
    assert _queues(route) == (["c0"], ["a0", "b0"])
    assert route.master("b") is None
    assert route.master("c") == "c:1"
    assert not route.waits_for_master


@pytest.mark.parametrize(
    ("permission", "addresses", "is_waited_for"),
    [(6, {"_1": "b:1"}, True), (6, {"_0": "b:1"}, False), (READ, {"_0": "b:1"}, False)],
)
def test_a_master_is_waited_for_if_it_is_all_that_is_missing(
    permission: int, addresses: dict[str, str], is_waited_for: bool
) -> None:
    queues = (QueueData("b", 1, 1, permission, 0),)
    route = client_route("t", TopicRoute(queues, (_broker("b", **addresses),)))
    assert route.waits_for_master is is_waited_for


def test_a_broker_has_replicas_if_it_has_another_address() -> None:
    brokers = (_broker("a", _0="a:1"), _broker("b", _0="b:1", _1="b:2"))
    route = client_route("t", TopicRoute((), brokers))
    assert [route.has_replicas(name) for name in ("a", "b", "c")] == [False, True, False]


def test_an_order_configuration_says_which_queues_are_written() -> None:
    route = client_route(
        "t",
        TopicRoute(
            (QueueData("a", 8, 8, 6, 0),), (_broker("a", _0="a:1"),), order_conf="a:2;b:1;odd"
        ),
    )
    assert _queues(route)[0] == ["a0", "a1", "b0"]


def test_a_reader_takes_the_next_best_address() -> None:
    route = ClientRoute("t", (), (), {"a": _broker("a", _0="m:1", _2="s:1")})
    assert [route.address("a", number) for number in (0, 1, 2, 7)] == ["m:1", "s:1", "s:1", "m:1"]
    assert route.address("z") is None


def test_a_reader_takes_an_address_that_did_not_answer_last_of_all() -> None:
    route = ClientRoute("t", (), (), {"a": _broker("a", _0="m:1", _2="s:2", _1="s:1")})
    assert route.address("a", 0, {"m:1"}) == "s:1"
    assert route.address("a", 1, {"s:1"}) == "m:1"
    assert route.address("a", 1, {"s:1", "m:1"}) == "s:2"
    assert route.address("a", 1, {"s:1", "m:1", "s:2"}) == "s:1"
    alone = ClientRoute("t", (), (), {"a": _broker("a", _3="s:3")})
    assert alone.address("a", 0, {"s:3"}) == "s:3"


def test_a_new_topic_has_no_more_queues_than_a_producer_may_ask_for() -> None:
    default = TopicRoute((QueueData("a", 8, 8, 7, 0),), (_broker("a", _0="a:1"),))
    assert _queues(route_of_new_topic("new", default))[0] == ["a0", "a1", "a2", "a3"]
    narrow = TopicRoute((QueueData("a", 2, 8, 7, 0),), (_broker("a", _0="a:1"),))
    assert _queues(route_of_new_topic("new", narrow))[0] == ["a0", "a1"]


def test_every_address_of_every_route_is_known_with_its_broker() -> None:
    first = ClientRoute("t", (), (), {"a": _broker("a", _0="m:1", _1="s:1")})
    second = ClientRoute("u", (), (), {"b": _broker("b", _0="n:1")})
    assert broker_addresses([first, second]) == {"m:1": "a", "s:1": "a", "n:1": "b"}


def _mapping(broker: str, epoch: int, led: dict[int, int], queues: int = 3) -> dict[str, object]:
    return {"bname": broker, "epoch": epoch, "totalQueues": queues, "currIdMap": led, "topic": "t"}


def test_a_static_topic_has_logical_queues_on_the_brokers_of_the_newest_epoch() -> None:
    route = client_route(
        "t",
        TopicRoute(
            (QueueData("a", 2, 2, READ | WRITE, 0), QueueData("b", 0, 0, READ | WRITE, 0)),
            (_broker("a", _0="a:1"), _broker("b", _0="b:1")),
            mappings={"a": _mapping("a", 5, {0: 0, 1: 1}), "b": _mapping("b", 6, {1: 0})},
        ),
    )
    names = ["__syslo__global__0", "__syslo__global__1", "__syslo__global__2"]
    assert _queues(route) == (names, names)
    assert [route.holder(queue) for queue in route.readable] == ["a", "b", "__syslo__none__"]
    assert [route.master_of(queue) for queue in route.writable] == ["a:1", "b:1", None]
    assert route.master_of(MessageQueue("t", "a", QueueId(5))) == "a:1"
    assert (route.is_static, set(route.popped)) == (True, {"a"})
    stored = str(OffsetMessageId("10.0.0.7", 10911, LogOffset(5)))
    assert route.keeper(route.readable[0], stored) == "10.0.0.7:10911"
    assert route.keeper(MessageQueue("t", "a", QueueId(5)), stored) is None
    stored = str(OffsetMessageId("::1", 10911, LogOffset(5)))
    assert route.keeper(route.readable[0], stored) == "[::1]:10911"
    with pytest.raises(Misuse, match="Spark needs queues that stay"):
        route.physical("Spark")


def test_a_route_without_mappings_is_of_an_ordinary_topic() -> None:
    queue = QueueData("a", 1, 1, READ | WRITE, 0)
    route = client_route("t", TopicRoute((queue,), (_broker("a", _0="a:1"),)))
    assert (route.is_static, set(route.popped)) == (False, {"a"})
    assert route.physical("Spark") is route
