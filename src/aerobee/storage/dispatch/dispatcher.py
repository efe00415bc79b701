"""Dispatch: one scan of new records feeds every index.

It stands between the commit log and the consume queues and key index. The same scan serves a live
store (called right after appends, so a message is visible as soon as it is stored) and a rebuild
(called from wherever the derived files are known to end).

Laws:
- Only this module moves the dispatch position `offset`; everything below it is in every index.
- Putting a record twice changes nothing: the queues and the index know what they have.
- A record that nobody has checked since it was written (`check_before`) is checked here: a damaged
  one must not make a queue of a name, or a place, that it never had.
- Records of prepared or rolled-back transactions get no unit in a queue (nobody may read them);
  rolled-back ones are not indexed either.

Called from the core's thread only.
"""

from typing import TYPE_CHECKING

from aerobee.errors import CorruptRecord, Misuse
from aerobee.protocol.message.record import FINDINGS, Record
from aerobee.protocol.primitives.java_hash import signed32
from aerobee.storage.files.file_sequence import FileSequence
from aerobee.storage.files.mapped_file import MappedFile
from aerobee.storage.index.batch_consume_queues import BatchConsumeQueues
from aerobee.storage.index.consume_queue import ConsumeQueue
from aerobee.storage.index.consume_queues import ConsumeQueues
from aerobee.storage.index.key_index import KeyIndex

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.protocol.primitives.big_endian import bytes_address, bytes_at, load_u32, same_bytes
    from aerobee.protocol.primitives.java_hash import text_hash

_SCHEDULE_TOPIC = b"SCHEDULE_TOPIC_XXXX"  # where delayed messages wait
_UNKNOWN_LEVEL_MS = 1000  # what a delay level without an entry means

# The four bytes of each property name, as one number. `UNIQ_KEY` is UNIQ and _KEY.
_TAGS = 0x54414753
_KEYS = 0x4B455953
_UNIQ = 0x554E4951
_UNDERSCORE_KEY = 0x5F4B4559
_DELA = 0x44454C41


def is_compiled() -> bool:
    return cython.compiled


class Dispatcher:
    """The scan, and how far it has come."""

    __slots__ = (
        "_batch_queues",
        "_check_before",
        "_crc_from",
        "_delay_levels_ms",
        "_delay_size",
        "_delay_start",
        "_index",
        "_keys_size",
        "_keys_start",
        "_log",
        "_queues",
        "_queues_from",
        "_record",
        "_tags_size",
        "_tags_start",
        "_touched",
        "_unique_size",
        "_unique_start",
        "last_timestamp",
        "offset",
    )

    def __init__(
        self,
        log: FileSequence,
        queues: ConsumeQueues,
        batch_queues: BatchConsumeQueues,
        index: KeyIndex | None,
        delay_levels_ms: tuple[int, ...],
    ) -> None:
        self._log = log
        self._queues = queues
        self._queues_from = 0
        self._check_before = 0
        self._crc_from = 0
        self._batch_queues = batch_queues
        self._index = index
        self._delay_levels_ms = delay_levels_ms
        self._record = Record()
        self._touched: list[ConsumeQueue] = []
        self._forget_properties()
        # Everything below is in every index.
        self.offset = 0
        # Store timestamp of the newest dispatched record.
        self.last_timestamp = 0

    def start_at(self, offset: int, queues_from: int) -> None:
        """Begin at a record boundary; records before `queues_from` have their units already (or
        their topic was deleted since, and must not come back when only the index is rebuilt)."""
        self.offset = offset
        self._queues_from = queues_from

    def check_before(self, log_offset: int, crc_from: int) -> None:
        """Check the sums of records before this offset; from `crc_from` on each must have one."""
        self._check_before = log_offset
        self._crc_from = crc_from

    def take_touched(self) -> list[ConsumeQueue]:
        """The queues that got a message since the last call."""
        touched = self._touched
        self._touched = []
        for queue in touched:
            queue.is_touched = False
            if queue.next_offset < queue.max_offset:
                queue.next_offset = queue.max_offset  # nobody gave these offsets out here
        return touched

    def run(self, until: int, records_max: int) -> int:
        """Dispatch records that end at or before `until`, at most so many; how many it did.

        CorruptRecord if the log holds something else: damage since it was written.
        """
        done = 0
        record = self._record
        while done < records_max and self.offset < until:
            file = self._log.find(self.offset)
            if file is None:
                break
            memory = file.memory
            position = self.offset - file.first_offset
            end = min(file.size, until - file.first_offset)
            try:
                while done < records_max and position < end:
                    found = record.read(memory, position, end)
                    if found != 0:
                        if found != 1:
                            raise self._corrupt(file, position, FINDINGS[found])
                        position = file.size
                        break
                    if file.first_offset + position < self._check_before:
                        self._check(file, record)
                    self._dispatch(memory, record, file.first_offset + position)
                    position += record.size
                    done += 1
            except Misuse as error:  # no append gets so far with such a queue
                raise self._corrupt(file, position, f"a record that says: {error}") from error
            finally:
                # Also when a file has no room: readers see units up to here and no further.
                self.offset = file.first_offset + position
        return done

    def _check(self, file: MappedFile, record: Record) -> None:
        log_offset = file.first_offset + record.position
        if record.log_offset != log_offset:
            raise self._corrupt(file, record.position, "a record that belongs elsewhere")
        if not record.is_sound(file.memory, log_offset >= self._crc_from):
            raise self._corrupt(file, record.position, "a record that does not match its checksum")

    def _corrupt(self, file: MappedFile, position: int, what: str) -> CorruptRecord:
        return CorruptRecord(
            f"found {what}",
            path=file.disk_file.path,
            position=position,
            log_offset=file.first_offset + position,
            hint="restore the file from a replica or a backup",
        )

    def _dispatch(self, memory: memoryview, record: Record, log_offset: int) -> None:
        transaction = record.sys_flag & 0xC
        self._find_properties(
            memory, record.properties_start, record.properties_start + record.properties_size
        )
        self.last_timestamp = record.store_timestamp
        queue = self._queues.at(memory, record.topic_start, record.topic_size, record.queue_id)
        # The queue last: what has a unit is in the index, too, even if one of them had no room.
        if self._index is not None and transaction != 12:
            self._index.put_keys_of(
                queue.topic_hash,
                memory,
                self._unique_start,
                self._unique_size,
                self._keys_start,
                self._keys_size,
                self._tags_start,
                self._tags_size,
                log_offset,
                record.store_timestamp,
            )
        if log_offset >= self._queues_from and (transaction == 0 or transaction == 8):
            tag_code = self._tag_code(memory, record)
            if record.sys_flag & 0x80:
                self._dispatch_inner_batch(memory, record, log_offset, tag_code)
            elif (
                queue.append(record.queue_offset, log_offset, record.size, tag_code)
                and not queue.is_touched
            ):
                queue.is_touched = True
                self._touched.append(queue)

    def _dispatch_inner_batch(
        self, memory: memoryview, record: Record, log_offset: int, tag_code: int
    ) -> None:
        self._batch_queues.append(
            bytes_at(memory, record.topic_start, record.topic_size),
            record.queue_id,
            log_offset,
            record.size,
            tag_code,
            record.store_timestamp,
            bytes_at(memory, record.properties_start, record.properties_size),
        )

    def _tag_code(self, memory: memoryview, record: Record) -> int:
        """What a unit holds beside the place: the tag's hash, or when a delayed message is due."""
        if (
            record.topic_size == 19
            and self._delay_size > 0
            and same_bytes(memory, record.topic_start, bytes_address(_SCHEDULE_TOPIC), 0, 19)
        ):
            due = self._due_time(memory, record.store_timestamp)
            if due > 0:
                return due
        if self._tags_size == 0:
            return 0
        return signed32(text_hash(memory, self._tags_start, self._tags_size, 0))

    def _due_time(self, memory: memoryview, store_timestamp: int) -> int:
        """When the delay level says so; 0 if the property is no level."""
        text = bytes_at(memory, self._delay_start, self._delay_size)
        level = int(text) if text.isdigit() and len(text) < 10 else 0
        if level == 0:
            return 0
        levels = self._delay_levels_ms
        delay_ms = levels[min(level, len(levels)) - 1] if levels else _UNKNOWN_LEVEL_MS
        return store_timestamp + delay_ms

    # Properties: `name 0x01 value 0x02`, again and again; the last 0x02 may be missing.

    def _forget_properties(self) -> None:
        self._tags_start = self._tags_size = 0
        self._keys_start = self._keys_size = 0
        self._unique_start = self._unique_size = 0
        self._delay_start = self._delay_size = 0

    def _find_properties(self, memory: memoryview, start: int, end: int) -> None:
        """Note where the values of TAGS, KEYS, UNIQ_KEY and DELAY stand."""
        self._forget_properties()
        position = start
        while position < end:
            name_start = position
            while position < end and memory[position] != 1 and memory[position] != 2:
                position += 1
            if position < end and memory[position] == 1:
                value_start = position + 1
                name_size = position - name_start
                position = value_start
                while position < end and memory[position] != 2:
                    position += 1
                self._note(memory, name_start, name_size, value_start, position - value_start)
            position += 1

    def _note(
        self, memory: memoryview, name_start: int, name_size: int, start: int, size: int
    ) -> None:
        """Keep a value if its name is one of ours: 4, 5 or 8 bytes, compared as numbers."""
        if size == 0:
            return
        if name_size == 4:
            name = load_u32(memory, name_start)
            if name == _TAGS:
                self._tags_start = start
                self._tags_size = size
            elif name == _KEYS:
                self._keys_start = start
                self._keys_size = size
        elif name_size == 8:
            if (
                load_u32(memory, name_start) == _UNIQ
                and load_u32(memory, name_start + 4) == _UNDERSCORE_KEY
            ):
                self._unique_start = start
                self._unique_size = size
        elif (
            name_size == 5
            and load_u32(memory, name_start) == _DELA
            and memory[name_start + 4] == 0x59
        ):
            self._delay_start = start
            self._delay_size = size
