from dataclasses import replace

import pytest

from aerobee.model.properties import PROPERTIES_BYTES_MAX
from aerobee.protocol.bodies.revive_records import Checkpoint
from aerobee.protocol.message.record import CRC_PROPERTY_BYTES
from aerobee.service.broker.config import BrokerConfig
from tests.delay_kit import message
from tests.store_kit import bodies_of, read_all
from tests.unit.service.broker.pop.revive.test_revive_queue import RETRY, START, Rig

CHECKPOINT = Checkpoint("Orders", "g", 0, 0, START, 10_000, "b", (0,))


def put(rig: Rig, checkpoint: Checkpoint = CHECKPOINT, offset: int = 0) -> bool:
    rig.kit.settle()
    return rig.retrying.put(checkpoint, offset, rig.kit.clock.now())


def test_the_retry_topic_is_on_the_disk_before_the_first_message() -> None:
    rig = Rig()
    assert not put(rig)
    assert not put(rig)
    assert rig.tables.topics.find(RETRY.decode()) is None
    rig.tables.finish()
    made = rig.tables.topics.find(RETRY.decode())
    assert made is not None
    assert (made.read_queues, made.permission) == (1, 6)
    assert rig.offsets.find("g", RETRY.decode(), 0) == 0
    assert put(rig)
    rig.kit.settle()
    assert bodies_of(rig.kit.store, RETRY) == [b"m0"]
    assert rig.retrying.revived == 1


def test_a_retry_topic_that_is_made_again_keeps_the_offset_of_its_group() -> None:
    rig = Rig()
    rig.offsets.commit("g", RETRY.decode(), 0, 2, 2)
    assert not put(rig)
    rig.tables.finish()
    assert rig.offsets.find("g", RETRY.decode(), 0) == 2


def test_separated_retries_have_a_queue_for_each_of_the_topic_and_more_when_it_has_more() -> None:
    rig = Rig(config=BrokerConfig(separates_retries=True))
    rig.make_topic(RETRY.decode())
    for queue_id, topic_queues in ((2, 3), (5, 6)):
        rig.make_topic("Orders", topic_queues)
        rig.intake.put(message(b"m%d" % queue_id, queue_id=queue_id), rig.kit.clock.now())
        assert not put(rig, replace(CHECKPOINT, queue_id=queue_id))
        rig.tables.finish()
        made = rig.tables.topics.find(RETRY.decode())
        assert made is not None
        assert (made.read_queues, made.write_queues) == (topic_queues, topic_queues)
        assert rig.offsets.find("g", RETRY.decode(), topic_queues - 1) == 0
        assert put(rig, replace(CHECKPOINT, queue_id=queue_id))
        rig.kit.settle()
        assert bodies_of(rig.kit.store, RETRY, queue_id) == [b"m%d" % queue_id]


def test_a_retry_topic_keeps_the_queues_that_its_topic_has_lost() -> None:
    rig = Rig(config=BrokerConfig(separates_retries=True))
    rig.make_topic(RETRY.decode(), 4)
    assert put(rig)
    made = rig.tables.topics.find(RETRY.decode())
    assert made is not None
    assert made.read_queues == 4


def test_retries_that_are_not_separated_any_more_go_to_the_first_queue() -> None:
    rig = Rig()
    rig.make_topic(RETRY.decode(), 3)
    rig.make_topic("Orders", 3)
    rig.intake.put(message(b"m", queue_id=2), rig.kit.clock.now())
    assert put(rig, replace(CHECKPOINT, queue_id=2))
    rig.kit.settle()
    assert bodies_of(rig.kit.store, RETRY) == [b"m"]


def test_what_nobody_can_want_any_more_is_done_with() -> None:
    rig = Rig(config=BrokerConfig(creates_groups=False))
    assert put(rig, replace(CHECKPOINT, group="gone"))
    assert put(rig, replace(CHECKPOINT, topic="Gone"))
    assert rig.retrying.revived == 0


def test_a_group_that_was_only_in_memory_before_a_crash_still_gets_its_messages() -> None:
    rig = Rig()
    checkpoint = replace(CHECKPOINT, group="forgotten")
    assert not put(rig, checkpoint)
    rig.tables.finish()
    assert put(rig, checkpoint)
    rig.kit.settle()
    assert bodies_of(rig.kit.store, b"%RETRY%forgotten_Orders") == [b"m0"]


def test_a_group_that_was_removed_is_not_brought_back_by_what_it_had_popped() -> None:
    rig = Rig()
    rig.tables.groups.remove(["g"], rig.kit.clock.now(), rig.tables.told.append)
    rig.tables.finish()
    assert put(rig)
    assert rig.retrying.revived == 0
    assert rig.tables.groups.find("g") is None


def test_a_removed_group_whose_consumer_came_again_gets_what_it_had_popped() -> None:
    rig = Rig()
    rig.make_topic(RETRY.decode())
    rig.tables.groups.remove(["g"], rig.kit.clock.now(), rig.tables.told.append)
    rig.tables.finish()
    rig.tables.groups.ensure("g", rig.kit.clock.now())
    assert put(rig)
    assert rig.retrying.revived == 1


def test_a_message_that_is_not_there_is_done_with() -> None:
    rig = Rig()
    assert put(rig, offset=10)
    assert put(rig, replace(CHECKPOINT, queue_id=3))
    assert rig.retrying.revived == 0


@pytest.mark.parametrize("room", [0, 41, 42])
def test_a_message_whose_properties_leave_no_room_comes_back_all_the_same(room: int) -> None:
    rig = Rig()
    rig.make_topic(RETRY.decode())
    own_max = PROPERTIES_BYTES_MAX - CRC_PROPERTY_BYTES
    text = "x" * (own_max - len("note\x01\x02") - room)
    rig.intake.put(message(b"full", note=text), rig.kit.clock.now())
    assert put(rig, offset=10)
    rig.kit.settle()
    (copy,) = read_all(rig.kit.store, RETRY, 0)
    assert (copy.body, copy.reconsume_times, copy.properties["note"]) == (b"full", 1, text)
    assert ("1ST_POP_TIME" in copy.properties) == (room == 42)
    assert rig.retrying.revived == 1


def test_an_old_message_is_fetched_first() -> None:
    rig = Rig()
    rig.make_topic(RETRY.decode())
    rig.kit.settle()
    rig.kit.store.close()
    after = Rig(rig.kit.disk.power_cut(), rig.kit.clock)
    after.make_topic(RETRY.decode())
    after.kit.disk.faults.make_cold("*commitlog*")
    assert not after.retrying.put(CHECKPOINT, 0, after.kit.clock.now())
    after.kit.worker.run_all()
    after.kit.worker.collect()
    assert after.retrying.put(CHECKPOINT, 0, after.kit.clock.now())
    after.kit.settle()
    assert bodies_of(after.kit.store, RETRY) == [b"m0"]
