"""Repair of damaged records: bytes of a replica take the place of records that a start or a read
reported as corrupt.

    damaged log    ... sound │ damaged │ sound ...
    replacement              │ records │              ends where a sound record or the file's filler
                                                      begins, or where the durable mark is

Laws.
R1  Only what lies below the durable mark is repaired: above it damage is a torn tail, which the
    next start cuts off.
R2  Only what is damaged is replaced, and only by whole records that are sound in that very place
    (`raw_walk`; with the record CRC where every record has it). So a replica whose log is another
    one cannot change this one.
R3  What follows the replacement is sound. If the next record is damaged, too, the replacement must
    go on up to one that is not.
R4  A refused replacement leaves the file as it was.

For a store that is closed: its lock is taken. Blocks until the file is synced. A crash meanwhile
leaves damage in the same place, to be repaired again.
"""

from aerobee.errors import CorruptRecord, RawRecordRefused
from aerobee.ports.disk import Disk
from aerobee.protocol.message.durable_mark_slots import DurableMark
from aerobee.protocol.message.record_check import FILLER, SOUND, RecordCheck
from aerobee.storage.commit.raw_walk import INCOMPLETE, RAW_FINDINGS, RawWalk
from aerobee.storage.files.file_sequence import NAME_DIGITS
from aerobee.storage.files.mapped_file import MappedFile
from aerobee.storage.index.queue_folders import QUEUE_ID_MAX, topic_byte_table
from aerobee.storage.recover.abort_flag import take_lock
from aerobee.storage.recover.durable_mark import DurableMarkFile


def repair_records(disk: Disk, root: str, damage: CorruptRecord, data: memoryview) -> None:
    """Put records of a replica in the place of damaged ones of a closed store.

    RawRecordRefused: they do not belong there, or nothing there is damaged; the file is as it was.
    StoreLocked: a process has the store open.
    """
    first_offset = damage.log_offset - damage.position
    if damage.path != f"{root}/commitlog/{first_offset:0{NAME_DIGITS}d}":
        raise _refused(damage, "damage outside the commit log", "restore the file from a backup")
    lock = take_lock(disk, root)
    try:
        mark = _read_mark(disk, root)
        file = MappedFile(disk.open(damage.path), first_offset)
        try:
            _require_fit(file, damage, data, mark)
            file.view[damage.position : damage.position + len(data)] = data
            file.disk_file.sync()
        finally:
            file.disk_file.close()
    finally:
        lock.release()


def _read_mark(disk: Disk, root: str) -> DurableMark:
    path = f"{root}/durable_mark"
    if not disk.exists(path):
        return DurableMark()
    mark_file = DurableMarkFile.open(disk, path)
    mark_file.close()
    return mark_file.mark


def _require_fit(
    file: MappedFile, damage: CorruptRecord, data: memoryview, mark: DurableMark
) -> None:
    """RawRecordRefused unless the laws R1 to R3 hold."""
    base, file_end = file.first_offset, file.end_offset()
    end = damage.log_offset + len(data)
    if end > mark.flushed:
        hint = "the next start of the store cuts off what is damaged there"
        raise _refused(damage, f"bytes up to {end}, above the durable mark {mark.flushed}", hint)
    needs_crc = damage.log_offset >= mark.crc_from
    check = RecordCheck()
    if check.judge_in(file.view, damage.position, base, file_end, needs_crc) in (SOUND, FILLER):
        raise _refused(damage, "no damage", "open the store")
    walk = RawWalk(topic_byte_table(), QUEUE_ID_MAX)
    found = walk.run(data, 0, damage.log_offset, file_end)
    whole_bytes = walk.position + (walk.size if found == FILLER else 0)
    hint = "the replica's log is damaged there, or it is another log"
    if found not in (FILLER, INCOMPLETE) or whole_bytes != len(data) or whole_bytes == 0:
        raise _refused(damage, RAW_FINDINGS[found], hint)
    if needs_crc and not walk.is_all_crc:
        raise _refused(damage, "a record without the record CRC, which it had", hint)
    if found == FILLER:
        return  # nothing follows in this file
    position = damage.position + len(data)
    behind = check.judge_in(file.view, position, base, file_end, end >= mark.crc_from)
    if end < mark.flushed and behind not in (SOUND, FILLER):
        raise _refused(
            damage,
            f"{RAW_FINDINGS[behind]} behind the replacement, at log offset {end}",
            "if it is damaged, too, repair both at once; else the replica's log is another log",
        )


def _refused(damage: CorruptRecord, finding: str, hint: str) -> RawRecordRefused:
    return RawRecordRefused(finding, offset=damage.log_offset, hint=hint)
