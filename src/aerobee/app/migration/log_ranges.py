"""Ranges of a log that are compared by their hashes, and the hashes of a store's own files.

    log       |----------------------------------------------|
    spread    [MiB]      [MiB]      [MiB]      [MiB]     [MiB]
    all       [MiB][MiB][MiB][MiB][MiB][MiB][MiB][MiB][MiB][M]

A log that begins at offset 0 is compared from its second record on: RocketMQ's masters take a wish
for offset 0 for one for the last file. The first record is compared before a slave follows.
"""

import hashlib
import os
from collections.abc import Iterator
from typing import NamedTuple

from aerobee.errors import Misuse

PIECE_BYTES = 1 << 20
SPREAD_COUNT = 64


class LogRange(NamedTuple):
    start: int
    end: int


def spread_ranges(start: int, end: int, count: int = SPREAD_COUNT) -> list[LogRange]:
    """At most `count` pieces at equal distances, the first and the last of the log among them; all
    of it, if it has no more."""
    pieces = list(_piece_starts(start, end, count))
    return [LogRange(at, min(at + PIECE_BYTES, end)) for at in pieces]


def _piece_starts(start: int, end: int, count: int) -> Iterator[int]:
    if end - start <= count * PIECE_BYTES:
        yield from range(start, end, PIECE_BYTES)
        return
    last = end - PIECE_BYTES
    for number in range(count):
        yield start + (last - start) * number // (count - 1)


def first_comparable(root: str, log_start: int) -> int:
    """The log offset from which on a log can be asked for: behind the first record of a log that
    begins at 0."""
    if log_start > 0:
        return log_start
    path = os.path.join(root, "commitlog", f"{0:020d}")
    with open(path, "rb") as file:
        size = int.from_bytes(file.read(4), "big", signed=True)
    return max(0, size)


def own_hash(root: str, file_bytes: int, wanted: LogRange) -> str:
    """The SHA-256 of a range, read from the log files of a store. Misuse: they do not have it."""
    digest = hashlib.sha256()
    at = wanted.start
    while at < wanted.end:
        position = at % file_bytes
        size = min(wanted.end - at, file_bytes - position)
        path = os.path.join(root, "commitlog", f"{at - position:020d}")
        data = b""
        if os.path.exists(path):
            with open(path, "rb") as file:
                file.seek(position)
                data = file.read(size)
        if len(data) < size:
            raise Misuse(f"{path} does not have {size} bytes at position {position}")
        digest.update(data)
        at += size
    return digest.hexdigest()
