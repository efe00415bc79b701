from dataclasses import replace

import pytest

from aerobee.model.message import StoredMessage
from aerobee.ports.clock import Now
from aerobee.protocol.stored_message import encode_record
from aerobee.service.broker.intake import Intake
from aerobee.service.broker.real_place import Undeliverable
from aerobee.service.broker.timer.timer_delivery import TimerDelivery
from aerobee.storage.config import FlushMode
from aerobee.storage.timer.timer_log import TimerUnit
from tests.store_kit import SMALL, StoreKit, read_all
from tests.timer_kit import TIMER_TOPIC, message_with

NOW = Now(1_700_000_009_123, 0)
UNIT = TimerUnit(-1, 1, 1_700_000_000_000, 8_000, 0, 0, 0)
ROLLED = UNIT._replace(magic=3)
WAITING = {
    "TAGS": "A",
    "UNIQ_KEY": "id",
    "TIMER_DELIVER_MS": "1700000008500",
    "TIMER_OUT_MS": "1700000008000",
    "REAL_TOPIC": "Orders",
    "REAL_QID": "3",
}


class Rig:
    def __init__(self) -> None:
        self.kit = StoreKit(config=replace(SMALL, log_file_bytes=1 << 17))
        self.delivery = TimerDelivery(Intake(self.kit.store, FlushMode.ASYNC, 18))

    def read(self, waiting: StoredMessage, *, with_crc: bool = False) -> None:
        self.delivery.read(memoryview(encode_record(waiting, with_crc=with_crc)))

    def deliver(self, waiting: StoredMessage, unit: TimerUnit = UNIT) -> StoredMessage:
        self.read(waiting, with_crc=True)
        self.delivery.put(unit, NOW)
        self.kit.store.dispatch()
        (queue,) = self.kit.store.queues()
        return read_all(self.kit.store, queue.topic, queue.queue_id)[-1]


def waiting(**properties: str) -> StoredMessage:
    return message_with({**WAITING, **properties}, b"hi", TIMER_TOPIC)


def test_a_message_is_stored_once_more_where_it_wanted_to_go() -> None:
    given = replace(waiting(), flag=7, sys_flag=0x8 | 0x1, reconsume_times=2)
    found = Rig().deliver(given)
    assert (found.topic, found.queue_id, found.queue_offset) == ("Orders", 3, 0)
    assert (found.body, found.flag, found.reconsume_times) == (b"hi", 7, 2)
    assert (found.sys_flag, found.born_timestamp) == (0x9, given.born_timestamp)
    assert (found.born_host, found.store_timestamp) == (given.born_host, NOW.wall_ms)
    assert found.properties == {
        **WAITING,
        "TIMER_DEQUEUE_MS": "1700000009123",
        "TIMER_ENQUEUE_MS": "1700000000000",
    }


def test_a_rolled_message_goes_back_to_the_timer_and_is_counted() -> None:
    rig = Rig()
    found = rig.deliver(waiting(), ROLLED)
    assert (found.topic, found.queue_id) == ("rmq_sys_wheel_timer", 0)
    assert found.properties["TIMER_ROLL_TIMES"] == "1"
    again = rig.deliver(found, ROLLED)
    assert again.properties == {**found.properties, "TIMER_ROLL_TIMES": "2"}
    assert again.store_size == found.store_size, "nothing is there twice"


def test_keys_are_the_topic_and_the_unique_id() -> None:
    rig = Rig()
    rig.read(waiting(TIMER_DEL_UNIQKEY="Orders+other"))
    assert rig.delivery.key() == b"Orders+id"
    assert rig.delivery.delete_key() == b"Orders+other"


@pytest.mark.parametrize(
    "properties",
    [
        {"REAL_TOPIC": "rmq_sys_wheel_timer"},
        {"REAL_TOPIC": "SCHEDULE_TOPIC_XXXX"},
        {"REAL_TOPIC": "RMQ_SYS_TRANS_HALF_TOPIC"},
        {"REAL_QID": "-1"},
        {"REAL_QID": "x"},
        {"REAL_QID": "1234567890"},
    ],
)
def test_what_does_not_say_where_it_belongs_is_not_delivered(properties: dict[str, str]) -> None:
    rig = Rig()
    rig.read(waiting(**properties))
    with pytest.raises(Undeliverable):
        rig.delivery.put(UNIT, NOW)
    assert rig.kit.store.end_offset == 0


def test_properties_without_room_for_more_stay_as_they_are() -> None:
    given = waiting(big="x" * 32_600)
    assert "TIMER_DEQUEUE_MS" not in Rig().deliver(given).properties
    assert "TIMER_DEQUEUE_MS" in Rig().deliver(waiting(big="x" * 32_000)).properties
