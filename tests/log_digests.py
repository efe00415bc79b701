"""SHA-256 of every MiB of a commit log, from its files.

The files are read from the disk while their broker runs: it writes through mappings that the system
shares with readers.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path

PIECE_BYTES = 1 << 20


def check_same_bytes(store: Path, other: Path, begin: int, end: int) -> None:
    """Compare two logs between two log offsets, which both have."""
    offset = begin
    for one, two in zip(digests(store, begin, end), digests(other, begin, end), strict=True):
        assert one == two, f"the logs differ within {PIECE_BYTES} bytes from {offset} on"
        offset += PIECE_BYTES


def digests(store: Path, begin: int, end: int) -> Iterator[str]:
    """The SHA-256 of every piece of a log between two offsets."""
    digest, left = hashlib.sha256(), PIECE_BYTES
    for data in _pieces(store / "commitlog", begin, end):
        while data:
            digest.update(data[:left])
            data, left = data[left:], left - len(data[:left])
            if left == 0:
                yield digest.hexdigest()
                digest, left = hashlib.sha256(), PIECE_BYTES
    yield digest.hexdigest()


def _pieces(folder: Path, begin: int, end: int) -> Iterator[bytes]:
    for file in sorted(folder.iterdir()):
        first = int(file.name)
        with file.open("rb") as opened:
            opened.seek(max(0, begin - first))
            offset = first + opened.tell()
            while offset < end and (data := opened.read(min(PIECE_BYTES, end - offset))):
                yield data
                offset += len(data)
