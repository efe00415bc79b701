"""Confirmed ends of logs, by the marks beside them."""

from pathlib import Path

import pytest

from aerobee.pipeline.log_table.log_commit import confirmed_end
from aerobee.pipeline.log_table.log_files import DamagedLog
from aerobee.protocol.message.durable_mark_slots import (
    FILE_BYTES,
    NO_BOUND,
    SLOT_POSITIONS,
    DurableMark,
    encode_slot,
)


def end_of(root: Path, content: bytes | None, *, fails: bool = True) -> int | None:
    folder = root / "commitlog"
    folder.mkdir(exist_ok=True)
    if content is not None:
        (root / "durable_mark").write_bytes(content)
    return confirmed_end(f"{folder}/", fails=fails)


def file_of(*confirmed: int) -> bytes:
    """Slots with the first sequences."""
    file = bytearray(FILE_BYTES)
    for sequence, (position, end) in enumerate(zip(SLOT_POSITIONS, confirmed, strict=False), 1):
        slot = encode_slot(DurableMark(flushed=max(confirmed), confirmed=end), sequence)
        file[position : position + len(slot)] = slot
    return bytes(file)


def test_the_newest_slot_counts(tmp_path: Path) -> None:
    assert end_of(tmp_path, file_of(500)) == 500
    assert end_of(tmp_path, file_of(500, 700)) == 700
    assert end_of(tmp_path, file_of(700, 500)) == 500  # the log was cut


def test_a_broken_slot_leaves_the_other(tmp_path: Path) -> None:
    content = bytearray(file_of(500, 700))
    content[SLOT_POSITIONS[1] + 80] ^= 1
    assert end_of(tmp_path, bytes(content)) == 500


def test_a_log_counts_to_its_end_without_copies_and_without_a_mark(tmp_path: Path) -> None:
    assert end_of(tmp_path, None) is None
    assert end_of(tmp_path, file_of(NO_BOUND)) is None


@pytest.mark.parametrize("content", [b"", bytes(FILE_BYTES), b"\xff" * FILE_BYTES])
def test_a_mark_that_cannot_be_believed_is_named_or_warned_of(
    tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(DamagedLog, match="durable_mark does not say how far"):
        end_of(tmp_path, content)
    assert end_of(tmp_path, content, fails=False) is None
    assert "cannot be believed" in caplog.text
