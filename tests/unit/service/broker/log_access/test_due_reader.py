import logging

import pytest

from aerobee.protocol.message.stored_message import decode_records
from aerobee.service.broker.log_access.due_reader import DueReader, DueRecords
from aerobee.storage.index.consume_queue import ConsumeQueue
from tests.store_kit import EVERYTHING, SMALL, StoreKit, draft

TOPIC = b"SCHEDULE_TOPIC_XXXX"


class Rig:
    """Five records in queue 0, as another process left them."""

    def __init__(self) -> None:
        kit = StoreKit(config=SMALL)
        self.places = [kit.append(draft(TOPIC, 0, b"%d" % number)) for number in range(5)]
        self.kit = kit.reopen()
        self.reader = DueReader(self.kit.store, self.kit.worker)
        queue = self.kit.store.queue(TOPIC, 0)
        assert queue is not None
        self.queue: ConsumeQueue = queue

    def damage(self, number: int) -> None:
        """Flip a bit of a record's body, as a disk does."""
        file = self.kit.store._parts.log.sequence.find(self.places[number])
        assert file is not None
        position = self.places[number] - file.first_offset
        file.view[position + 60] ^= 1

    def read(self, offset: int = 0, end: int = 5, size: int = EVERYTHING) -> DueRecords | None:
        return self.reader.read(self.queue, offset, end, size)

    def work(self) -> None:
        self.kit.worker.run_all()
        self.kit.worker.collect()


def bodies(found: DueRecords | None) -> list[bytes]:
    assert found is not None
    return [one.body for view in found.views for one in decode_records(bytes(view))]


def test_records_come_in_order() -> None:
    found = Rig().read(1, 4)
    assert bodies(found) == [b"1", b"2", b"3"]
    assert found is not None
    assert found.next_offset == 4


def test_a_read_ends_after_about_as_many_bytes_as_asked_for() -> None:
    found = Rig().read(size=1)
    assert bodies(found) == [b"0"]
    assert found is not None
    assert found.next_offset == 1


def test_what_is_not_in_memory_is_fetched_by_the_disk_thread() -> None:
    rig = Rig()
    rig.kit.disk.faults.make_cold("*commitlog*")
    assert rig.read() is None
    assert rig.read() is None
    assert rig.kit.worker.pending() == 1
    rig.work()
    assert bodies(rig.read()) == [b"0", b"1", b"2", b"3", b"4"]


def test_what_was_fetched_for_another_place_is_not_used() -> None:
    rig = Rig()
    rig.kit.disk.faults.make_cold("*commitlog*")
    assert rig.read(0, 2) is None
    rig.work()
    assert rig.read(3, 5) is None
    rig.work()
    assert bodies(rig.read(3, 5)) == [b"3", b"4"]


@pytest.mark.parametrize("is_cold", [False, True])
def test_a_damaged_record_is_passed_over_and_said(
    is_cold: bool, caplog: pytest.LogCaptureFixture
) -> None:
    rig = Rig()
    rig.damage(2)
    if is_cold:
        rig.kit.disk.faults.make_cold("*commitlog*")
        assert rig.read() is None
        rig.work()
    with caplog.at_level(logging.ERROR):
        found = rig.read()
    assert bodies(found) == [b"0", b"1", b"3", b"4"]
    assert found is not None
    assert found.next_offset == 5
    (said,) = caplog.messages
    assert "level 1, queue offset 2" in said
    assert str(rig.places[2]) in said


def test_a_unit_that_leads_to_another_record_is_passed_over_and_said(
    caplog: pytest.LogCaptureFixture,
) -> None:
    rig = Rig()
    file = rig.queue.find(1)
    assert file is not None
    file.view[20:40] = file.view[60:80]
    with caplog.at_level(logging.ERROR):
        found = rig.read()
    assert bodies(found) == [b"0", b"2", b"3", b"4"]
    assert len(caplog.messages) == 1


def test_gaps_are_passed_over_in_silence(caplog: pytest.LogCaptureFixture) -> None:
    rig = Rig()
    rig.damage(4)
    file = rig.queue.find(1)
    assert file is not None
    file.view[20:40] = bytes(8) + (0x7FFFFFFF).to_bytes(4, "big") + bytes(8)
    with caplog.at_level(logging.ERROR):
        found = rig.read()
    assert bodies(found) == [b"0", b"2", b"3"]
    assert len(caplog.messages) == 1
