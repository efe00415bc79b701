import logging

import pytest

from aerobee.model.names import TRANSACTION_OP_TOPIC
from aerobee.service.broker.state.consumer_offsets import ConsumerOffsets
from aerobee.service.broker.transaction.open_half_recovery import FoundHalves, find_open
from tests.store_kit import SMALL, StoreKit, draft, properties
from tests.transaction_kit import HALF, OFFSETS_GROUP, OP


class Rig:
    """Both queues, written record by record."""

    def __init__(self) -> None:
        self.kit = StoreKit(config=SMALL)
        self.offsets = ConsumerOffsets()

    def half(self, **named: str) -> int:
        text = properties(PGROUP="g", REAL_TOPIC="Orders", REAL_QID="1", **named)
        return self.kit.append(draft(HALF.encode(), 0, b"half", text))

    def halves(self, count: int) -> None:
        for _ in range(count):
            self.half()

    def op(self, body: bytes, tag: str = "d") -> int:
        return self.kit.append(draft(OP.encode(), 0, body, properties(TAGS=tag)))

    def save(self, half_offset: int, op_offset: int) -> None:
        self.offsets.commit(OFFSETS_GROUP, HALF, 0, half_offset, 1 << 40)
        self.offsets.commit(OFFSETS_GROUP, TRANSACTION_OP_TOPIC, 0, op_offset, 1 << 40)

    def find(self) -> FoundHalves:
        self.kit.store.dispatch()
        return find_open(self.kit.store, self.offsets)

    def open_offsets(self) -> list[int]:
        return [half.offset for half in self.find().halves]


def test_in_a_new_store_nothing_is_open() -> None:
    assert Rig().find() == (0, 0, [], [], range(0))


def test_what_no_op_record_names_is_open() -> None:
    rig = Rig()
    rig.halves(8)
    rig.op(b"1,3,")
    rig.op(b"0,99,7,")
    found = rig.find()
    assert [half.offset for half in found.halves] == [2, 4, 5, 6]
    assert found.ops == [(0, 3), (1, 99)]
    assert (found.half_end, found.op_offset) == (8, 0)


def test_what_was_saved_as_passed_is_not_read_again() -> None:
    rig = Rig()
    rig.halves(8)
    rig.op(b"1,")
    rig.op(b"6,")
    rig.save(5, 1)
    found = rig.find()
    assert [half.offset for half in found.halves] == [5, 7]
    assert (found.ops, found.op_offset) == ([(1, 6)], 1)


def test_offsets_beyond_the_queues_are_taken_for_their_ends() -> None:
    rig = Rig()
    rig.halves(2)
    rig.save(1_000, 1_000)
    assert rig.find() == (2, 0, [], [], range(2, 2))


def test_what_a_half_says_of_itself_is_known() -> None:
    rig = Rig()
    rig.half(TRANSACTION_CHECK_TIMES="4", CHECK_IMMUNITY_TIME_IN_SECONDS="90")
    (half,) = rig.find().halves
    assert (half.group, half.times, half.immunity_ms) == ("g", 4, 90_000)
    assert half.born_ms == 1_699_999_999_000
    assert half.stored_ms == rig.kit.clock.now().wall_ms


def test_of_a_half_that_was_stored_again_only_the_last_is_open() -> None:
    rig = Rig()
    rig.halves(2)
    rig.half(TRAN_PREPARED_QUEUE_OFFSET="0", TRANSACTION_CHECK_TIMES="1")
    rig.half(TRAN_PREPARED_QUEUE_OFFSET="0", TRANSACTION_CHECK_TIMES="2")
    first, second = rig.find().halves
    assert (first.offset, first.earlier) == (1, ())
    assert (second.offset, second.earlier, second.times) == (3, (0, 2), 2)
    rig.op(b"0,2,3,")
    assert rig.open_offsets() == [1]


def test_a_half_that_stands_for_one_that_was_passed_is_found_by_it() -> None:
    rig = Rig()
    rig.halves(2)
    rig.half(TRAN_PREPARED_QUEUE_OFFSET="0")
    rig.save(2, 0)
    (half,) = rig.find().halves
    assert (half.offset, half.first, half.earlier) == (2, 0, (0,))


@pytest.mark.parametrize("half_offset", [0, 2])
def test_a_half_that_stands_for_one_that_is_over_is_over(half_offset: int) -> None:
    """Apache's broker moves an immune half; its producer ends the one that it knows."""
    rig = Rig()
    rig.halves(2)
    rig.half(TRAN_PREPARED_QUEUE_OFFSET="0")
    rig.op(b"0,")
    rig.save(half_offset, 0)
    assert rig.open_offsets() == [1, *()][: 1 if half_offset == 0 else 0]


def test_a_half_that_claims_to_stand_for_a_later_one_stands_for_itself() -> None:
    rig = Rig()
    rig.half(TRAN_PREPARED_QUEUE_OFFSET="1")
    rig.halves(1)
    assert rig.open_offsets() == [0, 1]


def test_op_records_of_another_kind_end_nothing() -> None:
    rig = Rig()
    rig.halves(1)
    rig.op(b"0,", tag="other")
    assert rig.open_offsets() == [0]


def test_a_damaged_op_record_is_passed_over_and_the_others_count(
    caplog: pytest.LogCaptureFixture,
) -> None:
    rig = Rig()
    rig.halves(3)
    rig.op(b"0,")
    damaged = rig.op(b"1,")
    rig.op(b"2,")
    rig.kit.settle()
    rig.kit.store.close()
    spoil(rig.kit, damaged)
    rig.kit = StoreKit(rig.kit.disk)
    with caplog.at_level(logging.ERROR):
        assert rig.open_offsets() == [1]
    assert "op record is passed over: queue offset 1" in caplog.text


def test_a_damaged_half_is_reported_and_the_others_are_open(
    caplog: pytest.LogCaptureFixture,
) -> None:
    rig = Rig()
    rig.half()
    damaged = rig.half()
    rig.half()
    rig.kit.settle()
    rig.kit.store.close()
    spoil(rig.kit, damaged)
    rig.kit = StoreKit(rig.kit.disk)
    with caplog.at_level(logging.ERROR):
        assert rig.open_offsets() == [0, 2]
    assert "half message is lost" in caplog.text


def spoil(kit: StoreKit, log_offset: int) -> None:
    """Change a byte of a record's body on the disk."""
    number, position = divmod(log_offset, SMALL.log_file_bytes)
    path = f"store/commitlog/{number * SMALL.log_file_bytes:020}"
    content = bytearray(kit.disk.read(path))
    content[position + 88] ^= 0xFF
    kit.disk.replace(path, bytes(content))


def test_many_records_are_found_over_all_their_files() -> None:
    rig = Rig()
    for number in range(300):
        rig.half()
        if number % 3:
            rig.op(b"%d," % number)
        rig.kit.step()
        rig.kit.worker.run_all()
    assert rig.open_offsets() == list(range(0, 300, 3))
