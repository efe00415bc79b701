"""A log in memory and both sides of replication without a network, for tests of replication.

Records are as small as the HA protocol lets them be: a size, a magic and a body whose last byte is
the sum of the others, so that damage is noticed.
"""

from collections.abc import Sequence
from typing import Any

from aerobee.errors import Misuse, StorageError
from aerobee.ports.clock import Now
from aerobee.ports.service import CloseLink, Effects, LinkId, LinkWrite, OpenLink, Peer
from aerobee.protocol.message.record import MAGIC_FILLER, MAGIC_V2
from aerobee.replication.config import ReplicationConfig
from aerobee.replication.replica import Follow, LogCheck, Replica, Verdict
from aerobee.replication.transfer import encode_header

FILE_BYTES = 1_000
MASTER = "10.0.0.1:10912"


class BadRecord(StorageError):
    pass


def record(body: bytes) -> bytes:
    data = body + bytes([sum(body) % 256])
    return _head(8 + len(data), MAGIC_V2) + data


def _head(size: int, magic: int) -> bytes:
    return size.to_bytes(4, "big") + magic.to_bytes(4, "big", signed=True)


class MemoryLog:
    """A `ReplicatedLog`. What is not flushed is lost by `cut_power`."""

    def __init__(self, min_offset: int = 0, file_bytes: int = FILE_BYTES) -> None:
        self.file_bytes = file_bytes
        self.min_offset = min_offset
        self.flushed_offset = min_offset
        self.appends = 0
        self.refusal: StorageError | OSError | None = None
        self._data = bytearray()

    @property
    def end_offset(self) -> int:
        return self.min_offset + len(self._data)

    def content(self, start: int, end: int) -> bytes:
        return bytes(self._data[start - self.min_offset : end - self.min_offset])

    def append(self, body: bytes) -> int:
        """A record, behind a filler if it does not fit; the end of the log."""
        data = record(body)
        room = self.file_bytes - self.end_offset % self.file_bytes
        if len(data) + 8 > room:
            self._data += _head(room, MAGIC_FILLER) + bytes(room - 8)
        self._data += data
        return self.end_offset

    def flush(self) -> None:
        self.flushed_offset = self.end_offset

    def cut_power(self) -> None:
        del self._data[max(0, self.flushed_offset - self.min_offset) :]

    def cut(self, offset: int) -> None:
        """End the log here."""
        del self._data[offset - self.min_offset :]
        self.flushed_offset = min(self.flushed_offset, offset)

    def record_start(self, offset: int) -> int:
        """The start of the record that this offset is in."""
        start = self.min_offset
        while start + (size := int.from_bytes(self.content(start, start + 4), "big")) <= offset:
            start += size
        return start

    def delete_to(self, offset: int) -> None:
        """Remove the oldest files."""
        assert offset % self.file_bytes == 0
        del self._data[: offset - self.min_offset]
        self.min_offset = offset

    # As both sides use it.

    def log_slices(self, offset: int, limit: int) -> memoryview:
        if not self.min_offset <= offset < self.end_offset:
            return memoryview(b"")
        end = min(offset + limit, self.end_offset, offset + self._room_at(offset))
        return memoryview(self.content(offset, end))

    def append_raw(self, log_offset: int, data: memoryview) -> int:
        self.appends += 1
        if not self._data and self.min_offset == 0 and log_offset % self.file_bytes == 0:
            self.min_offset = self.flushed_offset = log_offset  # a new log begins anywhere
        if log_offset != self.end_offset:
            raise Misuse(f"an append at {log_offset} to a log that ends at {self.end_offset}")
        if self.refusal is not None:
            raise self.refusal
        taken = 0
        while size := self._whole_size(data[taken:]):
            self._data += data[taken : taken + size]
            taken += size
        return taken

    def _room_at(self, offset: int) -> int:
        return self.file_bytes - offset % self.file_bytes

    def _whole_size(self, data: memoryview) -> int:
        """The size of the record here; 0: it is not whole."""
        if len(data) < 8:
            return 0
        size = int.from_bytes(data[:4], "big", signed=True)
        magic = int.from_bytes(data[4:8], "big", signed=True)
        if magic not in (MAGIC_V2, MAGIC_FILLER) or size < (9 if magic == MAGIC_V2 else 8):
            raise BadRecord(f"no record at {self.end_offset}", hint="compare the logs")
        if size > len(data):
            return 0
        if magic == MAGIC_V2 and sum(data[8 : size - 1]) % 256 != data[size - 1]:
            raise BadRecord(f"an unsound record at {self.end_offset}", hint="compare the logs")
        return size


def filled_log(records: int, body_bytes: int = 50, **given: Any) -> MemoryLog:
    log = MemoryLog(**given)
    for number in range(records):
        log.append(number.to_bytes(4, "big") + bytes(number % body_bytes))
    log.flush()
    return log


def at(ms: int) -> Now:
    return Now(1_700_000_000_000 + ms, ms)


def peer(host: str = "10.0.0.2", port: int = 40_000) -> Peer:
    return Peer(host, port)


def written(effects: Effects, link: int = 1) -> bytes:
    """The bytes that are written to a link."""
    return b"".join(
        bytes(buffer)
        for effect in effects
        if isinstance(effect, LinkWrite) and effect.link == link
        for buffer in effect.buffers
    )


def closed(effects: Effects) -> list[str]:
    """Why links are closed."""
    return [effect.reason for effect in effects if isinstance(effect, CloseLink)]


def dialed(effects: Effects) -> list[str]:
    return [effect.address for effect in effects if isinstance(effect, OpenLink)]


class Agreed(LogCheck):
    """A check that says at once, or when told, to follow from the end of the log."""

    def __init__(self, log: MemoryLog, *, is_instant: bool = True) -> None:
        self.log = log
        self.is_instant = is_instant
        self.tickets: list[int] = []
        self.verdict: Verdict | None = None
        self.replica: Replica | None = None

    def begin(self, ticket: int, now: Now) -> Effects:
        self.tickets.append(ticket)
        return self.answer(now) if self.is_instant else []

    def answer(self, now: Now, verdict: Verdict | None = None) -> Effects:
        assert self.replica is not None
        decided = verdict or self.verdict or Follow(self.log.end_offset)
        return self.replica.checked(self.tickets[-1], decided, now)


class Slave:
    """A replica with its log; `link` is its connection."""

    def __init__(
        self,
        log: MemoryLog | None = None,
        *,
        acks_flushed: bool = False,
        is_instant: bool = True,
        master: str = MASTER,
        **settings: Any,
    ) -> None:
        self.log = log or MemoryLog()
        self.check = Agreed(self.log, is_instant=is_instant)
        self.replica = Replica(
            self.log,
            ReplicationConfig(master_ha_address=master, **settings),
            self.log.file_bytes,
            self.check,
            acks_flushed=acks_flushed,
        )
        self.check.replica = self.replica
        self.link = LinkId(0)

    def connect(self, ms: int = 0) -> Effects:
        """Dial and be connected; what follows from that."""
        assert dialed(self.replica.step(at(ms)))
        self.link = LinkId(self.link + 1)
        return self.replica.on_link_open(self.link, Peer("10.0.0.1", 10912), True, at(ms))

    def receive(self, ms: int, *chunks: bytes) -> Effects:
        effects: Effects = []
        for chunk in chunks:
            effects += self.replica.on_link_bytes(self.link, chunk, at(ms))
        return effects


def packets(log: MemoryLog, start: int, end: int, size_max: int = 64) -> bytes:
    """Packets with the log from `start` to `end`, as a master sends them."""
    stream = []
    while start < end:
        body = log.log_slices(start, min(size_max, end - start))
        assert body, f"the log ends at {log.end_offset}"
        stream += [encode_header(start, len(body)), bytes(body)]
        start += len(body)
    return b"".join(stream)


def chunked(stream: bytes, size: int) -> Sequence[bytes]:
    return [stream[start : start + size] for start in range(0, len(stream), size)]
