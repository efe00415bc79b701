"""Commit logs of a master and its slave, compared byte by byte: SHA-256 of every MiB."""

from pathlib import Path

from tests.interop.features.waiting import TooLong, until
from tests.interop.replication.brokers import Broker
from tests.log_digests import check_same_bytes


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
    check_same_bytes(master.store, slave.store, begin, end)


def log_files(broker: Broker) -> list[int]:
    """The log offsets at which its files begin; those that were made in advance are not counted."""
    begins = sorted(int(file.name) for file in (broker.store / "commitlog").iterdir())
    return [begin for begin in begins if _size_at(broker.store / "commitlog" / f"{begin:020}")]


def record_end(broker: Broker, offset: int) -> int:
    """The end of the record that begins at a log offset; the offset itself: there is none."""
    files = [int(file.name) for file in (broker.store / "commitlog").iterdir()]
    begin = max(one for one in files if one <= offset)
    return offset + _size_at(broker.store / "commitlog" / f"{begin:020}", offset - begin)


def _size_at(file: Path, position: int = 0) -> int:
    """The size of the record at a position of a file; 0: there is none."""
    with file.open("rb") as opened:
        opened.seek(position)
        return int.from_bytes(opened.read(4), "big")
