"""The commit log: every message of every topic, one behind another, in the order they came.

A draft becomes a record here and gets its log offset. Indexes are fed later, by `dispatch`.

Invariants:
L1. Records touch; none crosses a file. A file that cannot take the next one, and 8 bytes more, ends
    in a filler and the record opens the next file: so at least a filler always fits.
L2. A batch lies in one file whole.
L3. Beyond `end_offset` the last file holds zeros (recovery sees to it), so that what lies behind
    the newest record is never mistaken for one.
L4. Store timestamps never go back, whatever the wall clock does. (Raw records bring their own.)

Called from the core's thread only.
"""

from typing import TYPE_CHECKING

from aerobee.errors import MessageIllegal, MessageTooLarge, Misuse
from aerobee.protocol.message.batch_cursor import BatchCursor
from aerobee.protocol.message.message_draft import MessageDraft
from aerobee.protocol.message.record import RecordWriter
from aerobee.storage.commit.log_files import LogFiles
from aerobee.storage.commit.write_through import LARGE_BYTES, WriteThrough
from aerobee.storage.files.file_sequence import FileSequence
from aerobee.storage.files.mapped_file import MappedFile

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.protocol.message.record import write_filler
    from aerobee.protocol.primitives.big_endian import address, copy_bytes, load_i32

BATCH_ENTRIES_MAX = 4096  # far above what a 4 MiB body is used for; bounds one append
_LARGE_BYTES = LARGE_BYTES


def is_compiled() -> bool:
    return cython.compiled


class CommitLog:
    """Appends records, and knows where the log begins and ends."""

    __slots__ = (
        "_batch",
        "_file",
        "_files",
        "_memory",
        "_position",
        "_record_bytes_max",
        "_through",
        "_writer",
        "is_large",
        "last_count",
        "last_timestamp",
        "sequence",
    )

    def __init__(self, files: LogFiles, writer: RecordWriter, record_bytes_max: int) -> None:
        self._files = files
        self.sequence: FileSequence = files.sequence
        self._writer = writer
        self._record_bytes_max = record_bytes_max
        self._batch = BatchCursor()
        self._through = WriteThrough()
        self._position = 0
        # Whether the last append was: those that follow will want no pages made ready.
        self.is_large = False
        # Store timestamp of the newest record.
        self.last_timestamp = 0
        # How many records the last append made.
        self.last_count = 0

    def start_at(self, end_offset: int, last_timestamp: int) -> None:
        """Go on at the end that recovery found, in a new file if the last one is full."""
        if end_offset == self.sequence.end_offset():
            self._use(self._files.advance())
        else:
            self._use(self.sequence.files[-1])
        file = self._file
        assert file.first_offset <= end_offset < file.first_offset + file.size
        self._position = end_offset - file.first_offset
        self.last_timestamp = last_timestamp

    def _use(self, file: MappedFile) -> None:
        self._file = file
        self._memory = file.memory
        self._position = 0

    # Where the log is.

    def end_offset(self) -> int:
        return self._file.first_offset + self._position

    def min_offset(self) -> int:
        return self.sequence.first_offset()

    def is_half_full(self) -> bool:
        """Whether the current file is filled so far that the next one should be made."""
        return self._position * 2 > self._file.size

    # Appending.

    def append(self, draft: MessageDraft, queue_offset: int, wall_ms: int) -> int:
        """The draft as one record, or a batch's as many; the log offset of the first.

        MessageIllegal, and nothing appended, if it cannot be stored as it is.
        """
        stamp = wall_ms if wall_ms > self.last_timestamp else self.last_timestamp
        self._writer.begin(draft, stamp)
        if draft.is_batch:
            log_offset = self._append_batch(draft, queue_offset)
            self.last_timestamp = stamp
            return log_offset
        size = self._writer.size_of(draft.body_size, draft.properties, 0, draft.properties_size)
        self._check_size(size)
        if size + 8 > self._file.size - self._position:
            self._roll()
        log_offset = self._file.first_offset + self._position
        memory = self._memory
        at = self._begin(size)
        if self.is_large:
            at = self._through.place(size)
            memory = self._through.memory
        self._writer.write(
            memory,
            at,
            size,
            draft.flag,
            queue_offset,
            log_offset,
            draft.body,
            0,
            draft.body_size,
            draft.properties,
            0,
            draft.properties_size,
        )
        if self.is_large:
            self._through.end()
        self._position += size
        self.last_count = 1
        self.last_timestamp = stamp
        return log_offset

    def _begin(self, size: int) -> int:
        """So many bytes are appended now, if they are few from this position of the file on."""
        self.is_large = size >= _LARGE_BYTES
        if self.is_large:
            self._through.begin(self._file, self._position)
        return self._position

    def _append_batch(self, draft: MessageDraft, queue_offset: int) -> int:
        if draft.sys_flag & 0xC:
            raise MessageIllegal("a batch cannot be part of a transaction")
        total = self._measure_batch(draft)
        if total + 8 > self._file.size - self._position:
            if total + 8 > self._file.size:
                raise MessageTooLarge(f"a batch of {total} bytes does not fit in a log file")
            self._roll()
        first_offset = self._file.first_offset + self._position
        batch = self._batch
        batch.rewind()
        memory = self._memory
        at = self._begin(total)
        count = 0
        while batch.advance(draft.body, draft.body_size) > 0:
            size = self._writer.size_of(
                batch.body_size, draft.body, batch.properties_start, batch.properties_size
            )
            if self.is_large:
                at = self._through.place(size)
                memory = self._through.memory
            self._writer.write(
                memory,
                at,
                size,
                batch.flag,
                queue_offset + count,
                self._file.first_offset + self._position,
                draft.body,
                batch.body_start,
                batch.body_size,
                draft.body,
                batch.properties_start,
                batch.properties_size,
            )
            self._position += size
            at += size
            count += 1
        if self.is_large:
            self._through.end()
        self.last_count = count
        return first_offset

    def _measure_batch(self, draft: MessageDraft) -> int:
        """Bytes of all records of a batch; MessageIllegal if an entry cannot be stored."""
        batch = self._batch
        batch.rewind()
        total = 0
        count = 0
        found = batch.advance(draft.body, draft.body_size)
        while found > 0:
            size = self._writer.size_of(
                batch.body_size, draft.body, batch.properties_start, batch.properties_size
            )
            self._check_size(size)
            total += size
            count += 1
            found = batch.advance(draft.body, draft.body_size)
        if found < 0:
            raise MessageIllegal(f"the batch body is malformed after {count} messages")
        if count == 0 or count > BATCH_ENTRIES_MAX:
            raise MessageIllegal(f"a batch of {count} messages; 1 to {BATCH_ENTRIES_MAX} may be")
        return total

    def _check_size(self, size: int) -> None:
        if size < 0:
            if size == -2:
                raise MessageIllegal("the properties end in the reserved property __CRC32#")
            raise MessageTooLarge("the properties are longer than 32767 bytes with their checksum")
        if size > self._record_bytes_max:
            raise MessageTooLarge(
                f"a record of {size} bytes; at most {self._record_bytes_max} are allowed"
            )

    def _roll(self) -> None:
        """End the current file with a filler and go on in the next."""
        file = self._files.advance()
        write_filler(self._memory, self._position, self._file.size - self._position)
        self._use(file)

    # Raw records: bytes of another log that begin where this one ends (`raw_walk` judges them).

    def append_raw(self, data: memoryview, start: int, size: int, last_timestamp: int) -> None:
        """Append whole records that lie together, the last of which was stored then."""
        self._put_raw(data, start, size, self._file.size - self._position - 8)
        self._position += size
        self.last_timestamp = last_timestamp

    def append_raw_filler(self, data: memoryview, start: int, size: int) -> None:
        """End the current file with the filler of another log and go on in the next file."""
        if size != self._file.size - self._position:
            raise Misuse(f"a filler of {size} bytes, not {self._file.size - self._position}")
        file = self._files.advance()
        self._put_raw(data, start, size, size)
        self._use(file)

    def _put_raw(self, data: memoryview, start: int, size: int, size_max: int) -> None:
        # C would write on behind the file, and read on behind the data.
        if size <= 0 or size > size_max or start < 0 or start > len(data) - size:
            raise Misuse(f"{size} bytes from {start} of {len(data)}; {size_max} fit")
        self.is_large = size >= _LARGE_BYTES
        if self.is_large:
            self._through.pass_on(self._file, self._position, data[start : start + size])
        else:
            copy_bytes(self._memory, self._position, address(data), start, size)

    # Looking back.

    def record_offsets(self, first_offset: int, count: int) -> list[int]:
        """The log offsets of `count` records that lie one behind another in one file."""
        file = self.sequence.find(first_offset)
        assert file is not None
        offsets = []
        position = first_offset - file.first_offset
        for _ in range(count):
            offsets.append(file.first_offset + position)
            position += load_i32(file.memory, position)
        return offsets
