"""Opening a store: its parts, built and introduced to each other in the order that keeps promises.

The abort flag is set once the log is whole, on the disk, and the mark says so: from then on it is
our records that lie behind the mark. Only then are derived files written, because only after an
unclean stop are torn ones forgiven. Nothing is appended before every index has caught up with the
log. All of it blocks: it happens once, at the start.

Imports more than 15 modules because it is the one place that builds the parts of a store.
"""

from typing import NamedTuple

from aerobee.ports.disk import Disk, FileLock
from aerobee.ports.disk_worker import DiskWorker
from aerobee.protocol.message.record import RecordWriter
from aerobee.storage.commit.commit_log import CommitLog
from aerobee.storage.commit.log_files import LogFiles
from aerobee.storage.config import MIB, FlushMode, StorageConfig
from aerobee.storage.defects import Defect, Defects
from aerobee.storage.dispatch.dispatcher import Dispatcher
from aerobee.storage.index.deleted_topics import DeletedTopics
from aerobee.storage.index.derived_files import DerivedFiles
from aerobee.storage.read.record_reader import RecordReader
from aerobee.storage.recover.abort_flag import AbortFlag, take_lock
from aerobee.storage.recover.checkpoint import Checkpoint
from aerobee.storage.recover.derived_recovery import DispatchStart, open_derived
from aerobee.storage.recover.durable_mark import DurableMarkFile
from aerobee.storage.recover.log_cut import LogCut
from aerobee.storage.recover.log_recovery import Progress, last_timestamp
from aerobee.storage.recover.marking import Marking
from aerobee.storage.recover.recovery import RecoveredLog, recover_log
from aerobee.storage.retain.topic_deletions import remove_folders

# Of a new log file. ASYNC: a tenth of a second at full speed. SYNC: warmed pages are dirty, and the
# first sync writes them all while somebody waits for it (16 MiB: 7 ms, 1 MiB: half a ms).
_WARM_BYTES = {FlushMode.ASYNC: 16 * MIB, FlushMode.SYNC: MIB}
_RECORDS_A_STEP = 50_000  # between two calls of progress


class StoreParts(NamedTuple):
    """What an open store is made of."""

    lock: FileLock
    abort_flag: AbortFlag
    log_files: LogFiles
    log: CommitLog
    derived: DerivedFiles
    dispatcher: Dispatcher
    records: RecordReader
    marking: Marking
    deleted: DeletedTopics
    crc_from: int


def open_parts(
    disk: Disk,
    root: str,
    config: StorageConfig,
    worker: DiskWorker,
    progress: Progress,
    defects: Defects,
    cut_at: int | None = None,
) -> StoreParts:
    """Lock, recover, cut, dispatch what is missing, and mark the store as in use."""
    disk.make_directory(f"{root}/commitlog")
    lock = take_lock(disk, root)
    try:
        return _open_locked(disk, root, config, worker, progress, defects, cut_at, lock)
    except BaseException:
        lock.release()
        raise


def _open_locked(
    disk: Disk,
    root: str,
    config: StorageConfig,
    worker: DiskWorker,
    progress: Progress,
    defects: Defects,
    cut_at: int | None,
    lock: FileLock,
) -> StoreParts:
    abort_flag = AbortFlag(disk, root)
    last_stop = abort_flag.last_stop()
    mark_file = DurableMarkFile.open(disk, f"{root}/durable_mark")
    checkpoint = Checkpoint.open(disk, f"{root}/checkpoint")
    recovered = recover_log(
        disk, f"{root}/commitlog", config, last_stop, mark_file, checkpoint, progress, defects
    )
    if cut_at is not None:
        log_cut = LogCut(disk, root, mark_file, checkpoint, abort_flag, defects)
        recovered = log_cut.cut(recovered, cut_at)
    deleted = DeletedTopics.load(disk, root)
    if deleted.fit_to(recovered.state.end_offset):
        deleted.save(deleted.encode())
    records = RecordReader(recovered.sequence)
    start = open_derived(
        disk,
        root,
        config,
        recovered.state,
        mark_file.mark,
        deleted.offsets,
        records.store_timestamp_at,
        defects,
    )
    records.index = start.derived.index
    end_offset, newest = recovered.state.end_offset, start.derived.newest_record()
    derived_timestamp = records.store_timestamp_at(newest) or 0
    timestamp = recovered.last_timestamp or last_timestamp(recovered.sequence, newest)
    marking = Marking(disk, mark_file, checkpoint, worker, config, defects)
    marking.start_at(
        start.mark.ending_at(end_offset)._replace(crc_from=recovered.crc_from),
        timestamp,
        derived_timestamp,
    )
    if Defect.ABORT_FLAG_NOT_SET not in defects:
        abort_flag.set()
    remove_folders(disk, start.dead)
    start.derived.kept.tidy()
    dispatcher = _dispatch_again(recovered, start, config, progress, defects)
    if dispatcher.offset != start.offset:
        timestamp = max(timestamp, dispatcher.last_timestamp)
        marking.note_flushed(end_offset, timestamp)
        marking.checkpoint_now(start.derived, dispatcher)
    deleted.forget_before(recovered.state.min_offset)
    log_files = LogFiles(recovered.sequence, worker, _WARM_BYTES[config.flush_mode], defects)
    writer = RecordWriter(config.store_host, config.record_crc and Defect.CRC_OFF not in defects)
    log = CommitLog(log_files, writer, config.record_bytes_max)
    log.start_at(end_offset, timestamp)
    return StoreParts(
        lock,
        abort_flag,
        log_files,
        log,
        start.derived,
        dispatcher,
        records,
        marking,
        deleted,
        recovered.crc_from,
    )


def _dispatch_again(
    recovered: RecoveredLog,
    start: DispatchStart,
    config: StorageConfig,
    progress: Progress,
    defects: Defects,
) -> Dispatcher:
    """Feed the indexes from where they end to the end of the log."""
    derived = start.derived
    offset = start.offset
    dispatcher = Dispatcher(
        recovered.sequence,
        derived.queues,
        derived.batch_queues,
        derived.index,
        config.delay_levels_ms,
    )
    dispatcher.start_at(offset, start.queues_from)
    if Defect.DISPATCHED_UNCHECKED not in defects:
        # Nobody has looked at the log before the scan.
        dispatcher.check_before(recovered.state.scan_start, recovered.crc_from)
    end = recovered.state.end_offset
    while dispatcher.run(end, _RECORDS_A_STEP) > 0:
        progress("building queues and index", dispatcher.offset - offset, end - offset)
    dispatcher.take_touched()
    for queue in derived.all_queues():
        queue.drop_below(recovered.state.min_offset)
    derived.take_dead()  # made of records of deleted topics, and empty
    derived.begin_where_kept()
    for queue in derived.queues.all():
        queue.next_offset = queue.max_offset
    return dispatcher
