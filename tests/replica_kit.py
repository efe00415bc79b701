"""A master's log and a replica that copies it: bytes of a store, and a store fed with them.

data = log_bytes(master.store)            all bytes of its log, from its first file on
replica = StoreKit(config=...)
feed(replica.store, data, start, sizes)   in pieces, as a stream brings them
"""

from collections.abc import Iterable

from aerobee.protocol.message.record import RecordWriter
from aerobee.storage.store import Store
from tests.store_kit import SMALL, draft, properties

LIMIT = 1000


def log_bytes(store: Store) -> bytes:
    """The whole log, in slices, as a master sends it."""
    data = bytearray()
    offset = store.min_offset
    while part := store.log_slices(offset, LIMIT):
        assert len(part) <= LIMIT
        data += part
        offset += len(part)
    return bytes(data)


def feed(store: Store, data: bytes, start: int, sizes: Iterable[int]) -> None:
    """Append bytes of a log that begin at log offset `start`, as a stream brings them: pieces of
    these sizes, then the rest. What was not appended comes again with the next piece."""
    done = come = 0
    for size in (*sizes, len(data)):
        come = min(come + size, len(data))
        done += store.append_raw(start + done, memoryview(data)[done:come])


def raw_records(
    count: int, offset: int, *, first: int = 0, with_crc: bool = True, body: bytes = b""
) -> bytes:
    """Records that touch, the first at a log offset, each a message of one queue with a key; the
    first one has the queue offset `first`."""
    writer = RecordWriter(SMALL.store_host, with_crc)
    data = b""
    for number in range(first, first + count):
        message = draft(body=body or b"%d" % number, text=properties(KEYS=f"key{number}"))
        data += writer.encode(message, number, offset + len(data), 1_700_000_000_000 + number)
    return data
