from dataclasses import replace

import pytest

from aerobee.errors import Misuse
from aerobee.model.message import Host, StoredMessage
from aerobee.model.message_queue import LogOffset
from aerobee.ports.clock import Now
from aerobee.protocol.stored_message import encode_record
from aerobee.service.broker.delay.delivery import Delivery
from aerobee.service.broker.intake import Intake
from aerobee.service.broker.real_place import Undeliverable
from aerobee.storage.config import FlushMode
from tests.delay_kit import CONFIG, message
from tests.store_kit import StoreKit, read_all

NOW = Now(1_800_000_000_000, 5)


def delivered(waiting: StoredMessage, *, with_crc: bool = True) -> StoredMessage:
    """What a message becomes that waits in the schedule topic."""
    kit = StoreKit(config=CONFIG)
    delivery = Delivery(Intake(kit.store, FlushMode.ASYNC, 18))
    record = memoryview(encode_record(waiting, with_crc=with_crc))
    assert delivery.read(record) == waiting.queue_offset
    delivery.put(record, NOW)
    delivery.let_go()
    kit.store.dispatch()
    (queue,) = kit.store.queues()
    (found,) = read_all(kit.store, queue.topic, queue.queue_id)
    return found


def waiting(**properties: str) -> StoredMessage:
    said = {"REAL_TOPIC": "Orders", "REAL_QID": "3", "DELAY": "2", "TAGS": "a", **properties}
    return message(b"body", "SCHEDULE_TOPIC_XXXX", 1, **said)


@pytest.mark.parametrize("with_crc", [True, False])
def test_the_copy_is_the_message_in_its_own_topic_and_queue(with_crc: bool) -> None:
    before = replace(waiting(), flag=7, sys_flag=0x201, reconsume_times=4)
    after = delivered(before, with_crc=with_crc)
    assert (after.topic, after.queue_id, after.queue_offset) == ("Orders", 3, 0)
    assert after.store_timestamp == NOW.wall_ms
    kept = ("body", "properties", "born_timestamp", "born_host", "flag", "sys_flag")
    for field in (*kept, "reconsume_times"):
        assert getattr(after, field) == getattr(before, field), field


def test_hosts_of_version_6_are_kept() -> None:
    before = replace(waiting(), born_host=Host("2001:db8::7", 9))
    assert delivered(before).born_host == Host("2001:db8::7", 9)


def test_a_committed_message_stays_one_and_forgets_its_half() -> None:
    before = replace(waiting(), sys_flag=0x8, prepared_offset=LogOffset(77))
    after = delivered(before)
    assert (after.sys_flag, after.prepared_offset) == (0x8, 0)


@pytest.mark.parametrize(
    "properties",
    [
        {"REAL_TOPIC": "RMQ_SYS_TRANS_HALF_TOPIC"},
        {"REAL_TOPIC": "SCHEDULE_TOPIC_XXXX"},
        {"REAL_QID": "-1"},
        {"REAL_QID": "x"},
        {"REAL_QID": "9" * 20},
    ],
)
def test_a_message_that_cannot_go_where_it_says_is_refused(properties: dict[str, str]) -> None:
    with pytest.raises(Undeliverable):
        delivered(waiting(**properties))


@pytest.mark.parametrize("missing", ["REAL_TOPIC", "REAL_QID"])
def test_a_message_that_does_not_say_where_it_belongs_is_refused(missing: str) -> None:
    before = waiting()
    del before.properties[missing]
    with pytest.raises(Undeliverable):
        delivered(before)


@pytest.mark.parametrize("properties", [{"REAL_TOPIC": "../etc"}, {"REAL_QID": "4096"}])
def test_a_place_that_no_queue_can_have_is_refused_by_the_store(
    properties: dict[str, str],
) -> None:
    with pytest.raises(Misuse):
        delivered(waiting(**properties))
