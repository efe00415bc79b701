import pytest

from aerobee.client.core.consume.allocation import (
    Averagely,
    AveragelyByCircle,
    ByConfiguration,
    ByMachineRoom,
    ConsistentHash,
    NearbyMachineRoom,
    Strategy,
    in_order,
)
from aerobee.errors import Misuse
from aerobee.model.message_queue import MessageQueue, QueueId


def queues(count: int, broker: str = "b") -> list[MessageQueue]:
    return [MessageQueue("T", broker, QueueId(number)) for number in range(count)]


def shares(strategy: Strategy, count: int, members: list[str]) -> list[list[int]]:
    return [
        [queue.queue_id for queue in strategy.share(one, queues(count), members)] for one in members
    ]


def test_neighbours_go_together_and_the_first_members_get_the_rest() -> None:
    assert shares(Averagely(), 8, ["a", "b", "c"]) == [[0, 1, 2], [3, 4, 5], [6, 7]]
    assert shares(Averagely(), 2, ["a", "b", "c"]) == [[0], [1], []]
    assert shares(Averagely(), 4, ["a", "b"]) == [[0, 1], [2, 3]]


def test_a_circle_deals_one_after_another() -> None:
    assert shares(AveragelyByCircle(), 8, ["a", "b", "c"]) == [[0, 3, 6], [1, 4, 7], [2, 5]]


def test_what_was_written_down_is_had_whoever_else_there_is() -> None:
    mine = queues(2, "x")
    assert ByConfiguration(mine).share("a", queues(4), ["b"]) == mine


def test_only_rooms_that_are_served_are_shared_out() -> None:
    together = queues(3, "r1@b") + queues(2, "r2@b") + queues(2, "plain")
    strategy = ByMachineRoom({"r1"})
    found = [strategy.share(one, together, ["a", "b"]) for one in ("a", "b")]
    assert [[queue.queue_id for queue in own] for own in found] == [[0, 2], [1]]


def test_queues_stay_in_their_room_and_those_of_an_empty_room_go_to_all() -> None:
    together, members = in_order(queues(4, "r1-b") + queues(2, "r3-b"), ["r1-m", "r1-n", "r2-m"])
    strategy = NearbyMachineRoom(lambda name: name[:2], lambda name: name[:2])
    found = {one: strategy.share(one, together, members) for one in members}
    assert {one: [str(queue) for queue in own] for one, own in found.items()} == {
        "r1-m": ["T@r1-b:0", "T@r1-b:1", "T@r3-b:0"],
        "r1-n": ["T@r1-b:2", "T@r1-b:3", "T@r3-b:1"],
        "r2-m": [],
    }
    assert strategy.name == "MACHINE_ROOM_NEARBY-AVG"


def test_a_name_without_a_room_is_an_error() -> None:
    with pytest.raises(Misuse, match="no machine room"):
        NearbyMachineRoom(lambda _: "", lambda _: "r").share("a", queues(1), ["a"])


def test_few_queues_move_on_a_ring_when_a_member_comes() -> None:
    strategy = ConsistentHash()
    many = queues(200)
    owners = {
        queue: one
        for one in ("a", "b", "c")
        for queue in strategy.share(one, many, ["a", "b", "c"])
    }
    assert len(owners) == 200
    for one in ("a", "b", "c", "d"):
        for queue in strategy.share(one, many, ["a", "b", "c", "d"]):
            assert one in ("d", owners[queue])
    with pytest.raises(Misuse):
        ConsistentHash(0)


@pytest.mark.parametrize(
    "strategy", [Averagely(), AveragelyByCircle(), ConsistentHash(), ByMachineRoom({"b"})]
)
def test_who_is_no_member_gets_nothing(strategy: Strategy) -> None:
    assert strategy.share("stranger", queues(4), ["a", "b"]) == []
