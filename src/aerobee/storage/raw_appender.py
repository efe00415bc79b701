"""RawAppender appends bytes of another broker's log to the log of a replica.

    data   ... record │ record │ filler ║ record │ rec...       ║ ends a log file
           ─────────── appended as they came ────▶ waits for the rest

A1. A replica's log is at every moment a byte prefix of its master's, from its own first file on:
    whole records and fillers, each judged before it is written (`raw_walk`), and files that end
    where the master's end.
A2. A log without records begins where the master's bytes do, at the begin of a log file. So a
    replica of a master whose first files are gone has what the master has.
A3. A record without the record CRC is appended only after the durable mark says that such records
    may be there. Recovery and readers would call it damaged.

Records run in one copy into each file. Queues and index follow by dispatch, flushing and warming by
the store's steps, as for any append. A store that is given raw records must not be given drafts:
the queue offsets of drafts are known only once everything before them is dispatched.

Called from the core's thread only.
"""

from aerobee.errors import Misuse, RawRecordRefused, StorageError, StoreBusy
from aerobee.protocol.message.durable_mark_slots import NO_CRC
from aerobee.protocol.message.record_check import WRONG_FILLER
from aerobee.storage.commit.flush import Flush
from aerobee.storage.commit.raw_walk import CROSSING, FILLER, INCOMPLETE, RAW_FINDINGS, RawWalk
from aerobee.storage.index.queue_folders import QUEUE_ID_MAX, topic_byte_table
from aerobee.storage.opening import StoreParts
from aerobee.storage.read.queue_reader import QueueReader
from aerobee.storage.retain.compaction import Compaction


class RawAppender:
    """The way into the log of a replica."""

    def __init__(
        self, parts: StoreParts, flush: Flush, reader: QueueReader, compaction: Compaction
    ) -> None:
        self._parts = parts
        self._log = parts.log
        self._file_bytes: int = parts.log.sequence.file_size
        self._flush = flush
        self._reader = reader
        self._compaction = compaction
        self._walk = RawWalk(topic_byte_table(), QUEUE_ID_MAX)

    def append(self, log_offset: int, data: memoryview) -> int:
        """Append the whole records and fillers at the begin of `data`; how many bytes that were.

        `log_offset` is that of the first byte: the end of the log, or any begin of a log file if
        the log has no record (else Misuse). RawRecordRefused: what comes next is no sound record of
        its place. Then, and if there is no room for the next file, the records before it are
        appended all the same: `end_offset` says how far. StoreBusy: try again; nothing was.
        """
        data = memoryview(data)
        if data.itemsize != 1 or not data.c_contiguous:
            raise Misuse("raw records must be bytes that lie together")
        refusal = self._refusal()
        if refusal is not None:
            raise refusal
        if log_offset != self._log.end_offset():
            self._require_begin(log_offset)
        walk = self._walk
        position = 0
        while True:
            place = log_offset + position
            file_end = place - place % self._file_bytes + self._file_bytes
            found = walk.run(data, position, log_offset, file_end)
            if walk.position > position:
                self._append_run(log_offset, data, position)
                position = walk.position
            if found == INCOMPLETE:
                return position
            if found == FILLER and walk.size == self._file_bytes:
                found = WRONG_FILLER  # no log has a file without a record
            if found != FILLER:
                raise self._refused(log_offset + position, found)
            self._log.append_raw_filler(data, position, walk.size)
            position += walk.size

    def _refusal(self) -> StoreBusy | None:
        """Why nothing can be appended at the moment."""
        if not self._parts.derived.queues.has_leaving():
            return None
        # Queues of a topic's next life would be in the folders that are being removed.
        return StoreBusy("a topic is being deleted", hint="try again in a moment")

    def find_shortage(self, end_offset: int) -> StorageError | None:
        """Why records up to here cannot be appended now; None: they can, as far as the disk has
        not refused already. Blocks while the next file is made."""
        return self._refusal() or self._parts.log_files.find_shortage(end_offset)

    def _append_run(self, log_offset: int, data: memoryview, start: int) -> None:
        """Append the records that were walked over."""
        walk = self._walk
        if log_offset + start != self._log.end_offset():
            self._begin_at(log_offset)
        if not walk.is_all_crc and self._reader.crc_from != NO_CRC:
            self._parts.marking.give_up_crc()
            self._reader.crc_from = self._parts.records.crc_from = NO_CRC
            self._compaction.crc_from = NO_CRC
        self._log.append_raw(data, start, walk.position - start, walk.last_timestamp)

    def _refused(self, offset: int, found: int) -> RawRecordRefused:
        if found in (WRONG_FILLER, CROSSING):
            hint = (
                f"the log files of the master have another size: set mappedFileSizeCommitLog, here "
                f"{self._file_bytes}, as it is there, and begin with an empty store"
            )
        else:
            hint = "the master's log is damaged there, or it is not the log that this one copies"
        return RawRecordRefused(RAW_FINDINGS[found], offset=offset, hint=hint)

    # Beginning elsewhere.

    def _require_begin(self, log_offset: int) -> None:
        """The log can begin at this offset, once there is a record for it."""
        end = self._log.end_offset()
        queue_count, _, index_count, _ = self._parts.derived.fingerprint()
        has_index = self._parts.derived.index is not None and index_count > 0
        if end != self._log.min_offset() or queue_count > 0 or has_index or log_offset < 0:
            raise Misuse(f"raw records of log offset {log_offset}; the log ends at {end}")
        if log_offset % self._file_bytes != 0:
            raise RawRecordRefused(
                "the begin of a log inside a log file",
                offset=log_offset,
                hint=f"an empty store begins where a file of the master does; is the master's "
                f"mappedFileSizeCommitLog another one than {self._file_bytes}?",
            )

    def _begin_at(self, log_offset: int) -> None:
        """Have the log, which has no record, begin here. Blocks; happens once in its life."""
        parts = self._parts
        mark = parts.marking.mark
        if mark.flushed > 0 or mark.dispatched > 0:
            parts.marking.begin_anew()
        parts.log_files.begin_at(log_offset)
        parts.log.start_at(log_offset, 0)
        parts.dispatcher.start_at(log_offset, log_offset)
        self._flush.start_at(log_offset, 0)
