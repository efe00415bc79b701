import pytest

from aerobee.model.topic import TopicConfig
from tests.broker_kit import SYNC, BrokerKit
from tests.timer_kit import TOLD
from tests.wire import JAVA_FIELDS

ORDERS = TopicConfig("Orders", 4, 4)


def send(kit: BrokerKit, body: bytes, delay_ms: int) -> None:
    text = f"UNIQ_KEY\x01{body.decode()}\x02TIMER_DELAY_MS\x01{delay_ms}\x02"
    assert kit.ask(310, {**JAVA_FIELDS, "i": text}, body).code == 0


@pytest.mark.parametrize("how", ["restarted", "killed", "power_cut"])
def test_what_waits_for_a_time_is_delivered_by_the_next_process(how: str) -> None:
    kit = BrokerKit(ORDERS, config=TOLD, storage=SYNC)
    send(kit, b"first", 1_500)
    send(kit, b"second", 6_000)
    kit.run(4_000)
    assert kit.bodies(queue_id=1) == [b"first"]
    kit = getattr(kit, how)()
    assert isinstance(kit, BrokerKit)
    kit.run(500)
    assert b"second" not in kit.bodies(queue_id=1)
    kit.run(3_000)
    bodies = kit.bodies(queue_id=1)
    assert set(bodies) == {b"first", b"second"}
    assert bodies.count(b"second") == 1
    if how == "restarted":
        assert bodies.count(b"first") == 1


def test_a_consumer_that_waits_is_woken_by_a_delivery() -> None:
    kit = BrokerKit(ORDERS, config=TOLD)
    send(kit, b"hello", 1_500)
    kit.beat(subscriptions={"Orders": "*"})
    kit.tell(11, {**_pull(), "queueId": "1"})
    kit.run(1_000)
    assert kit.heard() == []
    kit.run(2_000)
    (answer,) = kit.heard()
    assert (answer.code, b"hello" in bytes(answer.body)) == (0, True)


def _pull() -> dict[str, str]:
    return {
        "consumerGroup": "g",
        "topic": "Orders",
        "queueOffset": "0",
        "maxMsgNums": "32",
        "sysFlag": "2",
        "commitOffset": "0",
        "suspendTimeoutMillis": "15000",
        "subscription": "*",
        "subVersion": "1",
    }


def test_rows_are_for_recalls_and_for_whoever_asks_how_far_it_is() -> None:
    table = BrokerKit(ORDERS).broker.table
    assert {370, 60, 61, 5001} <= table.keys()
