import struct

import pytest

from aerobee.model.topic import DataVersion
from aerobee.storage.timer.timer_checkpoint import (
    FILE_BYTES,
    Seal,
    TimerCheck,
    copied_check,
    decode_check,
    encode_check,
    version_of,
    wire_check,
)

CHECK = TimerCheck(1_700_000_000_000, 5_200, 100, 100, 0, 1_700_000_000_123, 9)
SEAL = Seal(1_000, 172_800_000, 1_209_600)


def test_rocketmqs_part_is_seven_longs() -> None:
    data = encode_check(CHECK, SEAL)
    assert len(data) == FILE_BYTES
    assert struct.unpack(">7q", data[:56]) == CHECK
    assert wire_check(CHECK) == data[:56]


def test_what_is_sealed_is_read_back_with_its_seal() -> None:
    assert decode_check(encode_check(CHECK, SEAL)) == (CHECK, SEAL)
    assert decode_check(encode_check(CHECK, None)) == (CHECK, None)


def test_a_file_that_rocketmq_wrote_over_has_no_seal() -> None:
    data = bytearray(encode_check(CHECK, SEAL))
    data[0:56] = struct.pack(">7q", *CHECK._replace(queue_offset=101))
    assert decode_check(bytes(data)) == (CHECK._replace(queue_offset=101), None)


def test_no_flipped_bit_leaves_a_seal() -> None:
    data = encode_check(CHECK, SEAL)
    for bit in range(8 * 100):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        found = decode_check(bytes(flipped))
        assert found is None or found[1] is None


@pytest.mark.parametrize("data", [b"", bytes(55), struct.pack(">7q", -1, 0, 0, 0, 0, 0, 0)])
def test_what_is_no_checkpoint_is_none(data: bytes) -> None:
    assert decode_check(data) is None


def test_a_short_file_of_a_foreign_kind_has_no_seal() -> None:
    assert decode_check(encode_check(CHECK, SEAL)[:200]) == (CHECK, None)


def test_a_slaves_checkpoint_has_what_its_master_knew_and_no_files_of_its_own() -> None:
    copied = copied_check(CHECK, queue_end=1_000)
    assert copied == TimerCheck(CHECK.read_ms, 0, 0, 100, 0, CHECK.timestamp, CHECK.counter)
    assert copied.taken_in == CHECK.taken_in == 100
    assert copied_check(copied, queue_end=1_000) == copied
    assert version_of(copied) == DataVersion(0, 9, 1_700_000_000_123)


def test_a_slaves_checkpoint_speaks_of_no_message_behind_the_end_of_its_queue() -> None:
    assert copied_check(CHECK, queue_end=40).taken_in == 40


def test_rocketmqs_slave_has_the_masters_queue_offset_beside_its_own() -> None:
    assert CHECK._replace(queue_offset=60).taken_in == 100
    assert CHECK._replace(master_queue_offset=0).taken_in == 100
