"""The stores that Apache RocketMQ 5.5.0 wrote (tests/vectors/stores), and what is in them.

An archive is read once per process and kept as the pages that are not zero, so that unpacking it
again costs milliseconds and the 38.7 MB timer wheel next to nothing. Files come out sparse.
"""

import io
import json
import lzma
import tarfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parent / "vectors" / "stores"
STORES = ("clean", "killed")

# How the broker that wrote them was set.
COMMIT_LOG_FILE_BYTES = 1_048_576
CONSUME_QUEUE_FILE_BYTES = 20_000
BATCH_CONSUME_QUEUE_FILE_BYTES = 46_000
INDEX_SLOTS = 500
INDEX_UNITS = 1_000
DELAY_LEVELS = "1s 2s 1s 1s 5m 6m 7m 8m 9m 10m 20m 30m 1h 2h 3h 4h 5h 24h"
BATCH_QUEUE_TOPIC = "FixBatchQueue"

_PAGE_BYTES = 4096


class PackedFile(NamedTuple):
    """One file of a store: its pages that hold something, by position."""

    path: str
    """Below the store's own folder: `commitlog/00000000000000000000`."""
    size: int
    pages: dict[int, bytes]

    def content(self) -> bytes:
        whole = bytearray(self.size)
        for position, page in self.pages.items():
            whole[position : position + len(page)] = page
        return bytes(whole)


class Acked(NamedTuple):
    """A message of the burst that was acknowledged before the kill."""

    number: int
    unique_id: str
    offset_message_id: str
    queue_id: int
    queue_offset: int


@cache
def files(name: str) -> tuple[PackedFile, ...]:
    """Every file of the store `name`."""
    found = []
    # Whole, and then by position: read as a stream, the zeros of the timer wheel take seconds.
    tar = lzma.decompress((FOLDER / f"{name}.tar.xz").read_bytes())
    with tarfile.open(fileobj=io.BytesIO(tar)) as archive:
        for member in archive:
            if member.isfile():
                start, end = member.offset_data, member.offset_data + member.size
                pages = {
                    position - start: page
                    for position in range(start, end, _PAGE_BYTES)
                    if (page := tar[position : min(position + _PAGE_BYTES, end)]).strip(b"\0")
                }
                found.append(PackedFile(member.name.removeprefix("store/"), member.size, pages))
    return tuple(found)


def unpack(name: str, folder: Path) -> Path:
    """Write the store into `folder` / name; where it lies now."""
    root = folder / name
    for packed in files(name):
        path = root / packed.path
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            for position, page in packed.pages.items():
                file.seek(position)
                file.write(page)
            file.truncate(packed.size)
    return root


@cache
def expected(name: str) -> dict[str, Any]:
    """What Apache's broker found in the store. One object for all tests: do not change it."""
    with lzma.open(FOLDER / f"{name}.expected.json.xz") as file:
        found: dict[str, Any] = json.load(file)
    return found


def expected_messages(name: str) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """Topic, queue id and message, for every message that Apache's broker found."""
    for topic, described in expected(name)["topics"].items():
        for queue_id, queue in described["queues"].items():
            for message in queue["messages"]:
                yield topic, int(queue_id), message


@cache
def acked() -> tuple[Acked, ...]:
    """The burst messages of `killed` that were acknowledged."""
    with lzma.open(FOLDER / "killed.acked.txt.xz", "rt") as file:
        lines = [line.split() for line in file]
    return tuple(
        Acked(int(number), unique_id, offset_message_id, int(queue_id), int(queue_offset))
        for number, unique_id, offset_message_id, queue_id, queue_offset in lines
    )
