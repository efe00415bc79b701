"""Recovery of the commit log: a scan that finds its end after a stop, and cuts a torn tail.

The durable mark bounds what may be wrong. Below it every byte was on the disk: damage there is
corruption, reported with file and offset, and nothing is changed. At and above it bytes may have
been on their way when the machine stopped: the first record that does not hold ends the log, and
what lies behind it is zeroed and synced before anything is appended. (Left in place, an old record
can rise again when the next one is torn in just the right place.)

A store without a mark was last written by RocketMQ: it is scanned from the file that its
checkpoint vouches for, as RocketMQ does.

What is kept above the mark is written once more and synced: after a failed sync the cache shows
bytes that the disk never got, and a sync then says OK without writing them.
"""

from collections.abc import Callable
from typing import NamedTuple

from aerobee.errors import CorruptFile, CorruptRecord
from aerobee.protocol.message.record import FILLER, WHOLE, Record
from aerobee.protocol.message.record_check import CHECK_FINDINGS
from aerobee.storage.defects import Defect, Defects
from aerobee.storage.files.file_sequence import FileSequence
from aerobee.storage.files.mapped_file import MappedFile
from aerobee.storage.recover.log_scan import LogScan

_PAGE_BYTES = 4096

Progress = Callable[[str, int, int], None]
"""Called now and then with what is being done, how much of it is, and how much there is."""


class LogEnd(NamedTuple):
    """What a scan found."""

    end_offset: int
    last_timestamp: int
    """Store timestamp of the last record scanned; 0 if there was none."""
    is_all_crc: bool
    """Whether every record scanned carries the record CRC."""
    reason: str
    """Why the scan ended."""


def scan_log(
    log: FileSequence, start_offset: int, needs_crc: bool, progress: Progress, defects: Defects
) -> LogEnd:
    """Check records from a record boundary on; the end of the log is where one does not hold."""
    scan = LogScan(needs_crc, Defect.CRC_NOT_CHECKED in defects)
    offset = start_offset
    total = log.end_offset() - start_offset
    finding = FILLER
    while finding == FILLER and (file := log.find(offset)) is not None:
        finding = scan.run(file, offset - file.first_offset)
        offset = file.end_offset() if finding == FILLER else file.first_offset + scan.position
        progress("checking the log", offset - start_offset, total)
    return LogEnd(offset, scan.last_timestamp, scan.is_all_crc, CHECK_FINDINGS[finding])


def scan_file(file: MappedFile, needs_crc: bool, defects: Defects) -> LogEnd:
    """Check the records of one file from its first on; it ends after its filler."""
    scan = LogScan(needs_crc, Defect.CRC_NOT_CHECKED in defects)
    finding = scan.run(file, 0)
    end = file.end_offset() if finding == FILLER else file.first_offset + scan.position
    return LogEnd(end, scan.last_timestamp, scan.is_all_crc, CHECK_FINDINGS[finding])


def check_against_mark(log: FileSequence, found: LogEnd, flushed: int) -> None:
    """CorruptRecord if the log ends before what was known to be on the disk."""
    if found.end_offset >= flushed:
        return
    file = log.find(found.end_offset)
    hint = (
        "restore the file from a replica or a backup; or remove `durable_mark` to give up "
        "everything from this offset on"
    )
    if file is None:
        raise CorruptFile(
            f"the log ends at {found.end_offset}, but {flushed} bytes were on the disk",
            path=log.directory,
            hint=hint,
        )
    raise CorruptRecord(
        f"found {found.reason}, below what was on the disk ({flushed})",
        path=file.disk_file.path,
        position=found.end_offset - file.first_offset,
        log_offset=found.end_offset,
        hint=hint,
    )


def cut_tail(log: FileSequence, end_offset: int, defects: Defects) -> None:
    """Make the log end here, on the disk: later files go, the rest of this one becomes zero. The
    first file stays: its name says where a log without records begins."""
    file_size = log.file_size
    log.remove_after(max(end_offset + (-end_offset) % file_size, log.first_offset() + 1))
    log.disk.sync_directory(log.directory)
    file = log.find(end_offset)
    if file is not None and Defect.TAIL_NOT_ZEROED not in defects:
        file.zero_from(end_offset - file.first_offset)
        file.disk_file.sync()


def rewrite(log: FileSequence, start_offset: int, end_offset: int) -> None:
    """Make sure that [start, end) is on the disk, whatever an earlier sync did with it."""
    for file in log.files:
        start = max(start_offset - file.first_offset, 0)
        end = min(end_offset - file.first_offset, file.size)
        if start < end:
            view = file.view
            # Pages are counted from the begin of the file, whatever offset that is.
            for position in range(start - start % _PAGE_BYTES, end, _PAGE_BYTES):
                view[position] = view[position]
            file.disk_file.sync()


def start_without_mark(log: FileSequence, min_timestamp: int | None) -> int:
    """Where to begin in a store that RocketMQ wrote: the newest file that opens with a record.

    After an unclean stop (`min_timestamp` given) its first record must also be old enough that
    the checkpoint vouches for all before it.
    """
    record = Record()
    for file in reversed(log.files):
        opens_with_record = (
            record.read_from(file.view, 0) == WHOLE and record.log_offset == file.first_offset
        )
        if opens_with_record and (min_timestamp is None or record.store_timestamp <= min_timestamp):
            return file.first_offset
    return log.first_offset()


def last_timestamp(log: FileSequence, newest: int) -> int:
    """When the last record of a whole log was stored: later ones must not be older.

    `newest`: the newest record that a queue knows, or -1. Behind it there may be records that no
    queue has, of transactions that were not committed.
    """
    scan = LogScan(needs_crc=False, skips_checksums=True)
    for file in reversed(log.files):
        scan.run(file, max(0, newest - file.first_offset))
        if scan.count > 0:
            break
    return scan.last_timestamp
