import pytest

from aerobee.sim.disk import SimDisk
from aerobee.storage.recover.checkpoint import FILE_BYTES, Checkpoint, CheckpointFields

PATH = "store/checkpoint"

# The first 48 bytes of what RocketMQ 5.5.0 left after a clean stop and after a kill; the rest of
# each file is zeros.
STOPPED = bytes.fromhex(
    "000001a1de822ec9 000001a1de822ec9 000001a1de81bdf1"
    "0000000000000000 0000000000000000 000000000021b900"
)
KILLED = bytes.fromhex(
    "000001a1de8470ef 000001a1de822ec9 000001a1de847e79"
    "0000000000000000 000000000021b900 000000000021b900"
)


def _rocketmq_file(head: bytes) -> SimDisk:
    disk = SimDisk()
    disk.replace(PATH, head + bytes(FILE_BYTES - len(head)))
    return disk


def test_rocketmqs_own_files_are_read() -> None:
    stopped = Checkpoint.open(_rocketmq_file(STOPPED), PATH).fields
    assert stopped == CheckpointFields(
        log_timestamp_ms=1794734436041,
        queue_timestamp_ms=1794734436041,
        index_timestamp_ms=1794734407153,
        master_flushed_offset=0,
        confirmed_offset=0,
        queue_log_offset=2210048,
    )
    killed = Checkpoint.open(_rocketmq_file(KILLED), PATH)
    assert killed.fields.log_timestamp_ms == 1794734584047
    assert killed.fields.confirmed_offset == 2210048


def test_recovery_starts_three_seconds_before_the_older_of_log_and_queues() -> None:
    killed = Checkpoint.open(_rocketmq_file(KILLED), PATH)
    assert killed.start_timestamp_ms() == 1794734436041 - 3000
    killed.write(CheckpointFields(log_timestamp_ms=5000, queue_timestamp_ms=9000))
    assert killed.start_timestamp_ms() == 2000
    killed.write(CheckpointFields(log_timestamp_ms=2999, queue_timestamp_ms=9000))
    assert killed.start_timestamp_ms() == 0


def test_what_we_write_is_rocketmqs_file_byte_for_byte() -> None:
    fields = Checkpoint.open(_rocketmq_file(KILLED), PATH).fields
    disk = SimDisk()
    ours = Checkpoint.open(disk, PATH)
    ours.write(fields)
    assert disk.read(PATH) == KILLED + bytes(FILE_BYTES - len(KILLED))


def test_bytes_beyond_the_fields_are_left_as_they_are() -> None:
    disk = _rocketmq_file(STOPPED + b"a later field")
    checkpoint = Checkpoint.open(disk, PATH)
    checkpoint.write(CheckpointFields(1, 2, 3, 4, 5, 6))
    assert disk.read(PATH)[48:61] == b"a later field"


@pytest.mark.parametrize("content", [None, b"", bytes(100), b"\xff" * 5000])
def test_a_missing_or_misshapen_file_becomes_zeros(content: bytes | None) -> None:
    disk = SimDisk()
    if content is not None:
        disk.replace(PATH, content)
    checkpoint = Checkpoint.open(disk, PATH)
    assert checkpoint.fields == CheckpointFields()
    assert checkpoint.start_timestamp_ms() == 0
    assert disk.power_cut().read(PATH) == bytes(FILE_BYTES)


def test_a_synced_checkpoint_survives_a_power_cut() -> None:
    disk = SimDisk()
    checkpoint = Checkpoint.open(disk, PATH)
    checkpoint.write(CheckpointFields(1, 2, 3, 4, 5, 6))
    assert Checkpoint.open(disk.power_cut(), PATH).fields == CheckpointFields()
    checkpoint.sync()
    assert Checkpoint.open(disk.power_cut(), PATH).fields == CheckpointFields(1, 2, 3, 4, 5, 6)
    checkpoint.close()
    assert Checkpoint.open(disk, PATH).fields == CheckpointFields(1, 2, 3, 4, 5, 6)
