"""IncomingRecords appends the bytes that a master sends to the slave's log, record by record.

A packet may end inside a record. The bytes of that record wait in memory until the rest has come;
whole records go from the received chunk into the log without another copy.

A store that is busy takes nothing for a moment (a topic is being deleted, the disk is behind). Then
the bytes wait in memory, and `go_on` tries again; the caller reads no more meanwhile.

I1. The log gets whole records only, each at exactly its end.
I2. No more than one record waits, and its size is believed only if its log file has room for it.
    While the store is busy, what was read already waits, too.
I3. What waits is not counted as appended: `end_offset` is never ahead of the log.
"""

from aerobee.errors import RemoteProtocolError, StoreBusy
from aerobee.replication.replicated_log import ReplicatedLog

_SIZE_BYTES = 4
_RECORD_BYTES_MIN = 8  # a filler may be as short


class IncomingRecords:
    def __init__(self, log: ReplicatedLog, log_file_bytes: int, start_offset: int) -> None:
        """`start_offset` is the end of the log; of an empty log, where it is to begin."""
        self._log = log
        self._file_bytes = log_file_bytes
        # Of a record that has not come whole; or all that waits for the store.
        self._head = bytearray()
        self.busy: StoreBusy | None = None
        """Why the store takes nothing now; None: it does."""
        self.end_offset = start_offset
        """The end of the records that were appended."""

    @property
    def next_offset(self) -> int:
        """The log offset of the next byte to come."""
        return self.end_offset + len(self._head)

    def take(self, log_offset: int, data: memoryview) -> None:
        """Append what is whole of these bytes and keep the rest. RemoteProtocolError: they are not
        the next, or no record; other errors are the log's. Sound records before are appended."""
        if log_offset != self.next_offset:
            raise RemoteProtocolError(
                f"a packet at offset {log_offset}, and {self.next_offset} is next"
            )
        position = self._complete(data) if self._head and self.busy is None else 0
        if self.busy is not None:
            self._head += data[position:]
        elif position < len(data):
            rest = data[position:]
            self._keep(rest[self._append(rest) :])

    def go_on(self) -> None:
        """Try again what the store was too busy for. Errors as of `take`."""
        waiting, self._head, self.busy = memoryview(self._head), bytearray(), None
        self._keep(waiting[self._append(waiting) :])

    def _append(self, data: memoryview) -> int:
        """Append the whole records at the begin of these bytes; how many bytes that were."""
        try:
            taken = self._log.append_raw(self.end_offset, data)
        except StoreBusy as error:
            # An empty log ends before the place at which it is to begin.
            taken = max(0, self._log.end_offset - self.end_offset)
            self.busy = error
        self.end_offset += taken
        return taken

    def _complete(self, data: memoryview) -> int:
        """Fill up the record that has begun, and append it once it is whole; the bytes taken."""
        head = self._head
        position = 0
        while len(head) < (size := self._size_of_head()):
            if position == len(data):
                return position
            more = min(size - len(head), len(data) - position)
            head += data[position : position + more]
            position += more
        self._head = bytearray()  # first: what is refused comes again, from the next link
        taken = self._append(memoryview(head))
        if self.busy is not None:
            self._head = head[taken:]
        elif taken != len(head):
            raise RemoteProtocolError(f"no record at offset {self.end_offset}")
        return position

    def _keep(self, tail: memoryview) -> None:
        self._head = bytearray(tail)
        if self.busy is None and len(tail) > 0 and self._size_of_head() <= len(tail):
            raise RemoteProtocolError(f"no record at offset {self.end_offset}")

    def _size_of_head(self) -> int:
        """The size of the record that has begun, or of its size field while that is not there."""
        if len(self._head) < _SIZE_BYTES:
            return _SIZE_BYTES
        size = int.from_bytes(self._head[:_SIZE_BYTES], "big", signed=True)
        room = self._file_bytes - self.end_offset % self._file_bytes
        if not _RECORD_BYTES_MIN <= size <= room:
            raise RemoteProtocolError(
                f"a record of {size} bytes at offset {self.end_offset}, where its log file has room"
                f" for {room}",
                hint="mappedFileSizeCommitLog must be the same on master and slave",
            )
        return size
