import pytest

from aerobee.model.names import SCHEDULE_TOPIC
from aerobee.protocol.message.waiting_properties import WaitingProperties
from aerobee.service.broker.log_access.real_topic import (
    Undeliverable,
    find_real_place,
    real_place,
)


def text(topic: str, queue: str) -> bytes:
    return f"KEYS\x01k\x02REAL_TOPIC\x01{topic}\x02REAL_QID\x01{queue}\x02".encode()


@pytest.mark.parametrize("queue", ["3", "0", "007", "999999999"])
def test_topic_and_queue_are_what_the_properties_say(queue: str) -> None:
    assert real_place(text("Orders", queue)) == (b"Orders", int(queue))
    assert find_real_place({"REAL_TOPIC": "Orders", "REAL_QID": queue}) == ("Orders", int(queue))


@pytest.mark.parametrize(
    "queue", ["", "-1", "x", "1 ", "1000000000", "\u0663", "\u00b2", "9" * 400]
)
def test_a_queue_that_is_no_number_is_no_place(queue: str) -> None:
    with pytest.raises(Undeliverable, match="REAL_QID"):
        real_place(text("Orders", queue))
    assert find_real_place({"REAL_TOPIC": "Orders", "REAL_QID": queue}) is None
    compiled = WaitingProperties()
    compiled.read_from(memoryview(text("Orders", queue)))
    assert compiled.queue_id == -1


@pytest.mark.parametrize(
    "topic", ["RMQ_SYS_TRANS_HALF_TOPIC", SCHEDULE_TOPIC, "rmq_sys_wheel_timer"]
)
def test_nothing_is_delivered_where_it_would_wait_again(topic: str) -> None:
    with pytest.raises(Undeliverable, match=topic):
        real_place(text(topic, "0"))
    assert find_real_place({"REAL_TOPIC": topic, "REAL_QID": "0"}) is None


def test_what_names_no_topic_or_no_queue_has_no_place() -> None:
    with pytest.raises(Undeliverable, match="REAL_TOPIC"):
        real_place(b"REAL_QID\x010\x02")
    with pytest.raises(Undeliverable, match="REAL_QID"):
        real_place(b"REAL_TOPIC\x01Orders\x02")
    assert find_real_place({"REAL_QID": "0"}) is None
    assert find_real_place({"REAL_TOPIC": "", "REAL_QID": "0"}) is None
    assert find_real_place({"REAL_TOPIC": "Orders"}) is None
