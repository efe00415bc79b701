import json
from typing import Any

import pytest

from aerobee.model.topic import TopicConfig
from aerobee.service.broker.admin.broker.queue_unit_handlers import COUNT_MAX
from tests.broker_kit import BrokerKit
from tests.captured import captured
from tests.send_rig import send_frame
from tests.store_kit import draft, properties

ORDERS = TopicConfig("Orders", 4, 4)


def ask(kit: BrokerKit, **fields: object) -> Any:
    said = {"topic": "Orders", "queueId": 0, "index": 0, "count": 10, **fields}
    answer = kit.ask(321, {name: str(value) for name, value in said.items()})
    assert answer.code == 0, answer.remark
    return json.loads(bytes(answer.body))


def filled(count: int = 3) -> BrokerKit:
    kit = BrokerKit(ORDERS)
    for number in range(count):
        text = properties(TAGS=f"tag{number}")
        kit.store.append(draft(b"Orders", 0, b"x", text), kit.clock.now().wall_ms)
    kit.finish()
    return kit


def test_units_are_shown_as_they_lie_in_the_queue() -> None:
    kit = filled()
    queue = kit.store.queue(b"Orders", 0)
    assert queue is not None
    found = ask(kit)
    assert (found["minQueueIndex"], found["maxQueueIndex"]) == (0, 3)
    assert [
        (one["physicOffset"], one["physicSize"], one["tagsCode"]) for one in found["queueData"]
    ] == [queue.unit(offset) for offset in range(3)]


def test_the_body_has_apaches_shape() -> None:
    kit = filled()
    kit.beat(group="g", subscriptions={"Orders": "*"})
    for recorded in captured("QUERY_CONSUME_QUEUE", "response"):
        apaches = json.loads(bytes(recorded.body))
        group = {"consumerGroup": "g"} if "filterData" in apaches else {}
        ours = ask(kit, **group)
        assert list(ours) == list(apaches)
        assert ours["queueData"][0].keys() == apaches["queueData"][0].keys()
        assert ours.get("filterData") == apaches.get("filterData")
        if group:
            assert ours["subscriptionData"].keys() == apaches["subscriptionData"].keys()


@pytest.mark.parametrize(
    ("index", "count", "wanted"),
    [(1, 1, [1]), (2, 10, [2]), (3, 10, []), (-5, 2, [0, 1]), (0, -1, []), (2**62, 5, [])],
)
def test_as_many_are_shown_as_are_there(index: int, count: int, wanted: list[int]) -> None:
    kit = filled()
    every = ask(kit)["queueData"]
    found = ask(kit, index=index, count=count)["queueData"]
    assert found == [every[offset] for offset in wanted]


def test_an_answer_is_bounded() -> None:
    kit = filled(COUNT_MAX + 5)
    assert len(ask(kit, count=2**31 - 1)["queueData"]) == COUNT_MAX


def test_what_expired_is_not_shown() -> None:
    kit = filled()
    queue = kit.store.queue(b"Orders", 0)
    assert queue is not None
    queue.hide_before(2)
    found = ask(kit)
    assert found["minQueueIndex"] == 2
    assert len(found["queueData"]) == 1


def test_a_group_that_is_not_online_is_told_so() -> None:
    found = ask(filled(), consumerGroup="nobody")
    assert found["filterData"] == "nobody@Orders is not online!"
    assert "subscriptionData" not in found


def test_a_queue_that_never_was_is_refused() -> None:
    kit = BrokerKit(ORDERS)
    kit.send_frames(send_frame())
    kit.heard()
    answer = kit.ask(321, {"topic": "Orders", "queueId": "9", "index": "0", "count": "1"})
    assert (answer.code, answer.remark) == (1, "9@Orders is not exist!")
