"""Reading what compaction has kept of a queue: (queue, offset, limits) → slices of its file.

Offsets at which nothing was kept are passed over: a read begins at the next message that was. The
records come from the disk, so they are checked like old ones of the log, at once if they are in
memory, else by whoever may wait for the disk (`QueueRead.verify`).

Called from the core's thread only.
"""

from aerobee.storage.files.mapped_file import MappedFile
from aerobee.storage.index.consume_queue import ConsumeQueue
from aerobee.storage.index.kept_file import KeptFile
from aerobee.storage.index.kept_files import KeptFiles
from aerobee.storage.read.queue_read import QueueRead
from aerobee.storage.read.queue_reader import UNITS_SCANNED_MIN
from aerobee.storage.read.time_search import Boundary

_FOUND = 0
_NO_MATCHED_MESSAGE = 1


class KeptReader:
    def __init__(self, files: KeptFiles) -> None:
        self._files = files

    def find(self, queue: ConsumeQueue) -> KeptFile | None:
        """The file of a queue, if it was compacted."""
        return self._files.find(queue.topic, queue.queue_id)

    def read(
        self,
        queue: ConsumeQueue,
        kept: KeptFile,
        offset: int,
        count_max: int,
        bytes_max: int,
        tag_codes: frozenset[int] | None,
        crc_from: int,
    ) -> QueueRead:
        """Messages from an offset before the file's end on, at least one if the filter lets any
        through, within the limits."""
        ranges: list[tuple[MappedFile, int, int, int]] = []
        size = 0
        next_offset = kept.end
        start = kept.first_at(offset)
        scanned_max = max(UNITS_SCANNED_MIN, count_max)
        for number, entry in enumerate(kept.entries(start, start + scanned_max + 1)):
            is_full = len(ranges) == count_max or (ranges and size + entry.size > bytes_max)
            if is_full or number == scanned_max:
                next_offset = entry.queue_offset
                break
            if tag_codes is not None and entry.tag_code not in tag_codes:
                continue
            # A read looks for a record's place in the log where its file begins in it.
            place = MappedFile(kept.disk_file, entry.log_offset - entry.position)
            ranges.append((place, entry.position, entry.size, entry.queue_offset))
            size += entry.size
        read = QueueRead(
            _FOUND if ranges else _NO_MATCHED_MESSAGE,
            next_offset,
            kept.first_offset,
            queue.max_offset,
        )
        read.take_kept(queue, ranges, crc_from)
        return read

    def offset_by_time(self, kept: KeptFile, time_ms: int, boundary: Boundary) -> int | None:
        """The offset of a time among the messages of a file; None: it lies behind all of them."""
        bound = time_ms if boundary is Boundary.LOWER else time_ms + 1
        number = kept.first_since(bound)
        if number == kept.count:
            return None
        if boundary is Boundary.UPPER:
            number = max(number - 1, 0)
        return kept.entry(number).queue_offset
