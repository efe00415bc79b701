"""HA stream codec: reports of a slave and transfer packets of a master, in any chunking.

A slave sends reports, 8 bytes each. The first asks for the log from this offset on, each later one
acknowledges the log up to it:

    0                8
    +----------------+
    | log offset i64 |
    +----------------+

A master sends transfer packets:

    0                8           12               12 + size
    +----------------+-----------+----------------+
    | log offset i64 | size i32  | bytes of the   |
    | of the first   | of the    | commit log     |
    | byte           | body      |                |
    +----------------+-----------+----------------+

The body may begin and end inside a record. Size 0 is a heartbeat; its offset is the one at which
the next body will begin.

T1. A number is checked before anything behind it is read.
T2. A body is not copied and need not come whole: it is handed on in pieces as it arrives. Between
    chunks a reader holds fewer bytes than one header has.
T3. After a bad number the stream cannot be trusted: the reader stays broken.
"""

import struct

from aerobee.errors import RemoteProtocolError

REPORT_BYTES = 8
HEADER_BYTES = 12
BODY_BYTES_MAX = 16 << 20
"""No master sends that much at once: Apache's slave has room for 4 MiB."""
OFFSET_MAX = 2**63 - 1

_REPORT = struct.Struct(">q")
_HEADER = struct.Struct(">qi")
_NOTHING = memoryview(b"")


def encode_report(log_offset: int) -> bytes:
    return _REPORT.pack(log_offset)


def encode_header(log_offset: int, size: int) -> bytes:
    """The header of a packet whose body is written behind it; with size 0, a heartbeat."""
    return _HEADER.pack(log_offset, size)


class ReportReader:
    """Cursor over the reports of one link, for the master.

    reader.receive(chunk)
    while reader.advance():
        ... reader.log_offset ...
    """

    __slots__ = ("_chunk", "_failure", "_position", "log_offset")

    def __init__(self) -> None:
        self._failure = ""
        # What has come, with the head of a report that began in an earlier chunk.
        self._chunk = b""
        self._position = 0
        # The current report.
        self.log_offset = 0

    def receive(self, data: bytes) -> None:
        """The next bytes of the stream. Call `advance` until it says False before the next."""
        head = self._chunk[self._position :]
        self._chunk = head + data if head else data
        self._position = 0

    def advance(self) -> bool:
        """Make the next report current. False: more bytes are needed. RemoteProtocolError: the
        link must be closed."""
        if self._failure:
            raise RemoteProtocolError(self._failure)
        if len(self._chunk) - self._position < REPORT_BYTES:
            return False
        (offset,) = _REPORT.unpack_from(self._chunk, self._position)
        if offset < 0:
            self._failure = f"a report of offset {offset}"
            raise RemoteProtocolError(self._failure)
        self._position += REPORT_BYTES
        self.log_offset = offset
        return True


class TransferReader:
    """Cursor over the packets of one link, for the slave.

        reader.receive(chunk)
        while reader.advance():
            ... reader.log_offset, reader.data ...

    Each step is a piece of a body, or a heartbeat, whose `data` is empty.
    """

    __slots__ = (
        "_body_bytes_max",
        "_chunk",
        "_failure",
        "_head",
        "_next_offset",
        "_position",
        "_size",
        "data",
        "log_offset",
    )

    def __init__(self, body_bytes_max: int = BODY_BYTES_MAX) -> None:
        self._body_bytes_max = body_bytes_max
        self._failure = ""
        self._chunk = _NOTHING
        self._position = 0
        # Of a header that has not come whole.
        self._head = b""
        # Of the current body: the offset of its next byte, and how many bytes are to come.
        self._next_offset = 0
        self._size = 0
        # The current piece.
        self.log_offset = 0
        self.data = _NOTHING

    def receive(self, data: "bytes | memoryview") -> None:
        """The next bytes of the stream. Call `advance` until it says False before the next; the
        pieces are views of this chunk."""
        self._chunk = memoryview(data)
        self._position = 0

    def advance(self) -> bool:
        """Make the next piece or heartbeat current. False: more bytes are needed.
        RemoteProtocolError: the link must be closed."""
        if self._failure:
            raise RemoteProtocolError(self._failure)
        if self._size == 0:
            if not self._read_header():
                return False
            if self._size == 0:
                self.log_offset, self.data = self._next_offset, _NOTHING
                return True
        position = self._position
        size = min(self._size, len(self._chunk) - position)
        if size == 0:
            self._drop_chunk()
            return False
        self.log_offset = self._next_offset
        self.data = self._chunk[position : position + size]
        self._position = position + size
        self._next_offset += size
        self._size -= size
        return True

    def _read_header(self) -> bool:
        """Read the header at the position; False: it goes on in the next chunk."""
        wanted = HEADER_BYTES - len(self._head)
        head = self._head + bytes(self._chunk[self._position : self._position + wanted])
        if len(head) < HEADER_BYTES:
            self._head = head
            self._drop_chunk()
            return False
        self._head = b""
        self._position += wanted
        offset, size = _HEADER.unpack(head)
        if offset < 0:
            self._refuse(f"a packet at offset {offset}")
        if not 0 <= size <= self._body_bytes_max:
            self._refuse(f"a packet of {size} bytes; at most {self._body_bytes_max} are accepted")
        if offset > OFFSET_MAX - size:
            self._refuse(f"a packet of {size} bytes at offset {offset}, beyond the largest offset")
        self._next_offset, self._size = offset, size
        return True

    def _drop_chunk(self) -> None:
        self._chunk = self.data = _NOTHING
        self._position = 0

    def _refuse(self, reason: str) -> None:
        self._failure = reason
        self._drop_chunk()
        raise RemoteProtocolError(reason)
