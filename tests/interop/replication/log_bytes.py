"""Commit logs of a master and its slave, compared byte by byte: SHA-256 of every MiB.

The files are read from the disk while their brokers run: both write through mappings that the
system shares with readers.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path

from tests.interop.features.waiting import TooLong, until
from tests.interop.replication.brokers import Broker

PIECE_BYTES = 1 << 20


def wait_until_equal(master: Broker, slave: Broker, seconds: float = 90) -> int:
    """Wait until the slave's log ends where the master's does; compare them; their end.

    Nobody may send meanwhile."""
    try:
        until(lambda: slave.log_end() == master.log_end(), seconds, "the slave's log has an end")
    except TooLong:
        ends = f"{master.make}'s master ends at {master.log_end()}, slave at {slave.log_end()}"
        raise TooLong(f"after {seconds} s: {ends}\n{slave.said()[-4000:]}") from None
    check_equal(master, slave)
    return master.log_end()


def check_equal(master: Broker, slave: Broker) -> None:
    """Compare what both have, from the slave's first file on."""
    begin = max(master.log_begin(), slave.log_begin())
    end = min(master.log_end(), slave.log_end())
    theirs, ours = (_digests(broker.store, begin, end) for broker in (master, slave))
    offset = begin
    for one, other in zip(theirs, ours, strict=True):
        assert one == other, f"the logs differ within {PIECE_BYTES} bytes from {offset} on"
        offset += PIECE_BYTES


def _digests(store: Path, begin: int, end: int) -> Iterator[str]:
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


def log_files(broker: Broker) -> list[int]:
    """The log offsets at which its files begin; those that were made in advance are not counted."""
    begins = sorted(int(file.name) for file in (broker.store / "commitlog").iterdir())
    return [begin for begin in begins if _size_at(broker.store / "commitlog" / f"{begin:020}")]


def _size_at(file: Path) -> int:
    """The size of the first record of a file; 0: there is none."""
    with file.open("rb") as opened:
        return int.from_bytes(opened.read(4), "big")
