"""The log after a stop: from a directory of files to a log that can be appended to.

    1  after an unclean stop, forget cached pages above the mark: they may not be on the disk
    2  map the files; a missing one or one of another size is reported
    3  after an unclean stop, look through the file of the mark: damage below the mark is reported
    4  scan from the mark to the first record that does not hold: cut there, zero, rewrite what is
       kept, sync
    5  decide from where on every record must carry the CRC

When this returns, every byte below `end_offset` is on the disk.
"""

from typing import NamedTuple

from aerobee.errors import CorruptFile
from aerobee.ports.disk import Disk
from aerobee.protocol.message.durable_mark_slots import NO_CRC
from aerobee.storage.config import StorageConfig
from aerobee.storage.defects import Defect, Defects
from aerobee.storage.files.file_sequence import FileSequence
from aerobee.storage.recover.abort_flag import LastStop
from aerobee.storage.recover.checkpoint import Checkpoint
from aerobee.storage.recover.derived_recovery import LogState
from aerobee.storage.recover.durable_mark import DurableMarkFile
from aerobee.storage.recover.log_recovery import (
    LogEnd,
    Progress,
    check_against_mark,
    cut_tail,
    rewrite,
    scan_file,
    scan_log,
    start_without_mark,
)


class RecoveredLog(NamedTuple):
    sequence: FileSequence
    state: LogState
    last_timestamp: int
    """Store timestamp of the last record that was scanned; 0 if none was."""
    crc_from: int


def recover_log(
    disk: Disk,
    directory: str,
    config: StorageConfig,
    last_stop: LastStop,
    mark_file: DurableMarkFile,
    checkpoint: Checkpoint,
    progress: Progress,
    defects: Defects,
) -> RecoveredLog:
    """Open the commit log, whole and on the disk, or say what is wrong with it."""
    was_clean = last_stop is LastStop.CLEAN
    mark = mark_file.mark
    log = FileSequence(disk, directory, config.log_file_bytes)
    if not was_clean and Defect.CACHE_TRUSTED_AFTER_CRASH not in defects:
        _drop_cached(log, mark.flushed)
    log.load()
    start = _scan_start(log, was_clean, mark_file, checkpoint)
    if not was_clean and start == mark.flushed:
        # What was on the disk should still be there: the file of the mark is looked through.
        file = log.find(start - 1)
        if file is not None and Defect.MIDDLE_OF_LOG_CUT in defects:
            start = file.first_offset
        elif file is not None:
            below = scan_file(file, file.first_offset >= mark.crc_from, defects)
            check_against_mark(log, below, mark.flushed)
    needs_crc = last_stop is LastStop.OURS_UNCLEAN and start >= mark.crc_from
    found = scan_log(log, start, needs_crc, progress, defects)
    has_unused_file = log.end_offset() - found.end_offset > log.file_size
    if not was_clean or found.end_offset != mark.flushed or has_unused_file:
        cut_tail(log, found.end_offset, defects)
        if Defect.CACHE_TRUSTED_AFTER_CRASH not in defects:
            rewrite(log, start, found.end_offset)
    state = LogState(
        min_offset=log.first_offset(),
        end_offset=found.end_offset,
        scan_start=start,
        was_clean=was_clean,
        has_mark=not mark_file.is_new,
    )
    crc_from = _crc_from(config, found, mark.crc_from)
    return RecoveredLog(log, state, found.last_timestamp, crc_from)


def _drop_cached(log: FileSequence, flushed: int) -> None:
    for name in log.disk.list_directory(log.directory):
        if name.isdigit() and int(name) + log.file_size > flushed:
            log.disk.drop_cache(f"{log.directory}/{name}")


def _scan_start(
    log: FileSequence, was_clean: bool, mark_file: DurableMarkFile, checkpoint: Checkpoint
) -> int:
    """A record boundary before which nothing need be looked at."""
    if mark_file.is_new:
        return start_without_mark(log, None if was_clean else checkpoint.start_timestamp_ms())
    flushed = mark_file.mark.flushed
    if flushed > log.end_offset():
        raise CorruptFile(
            f"the log ends at {log.end_offset()}, but {flushed} bytes were on the disk",
            path=log.directory,
            hint="restore the missing files from a replica or a backup; or remove "
            "`durable_mark` to go on without them",
        )
    return max(flushed, log.first_offset())


def _crc_from(config: StorageConfig, found: LogEnd, marked: int) -> int:
    """From which log offset on a record without the CRC is a damaged record."""
    if not config.record_crc:
        return NO_CRC
    return marked if found.is_all_crc and marked <= found.end_offset else found.end_offset
