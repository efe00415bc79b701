"""The walks over a log's bytes, compiled and pure: they pass and refuse the same records."""

import importlib
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aerobee._compiled import is_compiled
from tests.pure import pure
from tests.replica_kit import raw_records

pytestmark = pytest.mark.skipif(
    not is_compiled("aerobee.storage.commit.raw_walk"), reason="nothing is compiled"
)

FILE_BYTES = 4096
BASE = 5 * FILE_BYTES


def log_part(seed: int) -> bytearray:
    """Records with and without the record CRC, and perhaps a filler and a part of what follows."""
    dice = random.Random(seed)
    data = bytearray()
    for _ in range(dice.randrange(1, 6)):
        body = dice.randbytes(dice.choice([0, 5, 700]))
        data += raw_records(1, BASE + len(data), with_crc=dice.random() < 0.7, body=body)
    if dice.random() < 0.5:
        left = FILE_BYTES - len(data) + dice.choice([0, 0, 0, 1])
        data += left.to_bytes(4, "big") + bytes.fromhex("cbd43194") + bytes(max(0, left - 8))
        data += raw_records(1, BASE + FILE_BYTES)
    return data


def outcome(module: Callable[[str], Any], data: bytes, file_end: int) -> Any:
    folders = module("aerobee.storage.index.queue_folders")
    walk = module("aerobee.storage.commit.raw_walk").RawWalk(
        folders.topic_byte_table(), folders.QUEUE_ID_MAX
    )
    answers = []
    for end in range(0, len(data) + 1, 13):
        found = walk.run(memoryview(data)[:end], 0, BASE, file_end)
        size = walk.size if found == 1 else 0
        answers.append((found, walk.position, walk.is_all_crc, walk.last_timestamp, size))
    return answers


def places(module: Callable[[str], Any], data: bytes) -> Any:
    walks = module("aerobee.storage.read.record_walk")
    disk_file = module("aerobee.sim.disk").SimDisk().create("commitlog/file", FILE_BYTES)
    disk_file.view[:] = data[:FILE_BYTES].ljust(FILE_BYTES, b"\0")
    file = module("aerobee.storage.files.mapped_file").MappedFile(disk_file, BASE)
    walk = walks.RecordWalk()
    answers = []
    for end in range(0, FILE_BYTES, 97):
        found = walk.run(file, 0, end)
        answers.append((found, walk.count, walk.position, walk.last_position, walk.last_timestamp))
    return answers, list(walks.RecordOffsets(file, walk.count))


@given(
    st.integers(0, 1 << 30),
    st.lists(st.tuples(st.integers(0, 10**6), st.integers(1, 255)), max_size=2),
    st.sampled_from([BASE + FILE_BYTES, BASE + 300]),
)
def test_both_walk_alike(seed: int, flips: list[tuple[int, int]], file_end: int) -> None:
    data = log_part(seed)
    for place, value in flips:
        data[place % len(data)] ^= value
    compiled = importlib.import_module
    assert outcome(compiled, bytes(data), file_end) == outcome(pure, bytes(data), file_end)
    assert places(compiled, bytes(data)) == places(pure, bytes(data))
