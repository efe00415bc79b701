import pytest

from aerobee.model.names import SCHEDULE_TOPIC
from aerobee.service.broker.log_access.real_topic import Undeliverable, real_place


def text(topic: str, queue: str) -> bytes:
    return f"KEYS\x01k\x02REAL_TOPIC\x01{topic}\x02REAL_QID\x01{queue}\x02".encode()


def test_topic_and_queue_are_what_the_properties_say() -> None:
    assert real_place(text("Orders", "3")) == (b"Orders", 3)
    assert real_place(text("Orders", "999999999")) == (b"Orders", 999_999_999)


@pytest.mark.parametrize("queue", ["", "-1", "x", "1 ", "1000000000", "\u0663"])
def test_a_queue_that_is_no_number_is_no_place(queue: str) -> None:
    with pytest.raises(Undeliverable, match="REAL_QID"):
        real_place(text("Orders", queue))


@pytest.mark.parametrize(
    "topic", ["RMQ_SYS_TRANS_HALF_TOPIC", SCHEDULE_TOPIC, "rmq_sys_wheel_timer"]
)
def test_nothing_is_delivered_where_it_would_wait_again(topic: str) -> None:
    with pytest.raises(Undeliverable, match=topic):
        real_place(text(topic, "0"))


def test_what_names_no_topic_or_no_queue_has_no_place() -> None:
    with pytest.raises(Undeliverable, match="REAL_TOPIC"):
        real_place(b"REAL_QID\x010\x02")
    with pytest.raises(Undeliverable, match="REAL_QID"):
        real_place(b"REAL_TOPIC\x01Orders\x02")
