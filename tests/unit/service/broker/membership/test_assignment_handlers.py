import json

import pytest

from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.model.queue_mapping import MappingInfo
from aerobee.model.route import QueueData, TopicRoute
from aerobee.protocol.bodies.queue_mapping import info_json
from aerobee.protocol.bodies.topic_route import encode_topic_route
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.service.broker.membership.assignment_handlers import dealt, shared
from tests.broker_kit import CLIENT, OTHER
from tests.pop_kit import PopKit


def assigned(
    kit: PopKit, client_id: str = "c", topic: str = "Orders", **other: str
) -> tuple[str, list[int]] | None:
    """The mode and the queues; None: keep what you have."""
    said = {
        "topic": topic,
        "consumerGroup": "g",
        "clientId": client_id,
        "strategyName": "AVG",
        "messageModel": "CLUSTERING",
        **other,
    }
    answer = json.loads(bytes(kit.ask(400, body=json.dumps(said).encode()).body))
    if "messageQueueAssignments" not in answer:
        return None
    rows = answer["messageQueueAssignments"]
    modes = {row["mode"] for row in rows}
    queues = [row["messageQueue"]["queueId"] for row in rows]
    return (modes.pop() if modes else ""), queues


def set_mode(kit: PopKit, share: int = 0, topic: str = "Orders") -> None:
    said = {"topic": topic, "consumerGroup": "g", "mode": "POP", "popShareQueueNum": share}
    assert kit.ask(401, body=json.dumps(said).encode()).code == 0


def with_members(count: int, queues: int = 4) -> PopKit:
    kit = PopKit(queues=queues)
    for number, channel in zip(range(count), (CLIENT, OTHER), strict=False):
        kit.beat("cd"[number], subscriptions={"Orders": "*"}, channel=channel)
    return kit


def test_a_group_that_pulls_has_its_queues_dealt_out() -> None:
    kit = with_members(2)
    assert assigned(kit, "c") == ("PULL", [0, 1])
    assert assigned(kit, "d") == ("PULL", [2, 3])
    assert assigned(kit, "d", strategyName="AVG_BY_CIRCLE") == ("PULL", [1, 3])
    assert assigned(kit, "d", messageModel="BROADCASTING") == ("PULL", [0, 1, 2, 3])


def test_a_group_that_pops_has_the_topic_as_a_whole() -> None:
    kit = with_members(2)
    set_mode(kit)
    assert assigned(kit, "c") == ("POP", [-1])
    assert assigned(kit, "d") == ("POP", [-1])


def test_the_retry_topic_is_always_pulled() -> None:
    kit = with_members(1)
    assert assigned(kit, "c", topic="%RETRY%g") == ("PULL", [0])


def test_who_is_no_member_keeps_what_it_has() -> None:
    kit = with_members(1)
    assert assigned(kit, "x") is None
    assert assigned(kit, "c", topic="None") is None


def test_a_body_that_asks_nothing_is_refused() -> None:
    answer = PopKit().ask(400, body=b"{}")
    assert (answer.code, "topic" in answer.remark) == (1, True)


def routed(route: TopicRoute) -> list[tuple[str, int]]:
    """The queues of the only member, with this route of a topic that has two queues here."""
    kit = PopKit(queues=2, addresses=("10.0.0.1:9876",))
    kit.beat("c", subscriptions={"Orders": "*"})
    said = {"topic": "Orders", "consumerGroup": "g", "clientId": "c", "strategyName": "AVG"}
    kit.dialed = []
    kit.tell(400, body=json.dumps(said).encode())
    (dial,) = [one for one in kit.dialed if one.command.code == 105]
    body = encode_topic_route(route, is_standard=True)
    kit.answer(dial, RemotingCommand(0, body=body))
    (answer,) = [command for command in kit.heard() if command.is_response]
    rows = json.loads(bytes(answer.body))["messageQueueAssignments"]
    return [(row["messageQueue"]["brokerName"], row["messageQueue"]["queueId"]) for row in rows]


def test_queues_of_other_brokers_are_dealt_out_too() -> None:
    route = TopicRoute((QueueData("broker-b", 1, 1, 6, 0), QueueData("broker-c", 1, 1, 2, 0)), ())
    assert routed(route) == [("broker-a", 0), ("broker-a", 1), ("broker-b", 0)]


def test_a_queue_may_be_shared_by_a_few_members() -> None:
    queues = [MessageQueue("T", "b", QueueId(number)) for number in range(4)]
    parts = [shared(queues, 4, mine, 1) for mine in range(4)]
    assert [[int(queue.queue_id) for queue in part] for part in parts] == [
        [0, 1],
        [1, 2],
        [2, 3],
        [3, 0],
    ]
    assert {queue for mine in range(6) for queue in shared(queues, 6, mine, 1)} == set(queues)


@pytest.mark.parametrize("members", range(1, 8))
@pytest.mark.parametrize("is_by_circle", [True, False])
def test_every_queue_is_dealt_to_one_member(members: int, is_by_circle: bool) -> None:
    queues = [MessageQueue("T", "b", QueueId(number)) for number in range(5)]
    parts = [dealt(queues, members, mine, is_by_circle=is_by_circle) for mine in range(members)]
    assert sorted(queue for part in parts for queue in part) == queues
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_logical_queues_of_a_static_topic_are_dealt_out() -> None:
    mapping = info_json(MappingInfo("Orders", "broker-a", 1, 3, {0: 0, 1: 1}))
    route = TopicRoute((QueueData("broker-a", 2, 2, 6, 0),), (), mappings={"broker-a": mapping})
    assert routed(route) == [("__syslo__global__", number) for number in range(3)]
