import json
from typing import Any

import pytest

from aerobee.model.topic import TopicConfig
from tests.broker_kit import BrokerKit
from tests.send_rig import send_frame

ORDERS = TopicConfig("Orders", 4, 4)


def view(kit: BrokerKit, name: str, key: str) -> Any:
    answer = kit.ask(315, {"statsName": name, "statsKey": key})
    assert answer.code == 0, answer.remark
    return json.loads(bytes(answer.body))


def busy() -> BrokerKit:
    """Six messages came, a group got those of queue 0, and half a minute has passed."""
    kit = BrokerKit(ORDERS)
    kit.send_frames(b"".join(send_frame({"e": str(number % 2)}) for number in range(6)))
    kit.heard()
    kit.pull(consumerGroup="g", queueId=0)
    kit.run(30_000, 1_000)
    return kit


def test_what_came_into_a_topic_is_shown() -> None:
    found = view(busy(), "TOPIC_PUT_NUMS", "Orders")
    assert list(found) == ["statsDay", "statsHour", "statsMinute"]
    assert [found[name]["sum"] for name in found] == [6, 6, 6]
    assert 0.1 < found["statsMinute"]["tps"] < 0.5
    assert found["statsMinute"]["avgpt"] == 1.0


def test_what_a_group_got_is_shown() -> None:
    kit = busy()
    assert view(kit, "GROUP_GET_NUMS", "Orders@g")["statsMinute"]["sum"] == 3
    size = view(kit, "GROUP_GET_SIZE", "Orders@g")["statsMinute"]["sum"]
    assert size == sum(message.store_size for message in kit.messages())


def test_a_minute_passes_and_an_hour_does_not() -> None:
    kit = busy()
    kit.run(120_000, 1_000)
    found = view(kit, "TOPIC_PUT_NUMS", "Orders")
    assert (found["statsMinute"]["sum"], found["statsHour"]["sum"]) == (0, 6)


@pytest.mark.parametrize(
    ("name", "key"),
    [("TOPIC_PUT_NUMS", "Nobody"), ("GROUP_GET_NUMS", "Orders@nobody"), ("NO_SUCH", "Orders")],
)
def test_what_was_never_counted_is_refused(name: str, key: str) -> None:
    answer = busy().ask(315, {"statsName": name, "statsKey": key})
    assert (answer.code, answer.remark) == (1, f"The stats <{name}> <{key}> not exist")
